import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { COMMANDS } from '#cli/commands.ts';
import { createRepository, layer, pool, type TestRepository } from '../../cli/support/repository.ts';
import { run } from '../../cli/support/run.ts';

const FOLDER = 'infra/kubelet';
const at = (path: string): string => `${FOLDER}/${path}`;
const POOL = pool('w', 'w', 'layers: [base/all.yaml, kubelet.yaml]');
const CLUSTER = 'apiVersion: kubelet-gitops.dev/v1alpha1\nkind: ClusterConfig\nspec: {kubeletVersions: ["1.34"]}\n';

describe('a config repository that is a folder of a monorepo', () => {
  let repository: TestRepository;
  let inventory = '';
  before(async () => {
    repository = await createRepository();
    await repository.commit('before it is there', { 'src/a.ts': 'a\n', 'pools/elsewhere/pool.yaml': 'not ours\n' });
    await repository.commit('start', {
      [at('base/all.yaml')]: layer('podPidsLimit: 100', 'maxPods: 100'),
      [at('pools/w/kubelet.yaml')]: layer('maxPods: 110'),
      [at('pools/w/pool.yaml')]: POOL,
      [at('clusters/prod.yaml')]: CLUSTER,
    });
    await repository.commit('beside it', { 'src/a.ts': 'b\n' });
    await repository.commit('fewer', { [at('pools/w/kubelet.yaml')]: layer('maxPods: 90') });
    inventory = join(repository.directory, 'nodes.json');
    const nodes = ['w-1', 'w-2'].map((name) => ({
      metadata: { name, labels: { pool: 'w' } },
      status: { nodeInfo: { kubeletVersion: 'v1.34.2' }, conditions: [{ type: 'Ready', status: 'True' }] },
    }));
    await writeFile(inventory, JSON.stringify({ items: nodes }));
  });
  after(() => repository.remove());

  const ask = (command: string, ...more: readonly string[]) =>
    run(command, '--repo', repository.directory, '--path', FOLDER, ...more);

  it('is compared with itself, and the pools beside it are nobody’s', async () => {
    const { code, out, err } = await ask('plan', '--base', 'HEAD~1', '--inventory', inventory, '-o', 'json');
    assert.equal(code, 1, err);
    const plan = JSON.parse(out) as { cluster: string; pools: readonly { pool?: string; name?: string }[] };
    assert.equal(plan.cluster, 'prod');
    assert.equal(plan.pools.length, 1);
    assert.match(out, /maxPods/);
    assert.doesNotMatch(out, /elsewhere/);
  });

  it('is compared with nothing where the base does not have it yet, and missed where the head does not', async () => {
    const first = await ask('plan', '--base', 'HEAD~3', '--head', 'HEAD~2', '-o', 'json');
    assert.equal(first.code, 1, first.err);
    assert.match(first.out, /"w"/);
    const none = await ask('plan', '--base', 'HEAD~3', '--head', 'HEAD~3');
    assert.equal(none.code, 2);
    assert.match(none.err, /there is no folder infra\/kubelet in HEAD~3: name with --path what GIT_PATH names/);
  });

  it('says in a refusal which file is to be changed, by its path in the repository', async () => {
    const branch = await createRepository();
    const files = {
      [at('pools/w/kubelet.yaml')]: layer('maxPods: 110'),
      [at('pools/w/pool.yaml')]: pool('w', 'w', 'layers: [kubelet.yaml]'),
    };
    const limit = CLUSTER.replace('{kube', '{maxChange: 0, kube');
    await branch.commit('start', { ...files, [at('clusters/prod.yaml')]: limit });
    await branch.commit('all', { [at('pools/w/kubelet.yaml')]: layer('maxPods: 120') });
    const { out, err } = await run(
      'plan',
      '--repo',
      branch.directory,
      '--path',
      FOLDER,
      '--inventory',
      inventory,
      '-o',
      'json',
    );
    await branch.remove();
    assert.match(`${out}${err}`, /raises spec\.maxChange in infra\/kubelet\/clusters\/prod\.yaml/);
  });

  it('is played through', async () => {
    const { code, out, err } = await ask('simulate', '--base', 'HEAD~1', '--inventory', inventory, '-o', 'json');
    assert.equal(code, 1, err);
    assert.match(out, /2 of 2 nodes run w-/);
  });

  it('explains a value by the file as the repository has it, and by the commit that brought it', async () => {
    const { code, out, err } = await ask('why', 'w-1', 'maxPods', '--inventory', inventory, '-o', 'json');
    assert.equal(code, 0, err);
    const { layers, commit } = JSON.parse(out) as {
      readonly layers: readonly { readonly file: string; readonly line: number }[];
      readonly commit: { readonly subject: string };
    };
    assert.deepEqual(
      layers.map(({ file, line }) => `${file}:${line}`),
      [at('base/all.yaml:4'), at('pools/w/kubelet.yaml:3')],
    );
    assert.equal(commit.subject, 'fewer');
    const older = await ask('why', 'w-1', 'podPidsLimit', '--inventory', inventory, '-o', 'json');
    assert.equal((JSON.parse(older.out) as { commit: { subject: string } }).commit.subject, 'start');
  });

  it('is validated and foreseen, and findings name files as the forge does', async () => {
    const clean = await run('validate', repository.directory, '--path', FOLDER);
    assert.equal(clean.code, 0, clean.out + clean.err);
    await repository.write({ [at('pools/w/kubelet.yaml')]: layer('maxPodz: 90'), [at('base/spare.json')]: '{' });
    for (const path of [FOLDER, `./${FOLDER}/`]) {
      const { code, out } = await run('validate', repository.directory, '--path', path, '-o', 'github');
      assert.equal(code, 1);
      assert.match(out, /file=infra\/kubelet\/pools\/w\/kubelet\.yaml,line=3/);
      assert.doesNotMatch(out, /file=(?:pools|base|clusters|infra\/kubelet\/infra)\//);
    }
    const text = await run('foresight', repository.directory, '--path', FOLDER);
    assert.match(text.out, /infra\/kubelet\/pools\/w\/kubelet\.yaml:3/);
    const planned = await ask('plan', '--base', 'HEAD', '--head', '.', '-o', 'json');
    assert.match(planned.out, /"file": "infra\/kubelet\/pools\/w\/kubelet\.yaml"/);
    await repository.write({ [at('pools/w/kubelet.yaml')]: layer('maxPods: 90'), [at('base/spare.json')]: null });
  });

  it('has to be a folder in the repository', async () => {
    for (const path of ['../x', '/infra', 'infra//kubelet', 'infra/../kubelet']) {
      const { code, err } = await ask('plan', '--path', path);
      assert.equal(code, 2);
      assert.match(err, /--path: the folder /, path);
    }
    const gone = await run('validate', repository.directory, '--path', 'infra/other');
    assert.equal(gone.code, 2);
    assert.match(gone.err, /there is no folder infra\/other in /);
  });

  it('can be named to every command that reads a config repository', () => {
    const readers = ['audit', 'validate', 'plan', 'render', 'simulate', 'why', 'foresight', 'history'];
    const taking = COMMANDS.filter(({ options }) => options['path'] !== undefined).map(({ name }) => name);
    assert.deepEqual(taking, readers);
  });
});
