import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { plain } from '#cli/paint.ts';
import { explainField } from '#cli/why/explain-field.ts';
import { explanationAsText, type WholeExplanation } from '#cli/why/render.ts';
import { createRepository, layer, pool, type TestRepository } from '../support/repository.ts';
import { run } from '../support/run.ts';
import { validPool } from '../../support/fleet.ts';

const NODES = {
  items: [
    { metadata: { name: 'w-1', labels: { pool: 'w' } }, status: { nodeInfo: { kubeletVersion: 'v1.34.2' } } },
    { metadata: { name: 'free', labels: {} }, status: { nodeInfo: { kubeletVersion: 'v1.34.2' } } },
  ],
};

const IN_PLACE = { standing: 'in-place', because: null } as const;

/** What is said of a field, and of what the kubelet and the agent say. */
function say(
  field: string,
  running: Readonly<Record<string, unknown>>,
  agent: WholeExplanation['agent'] = null,
): string {
  const explained = explainField({
    field,
    pool: validPool('w', 200),
    files: new Map(),
    kubeletVersion: 'v1.34.2',
    running,
  });
  const whole = {
    ...explained,
    node: 'w-1',
    kubeletVersion: 'v1.34.2',
    commit: null,
    isCommitted: true,
    revision: 'HEAD (0123456789ab)',
    unseen: null,
    agent,
    standing: IN_PLACE,
  };
  return explanationAsText({ ...whole, choice: { choice: 'pool', pool: 'w' }, invalidPools: [] }, plain);
}

describe('what a kubelet runs and no layer says', () => {
  it('is the default of its version, or what its own config says', () => {
    assert.match(say('podPidsLimit', { podPidsLimit: -1 }), /no layer sets it, and neither does .*: -1 is the default/);
    assert.match(say('syncFrequency', { syncFrequency: '1m0s' }), /is the default of this version/);
    assert.match(say('providerID', { providerID: '' }), /is the default of this version/);
    assert.match(
      say('podPidsLimit', { podPidsLimit: 4096 }),
      /no layer sets it: the node's local config says so, or --pod-max-pids on its command line; the default of this version is -1\n {2}the kubelet runs 4096/,
    );
  });

  it('names the flag that may shadow what the pool says', () => {
    assert.match(say('maxPods', { maxPods: 110 }), /not what the pool says: --max-pods on its command line shadows it/);
    assert.match(
      say('memorySwap.swapBehavior', { memorySwap: { swapBehavior: 'LimitedSwap' } }),
      /the node's local config says so\n/,
    );
  });

  it('tells what the agent reports', () => {
    const agent = { phase: 'Idle', assigned: 'w-abc', active: 'local', error: 'PreflightFailed: swap is on' };
    const text = say('maxPods', { maxPods: 110 }, agent);
    assert.match(text, /the node runs the config that it was provisioned with, .*and was assigned w-abc \(Idle\)/);
    assert.match(text, /its error: PreflightFailed: swap is on\n.*does not follow the pool yet/);
    assert.match(
      say('maxPods', { maxPods: 200 }, { ...agent, active: 'w-abc', error: null }),
      /the node runs w-abc \(Idle\)/,
    );
  });
});

describe('kubelet-gitops why', () => {
  let repository: TestRepository;
  before(async () => {
    repository = await createRepository();
    await repository.commit('Start', {
      'base/all.yaml': layer('maxPods: 110', 'evictionHard:', '  memory.available: 200Mi'),
      'pools/w/pool.yaml': pool('w', 'w', 'layers: [base/all.yaml, kubelet.yaml]'),
      'pools/w/kubelet.yaml': layer('maxPods: 60', 'syncFrequency: null'),
    });
    await repository.commit('Give workers more pods', { 'pools/w/kubelet.yaml': layer('maxPods: 200') }, 'Grace');
    await repository.commit('Tidy up', { 'pools/w/kubelet.yaml': `# tidy\n${layer('maxPods: 200')}` });
    await writeFile(join(repository.directory, 'nodes.json'), JSON.stringify(NODES));
  });
  after(() => repository.remove());

  const why = (node: string, field: string, ...more: readonly string[]) => {
    const inventory = join(repository.directory, 'nodes.json');
    return run('why', node, field, '--repo', repository.directory, '--inventory', inventory, ...more);
  };

  it('tells the chain of layers, the line, and the commit that brought the value', async () => {
    const { code, out } = await why('w-1', 'maxPods');
    assert.equal(code, 0);
    assert.match(
      out,
      /base\/all\.yaml:3: 110 \(overridden\)\n {2}pools\/w\/kubelet\.yaml:4: 200\n {2}since \w{12} "Give workers more pods", Grace/,
    );
  });

  it('finds keys that have dots in them', async () => {
    const { out } = await why('w-1', 'evictionHard.memory.available');
    assert.match(out, /base\/all\.yaml:5: "200Mi"/);
  });

  it('takes a field as findings print it, with or without what a shell takes away', async () => {
    for (const field of ['evictionHard["memory.available"]', 'evictionHard[memory.available]']) {
      assert.match((await why('w-1', field)).out, /base\/all\.yaml:5: "200Mi"/);
    }
    assert.match((await why('w-1', 'registerWithTaints[0].key')).out, /^registerWithTaints on w-1 /);
    assert.match((await why('w-1', 'evictionHard[')).err, /no kubelet up to 1\.37 knows evictionHard\[/);
  });

  it('tells what holds where no layer and no pool says anything', async () => {
    assert.match(
      (await why('w-1', 'podPidsLimit')).out,
      /no layer sets it: .* local config says, or else the default of this version, -1/,
    );
    assert.match((await why('free', 'maxPods')).out, /no pool selects the node/);
    assert.match((await why('w-1', 'maxPods', '--revision', 'HEAD~2')).out, /pools\/w\/kubelet\.yaml:3: 60/);
  });

  it('gives the same to programs', async () => {
    const { out } = await why('w-1', 'maxPods', '-o', 'json');
    const { source, configured, commit, layers } = JSON.parse(out) as Readonly<Record<string, unknown>>;
    assert.deepEqual([source, configured, (layers as unknown[]).length], ['layer', '200', 2]);
    assert.equal((commit as { readonly subject: string }).subject, 'Give workers more pods');
  });

  it('judges by the file of the cluster, and asks which where there are several', async () => {
    const other = await createRepository();
    const cluster = (spec: string): string =>
      `apiVersion: kubelet-gitops.dev/v1alpha1\nkind: ClusterConfig\nspec: {${spec}}\n`;
    await other.commit('Start', {
      'clusters/prod.yaml': cluster('tolerate: [unknown-field]'),
      'pools/w/pool.yaml': pool('w', 'w'),
      'pools/w/kubelet.yaml': layer('maxPods: 60', 'maxPodz: 70'),
    });
    const ask = () =>
      run('why', 'w-1', 'maxPods', '--repo', other.directory, '--inventory', join(repository.directory, 'nodes.json'));
    assert.match((await ask()).out, /^ {2}pool w\n {2}pools\/w\/kubelet\.yaml:3: 60$/m);
    await other.commit('Another cluster', { 'clusters/test.yaml': cluster('') });
    assert.match((await ask()).err, /choose a cluster with --cluster: prod, test/);
    await other.remove();
  });

  it('says which pools with errors might have the node', async () => {
    await repository.commit('Break it', { 'pools/w/kubelet.yaml': layer('maxPodz: 200') });
    assert.match((await why('w-1', 'maxPods')).out, /no pool selects the node: .*, unless one that has errors does: w/);
  });

  it('refuses fields that there are not, and nodes that nobody knows', async () => {
    assert.match((await why('w-1', 'maxPodz')).err, /no kubelet up to 1\.37 knows maxPodz; did you mean maxPods\?/);
    assert.match((await why('nobody', 'maxPods')).err, /there is no node nobody in/);
    assert.match((await run('why', 'w-1')).err, /needs a node and a field/);
  });

  it('says where the kubelet runs something else, and takes other spellings of a duration for the same', () => {
    const value = { maxPods: 200, syncFrequency: '1m' };
    const of = (running: Readonly<Record<string, unknown>>, field: string) =>
      explainField({
        field,
        pool: { ...validPool('w', 200), value },
        files: new Map(),
        kubeletVersion: 'v1.34.2',
        running,
      }).shadowed;
    assert.equal(of({ maxPods: 110 }, 'maxPods'), true);
    assert.equal(of({ maxPods: 200 }, 'maxPods'), false);
    assert.equal(of({ syncFrequency: '1m0s' }, 'syncFrequency'), false);
    assert.equal(of({ syncFrequency: '10m0s' }, 'syncFrequency'), true);
  });

  it('takes a map for what the pool says where each of its keys is, in any order and among others', () => {
    const value = { kubeReserved: { memory: '1Gi', cpu: '100m' } };
    const of = (kubeReserved: Readonly<Record<string, string>>, field = 'kubeReserved') => {
      const pool = { ...validPool('w', 200), value };
      return explainField({ field, pool, files: new Map(), kubeletVersion: 'v1.34.2', running: { kubeReserved } })
        .shadowed;
    };
    assert.equal(of({ cpu: '100m', memory: '1Gi', pid: '1000' }), false);
    assert.equal(of({ cpu: '200m', memory: '1Gi' }), true);
    assert.equal(of({ cpu: '200m', memory: '1Gi' }, 'kubeReserved.memory'), false);
    assert.equal(of({ cpu: '200m', memory: '1Gi' }, 'kubeReserved.cpu'), true);
  });
});
