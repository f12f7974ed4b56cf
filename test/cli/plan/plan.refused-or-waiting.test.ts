import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { MergePlan } from '#cli/plan/merge-plan.ts';
import { createPlanBench, type PlanBench, START } from '../support/plan-bench.ts';
import { layer, pool } from '../support/repository.ts';

describe('kubelet-gitops plan, of what would be refused or wait,', () => {
  let bench: PlanBench;
  before(async () => {
    bench = await createPlanBench();
  });
  after(() => bench.remove());

  it('refuses what leaves less than the pods request that a node cannot do without, with the arithmetic', async () => {
    const why = 'after a restart the kubelet would refuse some of them, so the node would refuse it';
    const refused = async (...fields: readonly string[]): Promise<readonly string[]> => {
      const { pools } = await bench.planOf({ 'pools/a/kubelet.yaml': layer(...fields) });
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
    const { code } = await bench.planned({ 'pools/a/kubelet.yaml': layer(...eviction('14549Mi')) });
    assert.equal(code, 3);
  });

  it('warns of pods that would have no place, and of kubelets that would refuse it', async () => {
    const { pools } = await bench.planOf({
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
      /^more pods run there than maxPods allows \(20\): the node would refuse it 30 pods$/,
    );
    assert.equal(warnings.get('a-2'), '');
    assert.match(warnings.get('a-3') ?? '', /maxParallelImagePulls.*it came with 1\.27.*the node would refuse it/);
  });

  it('warns of more pods than a podCIDR has addresses for, and refuses nothing for it', async () => {
    const { code, out } = await bench.planned(
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

  it('goes without nodes whose version would refuse it, and nowhere where these are more than half', async () => {
    const modern = ['maxPods: 110', 'serializeImagePulls: false', 'maxParallelImagePulls: 3'];
    const guarded = START['clusters/prod.yaml'].replace('maxUnassign: 0', "maxUnassign: 0, maxChange: '50%'");
    const files = { 'pools/a/kubelet.yaml': layer(...modern), 'clusters/prod.yaml': guarded };
    const { pools, refusal } = await bench.planOf(files);
    assert.deepEqual(pools[0]?.rollout?.waves.flat().toSorted(), ['a-1', 'a-2']);
    assert.deepEqual([pools[0]?.waits, refusal], [undefined, undefined]);
    assert.equal((await bench.planned(files)).code, 3);
    const older = layer('maxPods: 110', 'featureGates: {EphemeralContainers: true}');
    const all = await bench.planOf({ 'pools/b/kubelet.yaml': older });
    assert.match(all.pools[0]?.waits ?? '', /more than half of its nodes refuse it/);
  });

  it('says on which of the nodes, by their exact release, a kubelet would die of it', async () => {
    const config = [
      'serializeImagePulls: false',
      'maxParallelImagePulls: 64',
      'featureGates: {KubeletEnsureSecretPulledImages: true}',
    ];
    const cluster = START['clusters/prod.yaml'].replace('maxUnassign: 0', 'maxUnassign: 0, kubeletVersions: ["1.34"]');
    const { out } = await bench.planned({ 'clusters/prod.yaml': cluster, 'pools/b/kubelet.yaml': layer(...config) });
    assert.match(out, /error known-bad: .*panics when it pulls images.*kubernetes#138937/s);
    const { out: byNode } = await bench.planned({ 'pools/b/kubelet.yaml': layer(...config) });
    assert.match(byNode, /b-1.*panics when it pulls images.*the node would refuse it/s);
  });

  it('says that the commit would be refused as a whole, and why', async () => {
    const { refusal } = await bench.planOf({ 'pools/a/pool.yaml': null, 'pools/a/kubelet.yaml': null });
    assert.match(refusal ?? '', /send 3 of 4 nodes back .* maxUnassign allows 0/);
  });

  it('lets one node go by a percentage that comes to less than one, as the reconciler does', async () => {
    const usual = START['clusters/prod.yaml'].replace('maxUnassign: 0', "maxUnassign: '20%'");
    const loosening = { 'pools/b/pool.yaml': null, 'pools/b/kubelet.yaml': null, 'clusters/prod.yaml': usual };
    assert.match(
      (await bench.planOf(loosening)).refusal ?? '',
      /send 1 of 4 nodes back .* maxUnassign allows 0\b/,
      'by the base',
    );
    await bench.repository.commit('loosen', { 'clusters/prod.yaml': usual });
    const one = { 'pools/b/pool.yaml': null, 'pools/b/kubelet.yaml': null, 'clusters/prod.yaml': usual };
    assert.equal((await bench.planOf(one)).refusal, undefined);
    const three = { 'pools/a/pool.yaml': null, 'pools/a/kubelet.yaml': null, 'clusters/prod.yaml': usual };
    assert.match((await bench.planOf(three)).refusal ?? '', /send 3 of 4 nodes back .* maxUnassign allows 1/);
    const none = { ...one, 'clusters/prod.yaml': usual.replace('20%', '0%') };
    assert.match((await bench.planOf(none)).refusal ?? '', /send 1 of 4 nodes back .* maxUnassign allows 0/);
    await bench.repository.commit('tighten again', START);
  });

  it('says that the reconciler would refuse to change so many nodes at once', async () => {
    const guarded = START['clusters/prod.yaml'].replace('maxUnassign: 0', "maxUnassign: 0, maxChange: '50%'");
    const changed = { 'pools/a/kubelet.yaml': layer('maxPods: 90') };
    const { refusal } = await bench.planOf({ ...changed, 'clusters/prod.yaml': guarded });
    assert.match(
      refusal ?? '',
      /^it would give 3 of 4 nodes in pools another config \(a 3\), and maxChange allows 2\. /,
    );
    const allowed = await bench.planOf({ ...changed, 'clusters/prod.yaml': guarded.replace('50%', '75%') });
    assert.equal(allowed.refusal, undefined);
    const few = await bench.planOf({ 'pools/b/kubelet.yaml': layer('maxPods: 40'), 'clusters/prod.yaml': guarded });
    assert.equal(few.refusal, undefined);
  });

  it('says that nodes would wait where the change does more to them than their pool allows', async () => {
    const files = { 'pools/a/kubelet.yaml': layer('maxPods: 110', 'cgroupDriver: systemd') };
    const bar =
      'the change of cgroupDriver needs the machine to be rebooted: allow it with disruption.allow: [restart, reboot]';
    assert.equal((await bench.planOf(files)).pools[0]?.waits, bar);
    const { out } = await bench.planned(files);
    assert.match(out, /^ {2}! 3 nodes would wait: the change of cgroupDriver /m);
    assert.doesNotMatch(out, /if all goes well/);
    const disruption = 'disruption: {allow: [restart, reboot], reboot: {by: systemd}}';
    const allowed = await bench.planOf({ ...files, 'pools/a/pool.yaml': pool('a', 'a', disruption) });
    assert.equal(allowed.pools[0]?.waits, undefined);
    const suspended = await bench.planOf({
      ...files,
      'pools/a/pool.yaml': pool('a', 'a', disruption, 'suspend: true'),
    });
    assert.equal(suspended.pools[0]?.waits, 'pool.yaml says suspend: true');
  });

  it('says that a suspended pool waits only where it has something to wait with', async () => {
    const { pools } = await bench.planOf({ 'pools/b/pool.yaml': pool('b', 'b', 'suspend: true') });
    assert.deepEqual([pools[0]?.spec, pools[0]?.waits], [['suspend: not set → true'], undefined]);
  });

  it('says what changes in the file of the cluster, and whether anything would be begun with it', async () => {
    const file = (spec: string): string => START['clusters/prod.yaml'].replace('maxUnassign: 0', spec);
    const changed = await bench.planned({
      'clusters/prod.yaml': file('maxUnassign: 0, maxChange: 50%, suspend: true'),
    });
    assert.match(
      changed.out,
      /^Nothing new would start: the cluster's file says suspend: true\n\nclusters\/prod\.yaml changes\n {2}maxChange: not set → 50%\n {2}suspend: false → true\n/m,
    );
    assert.equal(changed.code, 1);
    const broken = await bench.planOf({ 'clusters/prod.yaml': file('maxUnassign: 0, suspended: true') });
    assert.match(
      broken.held ?? '',
      /cannot be read, so no change starts until it is fixed: clusters\/prod\.yaml:4:\d+: /,
    );
    assert.deepEqual(broken.clusterSpec, []);
  });
});
