import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { MergePlan } from '#cli/plan/merge-plan.ts';
import { createRepository, layer, pool, type TestRepository } from '../support/repository.ts';
import { run } from '../support/run.ts';

const node = (name: string, label: string, pods = '110') => ({
  kind: 'Node',
  metadata: { name, labels: { pool: label } },
  status: {
    nodeInfo: { kubeletVersion: 'v1.34.2' },
    capacity: { cpu: '8', memory: '16Gi', pods, 'ephemeral-storage': '100Gi' },
    allocatable: { cpu: '7', memory: '15Gi', pods, 'ephemeral-storage': '90Gi' },
    conditions: [{ type: 'Ready', status: 'True' }],
  },
});
const pods = (nodeName: string, count: number) =>
  Array.from({ length: count }, () => ({ kind: 'Pod', spec: { nodeName }, status: { phase: 'Running' } }));
const NODES = [
  ...['gpu-1', 'gpu-2'].map((name) => node(name, 'gpu')),
  ...['a-1', 'a-2', 'a-3', 'a-4', 'a-5', 'a-6', 'a-7', 'a-8'].map((name) => node(name, 'general')),
  node('spare-1', 'spare'),
  ...pods('a-1', 30),
  ...pods('a-2', 31),
];
const CLUSTER =
  'apiVersion: kubelet-gitops.dev/v1alpha1\nkind: ClusterConfig\nmetadata: {name: prod}\nspec: {maxUnassign: 20%}\n';
const START = {
  'clusters/prod.yaml': CLUSTER,
  'pools/general/pool.yaml': pool('general', 'general', 'rollout: {maxUnavailable: 4, soak: 1m}'),
  'pools/general/kubelet.yaml': layer('maxPods: 110'),
  'pools/gpu/pool.yaml': pool('gpu', 'gpu'),
  'pools/gpu/kubelet.yaml': layer('maxPods: 60', 'podPidsLimit: 500'),
};

describe('a plan in which nodes get another config although no pool has another one', () => {
  let repository: TestRepository;
  before(async () => {
    repository = await createRepository();
    await repository.commit('start', START);
    await writeFile(join(repository.directory, 'nodes.json'), JSON.stringify({ items: NODES }));
  });
  after(() => repository.remove());

  /** What a change of these files comes to; taken back afterwards. */
  async function planned(files: Readonly<Record<string, string | null>>, ...more: readonly string[]) {
    await repository.write(files);
    const inventory = join(repository.directory, 'nodes.json');
    const where = ['--repo', repository.directory, '--base', 'HEAD', '--head', '.'];
    const ran = await run('plan', ...where, '--inventory', inventory, ...more);
    const known: Readonly<Record<string, string | null>> = START;
    await repository.write(Object.fromEntries(Object.keys(files).map((path) => [path, known[path] ?? null])));
    return ran;
  }
  const planOf = async (files: Readonly<Record<string, string | null>>): Promise<MergePlan> =>
    JSON.parse((await planned(files, '-o', 'json')).out) as MergePlan;

  const MISSPELLED = { 'pools/gpu/pool.yaml': pool('gpu', 'gppu') };

  it('says what nodes lose that a selector no longer has, what that costs, and how long it takes', async () => {
    const { code, out } = await planned(MISSPELLED);
    assert.match(
      out,
      /^Moves: gpu-1, gpu-2 from gpu to no pool \(local config\); they lose:\n {2}maxPods {7}60 {3}→ {2}local config \(default 110\)\n {2}podPidsLimit {2}500 {2}→ {2}local config \(default -1\)\n {2}cost: restart of the kubelet\n {2}2 nodes, 1 at a time; about 40 s \(30 s to 80 s\) if all goes well$/m,
    );
    assert.match(
      out,
      /^1 pool, 2 nodes: 2 kubelets restart, 0 reboots; about 40 s \(30 s to 80 s\) if all goes well$/m,
    );
    assert.match(
      out,
      /pools\/gpu\/pool\.yaml: warning pool-becomes-empty: pool gpu loses all of its 2 nodes \(check nodeSelector/,
    );
    assert.equal(code, 1);
  });

  it('says what a priority or a selector does to nodes that it takes to another pool', async () => {
    const { moves, pools } = await planOf({
      'pools/general/pool.yaml': pool('general', 'gpu', 'priority: 5', 'rollout: {maxUnavailable: 4}'),
    });
    const [, taken] = moves;
    assert.deepEqual(
      [taken?.from, taken?.to, taken?.fields.map(({ path, before: was, after: is }) => [path, was, is])],
      [
        'gpu',
        'general',
        [
          ['maxPods', '60', '110'],
          ['podPidsLimit', '500', undefined],
        ],
      ],
    );
    // Of the pool that they come from, one at a time may be unavailable.
    assert.deepEqual(pools.find(({ name }) => name === 'general')?.rollout?.waves, [['gpu-1'], ['gpu-2']]);
  });

  it('shows the whole config to nodes that had none, under the pool that takes them', async () => {
    const { out } = await planned({
      'pools/gpu/pool.yaml': pool('gpu', 'gpu').replace('{pool: gpu}', '{}'),
      'pools/general/pool.yaml': pool('general', 'general', 'priority: 1', 'rollout: {maxUnavailable: 4, soak: 1m}'),
    });
    assert.match(
      out,
      /^Moves: spare-1 from no pool \(local config\) to gpu\n {2}maxPods {7}local config .*→ {2}60\n/m,
      out,
    );
  });

  it('says only that they move where they run the same there', async () => {
    const { moves, summary } = await planOf({
      'pools/b/pool.yaml': pool('b', 'general', 'priority: 5'),
      'pools/b/kubelet.yaml': layer('maxPods: 110'),
    });
    assert.deepEqual([moves[0]?.nodes.length, moves[0]?.fields, summary.restarts], [8, [], 0]);
  });

  it('counts a node that refuses a config as refused, and says once what many nodes have in common', async () => {
    const { code, out } = await planned({ 'pools/general/kubelet.yaml': layer('maxPods: 20') });
    assert.match(
      out,
      /^1 pool, 8 nodes: 0 kubelets restart, 2 nodes would refuse the config, 6 nodes would wait, 0 reboots$/m,
    );
    assert.match(
      out,
      /^ {2}! a-1 \(30 pods\), a-2 \(31 pods\): more pods run there than maxPods allows \(20\): the node would refuse it$/m,
    );
    assert.match(out, /^ {2}a-1 would refuse it, and the pool then halts: 0 of 8 nodes get the config$/m);
    assert.doesNotMatch(out, /if all goes well/);
    assert.equal(code, 3);
  });

  it('names the first of the CPUs that a node lacks, and how many more they are', async () => {
    const { out } = await planned({ 'pools/gpu/kubelet.yaml': layer('maxPods: 60', 'reservedSystemCPUs: 0-63') });
    assert.match(
      out,
      /reservedSystemCPUs names CPU 8, 9, 10 and 53 more, and the node has 8: the node would refuse it/,
    );
  });

  it('knows the direction of a change when it gives advice', async () => {
    const { out } = await planned({ 'pools/gpu/kubelet.yaml': layer('maxPods: 300', 'podPidsLimit: 500') });
    assert.match(out, /! maxPods: the scheduler sends more pods/);
    const lower = await planned({ 'pools/gpu/kubelet.yaml': layer('maxPods: 50', 'podPidsLimit: 500') });
    assert.match(lower.out, /! maxPods: when lowered, pods above the limit/);
    const taken = await planned({ 'pools/gpu/kubelet.yaml': layer('podPidsLimit: 500') });
    assert.match(taken.out, /! maxPods: the scheduler sends more pods/, '60 → the default of 110');
  });

  const TIE = { 'pools/gpu/pool.yaml': pool('gpu', 'general') };
  const rows: readonly (readonly [
    what: string,
    files: Readonly<Record<string, string>>,
    more: readonly string[],
    code: number,
  ])[] = [
    ['a change that all nodes take', { 'pools/gpu/kubelet.yaml': layer('maxPods: 50') }, [], 1],
    ['two pools that want the same nodes', TIE, [], 3],
    ['errors in a file', { 'pools/gpu/kubelet.yaml': layer('maxPodz: 50') }, [], 3],
    ['a change that the pool does not allow', { 'pools/gpu/kubelet.yaml': layer('cgroupDriver: cgroupfs') }, [], 3],
    ['a commit that is refused as a whole', { 'pools/general/pool.yaml': pool('general', 'nobody') }, [], 3],
    ['a suspension', { 'clusters/prod.yaml': CLUSTER.replace('20%', '20%, suspend: true') }, [], 1],
    ['a suspension that counts', { 'clusters/prod.yaml': CLUSTER.replace('20%', '20%, suspend: true') }, ['held'], 3],
    ['an empty pool', MISSPELLED, [], 1],
    ['an empty pool that counts', MISSPELLED, ['empty'], 3],
    ['a conflict that does not count', TIE, ['invalid', 'refused'], 1],
    ['anything, where nothing counts', TIE, ['nothing'], 1],
  ];
  for (const [what, files, failOn, code] of rows) {
    it(`ends with ${code} for ${what}`, async () => {
      const ran = await planned(files, ...failOn.flatMap((word) => ['--fail-on', word]));
      assert.equal(ran.code, code, ran.out + ran.err);
    });
  }

  it('takes no other word for what counts', async () => {
    const { code, err } = await planned({}, '--fail-on', 'refusal');
    assert.equal(code, 2);
    assert.match(err, /--fail-on refusal: choose of refused, conflict, invalid, stuck, held, empty, security, nothing/);
  });

  it('has on a pull request the commits, a line that sums it up, and moves, conflicts and findings under their own heads', async () => {
    const { out } = await planned(
      { ...MISSPELLED, 'pools/general/kubelet.yaml': layer('maxPods: 111', 'maxPodz: 1') },
      '-o',
      'markdown',
    );
    const heads = out.split('\n').filter((line) => line.startsWith('#'));
    assert.deepEqual(heads, [
      '### kubelet-gitops: what this does to `prod`',
      '#### Pool general has errors, and keeps its current config',
      '#### Pool gpu changes',
      '#### Moves',
      '#### Findings',
    ]);
    assert.match(
      out,
      /^From `HEAD \([0-9a-f]{12}\)` to `the working copy \(not committed: pools\/general\/kubelet\.yaml, pools\/gpu\/pool\.yaml\)`\.$/m,
    );
    assert.match(
      out,
      /^\*\*2 pools, 2 nodes: 2 kubelets restart, 0 reboots; about 40 s \(30 s to 80 s\) if all goes well\*\*$/m,
    );
    assert.match(out, /\| `maxPods` \| `60` \| `local config \(default 110\)` \| restart of the kubelet \|/);
    assert.match(out, /^- ❌ `pools\/general\/kubelet\.yaml:\d+:\d+: error unknown-field/m);
    assert.match(out, /^- ⚠️ `pools\/gpu\/pool\.yaml: warning pool-becomes-empty/m);
    const tie = (await planned(TIE, '-o', 'markdown')).out;
    assert.match(tie, /#### Conflicts\n\n- ❌ 8 nodes/);
    assert.doesNotMatch(tie, /pool general loses/, 'nodes between two pools stay as they are');
  });
});
