import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { MergePlan } from '#cli/plan/plan.ts';
import { createRepository, layer, pool, type TestRepository } from '../support/repository.ts';
import { run } from '../support/run.ts';

const node = (name: string, label: string, parts: Readonly<Record<string, unknown>> = {}) => ({
  kind: 'Node',
  metadata: { name, labels: { pool: label, 'topology.kubernetes.io/zone': name.endsWith('1') ? 'b' : 'a' } },
  status: {
    nodeInfo: { kubeletVersion: 'v1.34.2' },
    capacity: { cpu: '4', memory: '16Gi', pods: '110', 'ephemeral-storage': '100Gi' },
    allocatable: { cpu: '3800m', memory: '15Gi', pods: '110', 'ephemeral-storage': '90Gi' },
    conditions: [{ type: 'Ready', status: 'True' }],
    ...parts,
  },
});
const podOn = (nodeName: string) => ({ kind: 'Pod', spec: { nodeName }, status: { phase: 'Running' } });
/** One that its node cannot do without. */
const vitalOn = (nodeName: string, memory: string) => ({
  ...podOn(nodeName),
  metadata: { ownerReferences: [{ kind: 'DaemonSet' }] },
  spec: { nodeName, containers: [{ resources: { requests: { memory } } }] },
});
const NODES = [
  ...['100Mi', '200Mi', '1Gi'].map((memory) => vitalOn('a-3', memory)),
  { ...node('a-1', 'a'), spec: { podCIDR: '10.1.0.0/24', podCIDRs: ['10.1.0.0/24'] } },
  node('a-2', 'a'),
  {
    ...node('a-3', 'a', { nodeInfo: { kubeletVersion: 'v1.26.1' } }),
    spec: { podCIDRs: ['fd00:0:0:3::/64', '10.3.0.0/24'] },
  },
  node('b-1', 'b'),
  ...Array.from({ length: 30 }, () => podOn('a-1')),
];

const START = {
  'clusters/prod.yaml':
    'apiVersion: kubelet-gitops.dev/v1alpha1\nkind: ClusterConfig\nmetadata: {name: prod}\nspec: {maxUnassign: 0}\n',
  'pools/a/pool.yaml': pool(
    'a',
    'a',
    'rollout: {maxUnavailable: 2, probation: full, soak: 1m}',
    'trial: {duration: 5m}',
  ),
  'pools/a/kubelet.yaml': layer('maxPods: 110', 'kubeReserved: {cpu: 100m, memory: 512Mi}'),
  'pools/b/pool.yaml': pool('b', 'b'),
  'pools/b/kubelet.yaml': layer('maxPods: 50'),
  'pools/c/pool.yaml': pool('c', 'c'),
  'pools/c/kubelet.yaml': layer('maxPods: 50'),
};

describe('kubelet-gitops plan', () => {
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
    const ran = await run(
      'plan',
      '--repo',
      repository.directory,
      '--base',
      'HEAD',
      '--head',
      '.',
      '--inventory',
      inventory,
      ...more,
    );
    const known: Readonly<Record<string, string | null>> = START;
    const back = Object.keys(files).map((path) => [path, known[path] ?? null] as const);
    await repository.write(Object.fromEntries(back));
    return ran;
  }
  const planOf = async (files: Readonly<Record<string, string | null>>): Promise<MergePlan> =>
    JSON.parse((await planned(files, '-o', 'json')).out) as MergePlan;

  it('has nothing to say, and ends with 0, where only the text changes', async () => {
    const text = `# a comment\n${layer('kubeReserved:', '  memory: "512Mi"', '  cpu: 100m', 'maxPods: 110')}`;
    const { code, out } = await planned({ 'pools/a/kubelet.yaml': text });
    assert.deepEqual([code, out.split('\n')[2]], [0, 'Nothing changes.']);
  });

  it('says which fields change, by what they mean, and what that costs', async () => {
    const fields = layer('maxPods: 110', 'kubeReserved: {cpu: 200m, memory: 512Mi}', 'cpuManagerPolicy: static');
    const { pools } = await planOf({ 'pools/a/kubelet.yaml': fields });
    assert.deepEqual(
      pools.map(({ name, change, cost }) => [name, change, cost]),
      [['a', 'changed', 'state-file:cpu']],
    );
    assert.deepEqual(
      pools[0]?.fields.map(({ path, before: old, after: now, default: usual }) => [path, old, now, usual]),
      [
        ['cpuManagerPolicy', undefined, '"static"', '"none"'],
        ['kubeReserved.cpu', '"100m"', '"200m"', undefined],
      ],
    );
  });

  it('says which nodes are touched, in which order and for how long', async () => {
    const { pools } = await planOf({
      'pools/a/kubelet.yaml': layer('maxPods: 120', 'kubeReserved: {cpu: 100m, memory: 512Mi}'),
    });
    const rollout = pools[0]?.rollout;
    assert.deepEqual(rollout?.waves, [['a-2', 'a-3'], ['a-1']]);
    // The last ones promoted, the pool has settled: nobody waits for their soak.
    assert.equal(rollout?.expectedMs, 2 * (300_000 + 10_000) + 60_000);
  });

  it('takes a bound of the cluster for one over all pools, as the reconciler does', async () => {
    const bound = START['clusters/prod.yaml'].replace('maxUnassign: 0', "maxUnassign: 0, maxUnavailable: '50%'");
    const { pools } = await planOf({
      'clusters/prod.yaml': bound,
      'pools/a/kubelet.yaml': layer('maxPods: 120', 'kubeReserved: {cpu: 100m, memory: 512Mi}'),
    });
    assert.equal(pools[0]?.rollout?.budget, 2, 'half of the four nodes in pools, and not of the three in this one');
  });

  it('says what is left for pods', async () => {
    const { pools } = await planOf({
      'pools/a/kubelet.yaml': layer('maxPods: 110', 'kubeReserved: {cpu: 300m, memory: 1536Mi}'),
    });
    assert.deepEqual(pools[0]?.nodes[0]?.allocatable, [
      { resource: 'cpu', before: 3.8, after: 3.6 },
      { resource: 'memory', before: 15 * 2 ** 30, after: 14 * 2 ** 30 },
    ]);
  });

  it('refuses what leaves less than the pods request that a node cannot do without, with the arithmetic', async () => {
    const why = 'after a restart the kubelet would refuse some of them, so it would be refused';
    const refused = async (...fields: readonly string[]): Promise<readonly string[]> => {
      const { pools } = await planOf({ 'pools/a/kubelet.yaml': layer(...fields) });
      return (pools[0]?.nodes ?? []).flatMap(({ name, warnings }) =>
        warnings.flatMap(({ text, refuses }) => (refuses && text.endsWith(why) ? [`${name}: ${text}`] : [])),
      );
    };
    const eviction = (memory: string) => [
      'maxPods: 110',
      'kubeReserved: {cpu: 100m, memory: 512Mi}',
      'systemReserved: {memory: "0"}',
      `evictionHard: {memory.available: ${memory}}`,
    ];
    assert.deepEqual(await refused(...eviction('14549Mi')), [
      `a-3: 1323Mi memory would be left (16384Mi - kubeReserved 512Mi - evictionHard 14549Mi), and its 3 critical and DaemonSet pods request 1324Mi: ${why}`,
    ]);
    assert.deepEqual(await refused(...eviction('14548Mi')), []);
    assert.deepEqual(await refused('maxPods: 2', 'kubeReserved: {cpu: 100m, memory: 512Mi}'), [
      `a-3: 2 pods would be left, and its 3 critical and DaemonSet pods are more: ${why}`,
    ]);
    const { code } = await planned({ 'pools/a/kubelet.yaml': layer(...eviction('14549Mi')) });
    assert.equal(code, 3);
  });

  it('takes reserved CPUs in place of the shares that are reserved otherwise', async () => {
    const fields = layer('maxPods: 110', 'kubeReserved: {cpu: 100m, memory: 512Mi}', 'reservedSystemCPUs: 0-1');
    const { pools } = await planOf({ 'pools/a/kubelet.yaml': fields });
    assert.deepEqual(pools[0]?.nodes[0]?.allocatable, [{ resource: 'cpu', before: 3.8, after: 2 }]);
  });

  it('warns of pods that would have no place, and of kubelets that would refuse it', async () => {
    const { pools } = await planOf({
      'pools/a/kubelet.yaml': layer(
        'maxPods: 20',
        'kubeReserved: {cpu: 100m, memory: 512Mi}',
        'maxParallelImagePulls: 3',
        'serializeImagePulls: false',
      ),
    });
    const warnings = new Map(
      pools[0]?.nodes.map(({ name, warnings: all }) => [
        name,
        all.map(({ text, here }) => `${text} ${here}`).join('; '),
      ]),
    );
    assert.match(
      warnings.get('a-1') ?? '',
      /^more pods run there than maxPods allows \(20\): it would be refused 30 pods$/,
    );
    assert.equal(warnings.get('a-2'), '');
    assert.match(warnings.get('a-3') ?? '', /maxParallelImagePulls.*it came with 1\.27.*would be refused/);
  });

  it('warns of more pods than a podCIDR has addresses for, and refuses nothing for it', async () => {
    const { code, out } = await planned(
      { 'pools/a/kubelet.yaml': layer('maxPods: 300', 'kubeReserved: {cpu: 100m, memory: 512Mi}') },
      '-o',
      'json',
    );
    const said = (JSON.parse(out) as MergePlan).pools[0]?.nodes.map(({ name, warnings }) => [name, warnings]);
    const text =
      "maxPods allows 300 pods, and the node's podCIDR has 254 addresses for them: the others would not start";
    assert.deepEqual(said, [
      ['a-1', [{ text, refuses: false }]],
      ['a-2', []],
      ['a-3', [{ text, refuses: false }]],
    ]);
    assert.equal(code, 1);
  });

  it('says on which of the nodes, by their exact release, a kubelet would die of it', async () => {
    const config = [
      'serializeImagePulls: false',
      'maxParallelImagePulls: 64',
      'featureGates: {KubeletEnsureSecretPulledImages: true}',
    ];
    const cluster = START['clusters/prod.yaml'].replace('maxUnassign: 0', 'maxUnassign: 0, kubeletVersions: ["1.34"]');
    const { out } = await planned({ 'clusters/prod.yaml': cluster, 'pools/b/kubelet.yaml': layer(...config) });
    assert.match(out, /error known-bad: .*panics when it pulls images.*kubernetes#138937/s);
    const { out: byNode } = await planned({ 'pools/b/kubelet.yaml': layer(...config) });
    assert.match(byNode, /b-1.*panics when it pulls images.*it would be refused/s);
  });

  it('says which nodes move, and which are left as they are because two pools want them', async () => {
    const { moves, conflicts, pools } = await planOf({ 'pools/a/pool.yaml': pool('a', 'b', 'priority: 5') });
    assert.deepEqual(
      moves.map(({ from, to, nodes }) => [from, to, nodes]),
      [
        ['a', null, ['a-1', 'a-2', 'a-3']],
        ['b', 'a', ['b-1']],
      ],
    );
    assert.deepEqual(conflicts, []);
    assert.deepEqual(
      pools[0]?.nodes.map(({ name }) => name),
      ['b-1'],
    );
    const tie = await planOf({ 'pools/a/pool.yaml': pool('a', 'b') });
    assert.deepEqual(tie.conflicts, [{ node: 'b-1', pools: ['a', 'b'] }]);
  });

  it('says of a pool that is renamed that no kubelet restarts, and compares it with the one that it was', async () => {
    const renamed = {
      'pools/a/pool.yaml': null,
      'pools/a/kubelet.yaml': null,
      'pools/z/pool.yaml': pool(
        'z',
        'a',
        'rollout: {maxUnavailable: 2, probation: full, soak: 1m}',
        'trial: {duration: 5m}',
      ),
      'pools/z/kubelet.yaml': START['pools/a/kubelet.yaml'],
    };
    const { out } = await planned(renamed);
    const said = 'Pool z is new, and its nodes run its config already, as that of a: no kubelet restarts';
    assert.equal(out.split('\n').filter((line) => line.startsWith('Pool z'))[0], said);
    assert.match(out, /^Moves: a-1, a-2, a-3 from a to z$/m);
    assert.doesNotMatch(out, /maxPods|cost:/);
    const [, other] = (await planOf({ ...renamed, 'pools/z/kubelet.yaml': layer('maxPods: 120') })).pools;
    assert.deepEqual(
      [other?.from, other?.fields.map(({ path, before: was }) => [path, was])],
      [
        'a',
        [
          ['kubeReserved.cpu', '"100m"'],
          ['kubeReserved.memory', '"512Mi"'],
          ['maxPods', '110'],
        ],
      ],
    );
  });

  it('knows a renamed pool by what it says where no nodes are given, and one of new nodes by nothing', async () => {
    await repository.write({ 'pools/c/pool.yaml': null, 'pools/c/kubelet.yaml': null });
    await repository.write({ 'pools/d/pool.yaml': pool('d', 'c'), 'pools/d/kubelet.yaml': layer('maxPods: 50') });
    const { out } = await run('plan', '--repo', repository.directory, '--base', 'HEAD', '--head', '.');
    await repository.write({ 'pools/d/pool.yaml': null, 'pools/d/kubelet.yaml': null });
    await repository.write({
      'pools/c/pool.yaml': START['pools/c/pool.yaml'],
      'pools/c/kubelet.yaml': layer('maxPods: 50'),
    });
    assert.match(out, /^Pool d is new, and says what c said$/m);
    const { pools } = await planOf({
      'pools/d/pool.yaml': pool('d', 'nobody'),
      'pools/d/kubelet.yaml': layer('maxPods: 7'),
    });
    assert.deepEqual(
      pools.map(({ name, from, fields }) => [name, from, fields.length]),
      [['d', undefined, 1]],
    );
  });

  it('compares a pool that has errors in the base with what it keeps, and says of which commit that is', async () => {
    const good = await repository.commit('good', { 'pools/a/kubelet.yaml': layer('maxPods: 100') });
    await repository.commit('bad', { 'pools/a/kubelet.yaml': layer('maxPodz: 100') });
    await repository.commit('worse', { 'pools/a/kubelet.yaml': layer('maxPodz: 101') });
    const { out } = await planned({ 'pools/a/kubelet.yaml': layer('maxPods: 101') });
    const { out: unmended } = await planned({
      'pools/a/kubelet.yaml': layer('maxPodz: 102'),
      'pools/b/kubelet.yaml': layer('maxPods: 51'),
    });
    await repository.commit('as before', { 'pools/a/kubelet.yaml': START['pools/a/kubelet.yaml'] });
    assert.match(
      out,
      /^Pool a changes\n {2}a has errors in the base; compared with what it keeps, that of [0-9a-f]{12}\n/m,
    );
    assert.ok(out.includes(good.slice(0, 12)), out);
    assert.match(out, /^ {2}maxPods {2}100 {2}→ {2}101$/m);
    assert.doesNotMatch(out, /Moves|not set/);
    assert.match(unmended, /^Pool b changes$/m);
    assert.doesNotMatch(unmended, /Pool a/);
  });

  it('says of a pool that has errors in the base where nobody knows what it keeps', async () => {
    const never = { 'pools/never/pool.yaml': pool('never', 'never'), 'pools/never/kubelet.yaml': layer('maxPodz: 1') };
    await repository.commit('never valid', never);
    const { out } = await planned({ 'pools/never/kubelet.yaml': layer('maxPods: 1') });
    await repository.write(never);
    await repository.commit('as before', { 'pools/never/pool.yaml': null, 'pools/never/kubelet.yaml': null });
    assert.match(
      out,
      /^ {2}never has errors in the base, and what it keeps is not found in this clone: compared with nothing$/m,
    );
  });

  it('does not take nodes that two pools wanted for nodes with their local config', async () => {
    await repository.commit('tie', { 'pools/a/pool.yaml': pool('a', 'b') });
    const { out } = await planned({ 'pools/a/pool.yaml': START['pools/a/pool.yaml'] });
    await repository.commit('no tie', { 'pools/a/pool.yaml': START['pools/a/pool.yaml'] });
    assert.match(out, /^Moves: b-1 from a conflict of a and b, with what they ran before it, to b$/m);
  });

  it('says that the commit would be refused as a whole, and why', async () => {
    const { refusal } = await planOf({ 'pools/a/pool.yaml': null, 'pools/a/kubelet.yaml': null });
    assert.match(refusal ?? '', /send 3 of 4 nodes back .* maxUnassign allows 0/);
  });

  it('lets one node go by a percentage that comes to less than one, as the reconciler does', async () => {
    const usual = START['clusters/prod.yaml'].replace('maxUnassign: 0', "maxUnassign: '20%'");
    const loosening = { 'pools/b/pool.yaml': null, 'pools/b/kubelet.yaml': null, 'clusters/prod.yaml': usual };
    assert.match(
      (await planOf(loosening)).refusal ?? '',
      /maxUnassign allows 0\. .* in a commit of its own/,
      'by the base',
    );
    await repository.commit('loosen', { 'clusters/prod.yaml': usual });
    const one = { 'pools/b/pool.yaml': null, 'pools/b/kubelet.yaml': null, 'clusters/prod.yaml': usual };
    assert.equal((await planOf(one)).refusal, undefined);
    const three = { 'pools/a/pool.yaml': null, 'pools/a/kubelet.yaml': null, 'clusters/prod.yaml': usual };
    assert.match((await planOf(three)).refusal ?? '', /send 3 of 4 nodes back .* maxUnassign allows 1/);
    const none = { ...one, 'clusters/prod.yaml': usual.replace('20%', '0%') };
    assert.match((await planOf(none)).refusal ?? '', /send 1 of 4 nodes back .* maxUnassign allows 0/);
    await repository.commit('tighten again', START);
  });

  it('says that the reconciler would refuse to change so many nodes at once', async () => {
    const guarded = START['clusters/prod.yaml'].replace('maxUnassign: 0', "maxUnassign: 0, maxChange: '50%'");
    const changed = { 'pools/a/kubelet.yaml': layer('maxPods: 90') };
    const { refusal } = await planOf({ ...changed, 'clusters/prod.yaml': guarded });
    assert.match(
      refusal ?? '',
      /^it would give 3 of 4 nodes in pools another config \(a 3\), and maxChange allows 2\. /,
    );
    const allowed = await planOf({ ...changed, 'clusters/prod.yaml': guarded.replace('50%', '75%') });
    assert.equal(allowed.refusal, undefined);
    const few = await planOf({ 'pools/b/kubelet.yaml': layer('maxPods: 40'), 'clusters/prod.yaml': guarded });
    assert.equal(few.refusal, undefined);
  });

  it('says that nodes would wait where the change does more to them than their pool allows', async () => {
    const files = { 'pools/a/kubelet.yaml': layer('maxPods: 110', 'cgroupDriver: systemd') };
    const bar =
      'the change of cgroupDriver needs the machine to be rebooted: allow it with disruption.allow: [restart, reboot]';
    assert.equal((await planOf(files)).pools[0]?.waits, bar);
    const { out } = await planned(files);
    assert.match(out, /^ {2}! 3 nodes would wait: the change of cgroupDriver /m);
    assert.doesNotMatch(out, /if all goes well/);
    const disruption = 'disruption: {allow: [restart, reboot], reboot: {by: systemd}}';
    const allowed = await planOf({ ...files, 'pools/a/pool.yaml': pool('a', 'a', disruption) });
    assert.equal(allowed.pools[0]?.waits, undefined);
    const suspended = await planOf({ ...files, 'pools/a/pool.yaml': pool('a', 'a', disruption, 'suspend: true') });
    assert.equal(suspended.pools[0]?.waits, 'pool.yaml says suspend: true');
  });

  it('compares nothing where a pool goes: nobody here knows what its nodes were provisioned with', async () => {
    const { pools } = await planOf({ 'pools/b/pool.yaml': null, 'pools/b/kubelet.yaml': null });
    assert.deepEqual(
      pools.map(({ name, change, fields, cost }) => [name, change, fields, cost]),
      [['b', 'removed', [], undefined]],
    );
  });

  it('says that a suspended pool waits only where it has something to wait with', async () => {
    const { pools } = await planOf({ 'pools/b/pool.yaml': pool('b', 'b', 'suspend: true') });
    assert.deepEqual([pools[0]?.spec, pools[0]?.waits], [['suspend: not set → true'], undefined]);
  });

  it('says what changes in the file of the cluster, and whether anything would be begun with it', async () => {
    const file = (spec: string): string => START['clusters/prod.yaml'].replace('maxUnassign: 0', spec);
    const changed = await planned({ 'clusters/prod.yaml': file('maxUnassign: 0, maxChange: 50%, suspend: true') });
    assert.match(
      changed.out,
      /^Nothing new would start: the cluster's file says suspend: true\n\nclusters\/prod\.yaml changes\n {2}maxChange: not set → 50%\n {2}suspend: false → true\n/m,
    );
    assert.equal(changed.code, 1);
    const broken = await planOf({ 'clusters/prod.yaml': file('maxUnassign: 0, suspended: true') });
    assert.match(
      broken.held ?? '',
      /cannot be read, so no change starts until it is fixed: clusters\/prod\.yaml:4:\d+: /,
    );
    assert.deepEqual(broken.clusterSpec, []);
  });

  it('tells pools that change alike once, and of which no node is', async () => {
    const files = { 'pools/b/kubelet.yaml': layer('maxPods: 51'), 'pools/c/kubelet.yaml': layer('maxPods: 51') };
    const { out } = await planned(files);
    assert.match(out, /^Pools b, c change alike\n {2}maxPods {2}50 {2}→ {2}51\n/m);
    assert.match(out, /^ {2}b: 1 node, 1 at a time, in 1 step; .*\n {4}order: b-1\n {2}no node belongs to c\n/m);
    assert.equal(out.match(/maxPods {2}50/g)?.length, 1);
    const markdown = (await planned(files, '-o', 'markdown')).out;
    assert.match(markdown, /^#### Pools b, c change alike$/m);
  });

  it('shows selectors as kubectl has them, and names nodes that two pools want together', async () => {
    const { out } = await planned({ 'pools/b/pool.yaml': pool('b', 'a') });
    assert.match(out, /^ {2}nodeSelector: pool=b → pool=a$/m);
    assert.match(
      out,
      /^Conflict: 3 nodes \(a-1, a-2, a-3\) are left as they are: a and b select them with the same priority\. Give one of the pools a higher one$/m,
    );
  });

  it('says nothing of room for pods where maxPods does not change', async () => {
    const fields = layer('maxPods: 110', 'kubeReserved: {cpu: 100m, memory: 512Mi}');
    await repository.commit('less', { 'pools/a/kubelet.yaml': fields.replace('110', '40') });
    const { pools } = await planOf({
      'pools/a/kubelet.yaml': `${fields.replace('110', '40')}podPidsLimit: 100\n`,
    });
    assert.deepEqual(pools[0]?.nodes[0]?.allocatable, []);
    await repository.commit('as before', { 'pools/a/kubelet.yaml': fields });
  });

  it('says what is wrong with what is new, and nothing of what was wrong before', async () => {
    const { findings, pools } = await planOf({ 'pools/b/kubelet.yaml': layer('maxPodz: 50') });
    assert.deepEqual(
      findings.map(({ code }) => code),
      ['unknown-field'],
    );
    assert.deepEqual(
      pools.map(({ name, change }) => [name, change]),
      [['b', 'invalid']],
    );
  });

  it('shows changes of the rollout that touch no node', async () => {
    const { pools } = await planOf({ 'pools/b/pool.yaml': pool('b', 'b', 'rollout: {maxUnavailable: 3}') });
    assert.deepEqual([pools[0]?.spec, pools[0]?.nodes], [['rollout.maxUnavailable: 1 → 3'], []]);
  });

  it('can be shown to people and on a pull request, without letting anybody’s text become markup', async () => {
    const files = {
      'pools/a/kubelet.yaml': layer(
        'maxPods: 60',
        'clusterDomain: "x|<b>`y`"',
        'kubeReserved: {cpu: 100m, memory: 512Mi}',
      ),
    };
    const text = await planned(files);
    assert.equal(text.code, 1);
    assert.match(text.out, /^Pool a changes\n {2}clusterDomain {2}not set .*\n {2}maxPods .*110 .*→ {2}60\n/m);
    assert.match(text.out, /3 nodes, 2 at a time, in 2 steps; about 12 min if all goes well/);
    const { out } = await planned(files, '-o', 'markdown');
    assert.match(out, /^<!-- kubelet-gitops plan: prod -->\n/);
    assert.match(out, /\| `maxPods` \| `110` \| `60` \| restart of the kubelet \|/);
    assert.match(out, /\| `clusterDomain` \| `not set` \| `` "x\\\|<b>`y`" `` \|/);
  });

  it('names fields with the same risk together', async () => {
    const files = { 'pools/a/kubelet.yaml': layer('maxPods: 110', 'kubeReserved: {cpu: 200m, memory: 1Gi}') };
    const { out } = await planned(files);
    assert.match(out, /^ {2}! kubeReserved\.cpu, kubeReserved\.memory: changes what is left for pods/m);
    const markdown = (await planned(files, '-o', 'markdown')).out;
    assert.match(markdown, /^- ⚠️ `kubeReserved\.cpu`, `kubeReserved\.memory`: changes what is left for pods/m);
  });

  it('says where a cluster is named that has no file while others have one', async () => {
    const { err } = await planned({ 'pools/b/kubelet.yaml': layer('maxPods: 51') }, '--cluster', 'pord');
    assert.equal(
      err,
      'there is no clusters/pord.yaml, so nothing new is started in pord; there is clusters/prod.yaml\n',
    );
  });

  it('cannot run where something is missing, and says what', async () => {
    const at = ['--repo', repository.directory] as const;
    assert.match((await run('plan', ...at, '--base', 'nope')).err, /there is no revision nope/);
    assert.match(
      (await run('plan', ...at, '--base', 'HEAD', '--inventory', '/nope.json')).err,
      /Make one with kubectl get nodes/,
    );
    assert.match((await run('plan', '--repo', '/')).err, /is in no git repository/);
  });

  it('says which nodes it knows nothing of', async () => {
    await repository.write({ 'pools/b/kubelet.yaml': layer('maxPods: 51') });
    const { out } = await run('plan', '--repo', repository.directory, '--base', 'HEAD', '--head', '.');
    assert.match(out, /\n\nNo nodes were given/);
    await repository.write({ 'pools/b/kubelet.yaml': layer('maxPodz: 51') });
    const invalid = await run('plan', '--repo', repository.directory, '--base', 'HEAD', '--head', '.');
    assert.match(invalid.out, /maxPodz.*\n\nNo nodes were given/);
    await repository.write({ 'pools/b/kubelet.yaml': layer('maxPods: 50') });
  });
});
