import assert from 'node:assert/strict';
import { rm, symlink } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { createPlanBench, type PlanBench, START } from '../support/plan-bench.ts';
import { layer, pool } from '../support/repository.ts';
import { run } from '../support/run.ts';
import { column, columns } from '../../support/columns.ts';

describe('kubelet-gitops plan', () => {
  let bench: PlanBench;
  before(async () => {
    bench = await createPlanBench();
  });
  after(() => bench.remove());

  it('has nothing to say, and ends with 0, where only the text changes', async () => {
    const text = `# a comment\n${layer('kubeReserved:', '  memory: "512Mi"', '  cpu: 100m', 'maxPods: 110')}`;
    const { code, out } = await bench.planned({ 'pools/a/kubelet.yaml': text });
    assert.deepEqual([code, out.split('\n')[2]], [0, 'Nothing changes.']);
  });

  it('reads the working copy where a symbolic link to it is named', async () => {
    const link = `${bench.repository.directory}-link`;
    await symlink(bench.repository.directory, link);
    await bench.repository.write({ 'pools/a/kubelet.yaml': layer('maxPods: 77') });
    const planned = (directory: string) => run('plan', '--repo', directory, '--base', 'HEAD', '--head', '.');
    const [linked, direct] = [await planned(link), await planned(bench.repository.directory)];
    await bench.repository.write({ 'pools/a/kubelet.yaml': START['pools/a/kubelet.yaml'] });
    await rm(link);
    assert.equal(linked.code, 1);
    assert.deepEqual([linked.code, linked.out], [direct.code, direct.out]);
  });

  it('says which fields change, by what they mean, and what that costs', async () => {
    const fields = layer('maxPods: 110', 'kubeReserved: {cpu: 200m, memory: 512Mi}', 'cpuManagerPolicy: static');
    const { pools } = await bench.planOf({ 'pools/a/kubelet.yaml': fields });
    assert.deepEqual(columns(pools, 'name', 'change', 'cost'), [['a', 'changed', 'state-file:cpu']]);
    assert.deepEqual(columns(pools[0]?.fields, 'path', 'before', 'after', 'default'), [
      ['cpuManagerPolicy', undefined, '"static"', '"none"'],
      ['kubeReserved.cpu', '"100m"', '"200m"', undefined],
    ]);
  });

  it('says no time where nobody may begin, and that nodes wait for canaries that there are not', async () => {
    const changed = { 'pools/a/kubelet.yaml': layer('maxPods: 90', 'kubeReserved: {cpu: 100m, memory: 512Mi}') };
    const summaryWith = async (rollout: string) => {
      const { code, out } = await bench.planned({
        ...changed,
        'pools/a/pool.yaml': pool('a', 'a', `rollout: ${rollout}`),
      });
      return [code, out.split('\n')[2], /nodes would .*/.exec(out.slice(out.indexOf('Pool a')))?.[0]];
    };
    const waits = '1 pool, 3 nodes: 0 kubelets restart, 3 nodes would wait, 0 reboots';
    assert.deepEqual(await summaryWith('{maxUnavailable: 0}'), [
      1,
      waits,
      'nodes would change, but maxUnavailable allows none',
    ]);
    assert.deepEqual(await summaryWith('{maxUnavailable: 2, maxUnavailablePerZone: 0}'), [
      1,
      waits,
      'nodes would change, but maxUnavailablePerZone allows none',
    ]);
    assert.deepEqual(await summaryWith('{canary: {selector: {matchLabels: {canary: "yes"}}}}'), [
      3,
      waits,
      'nodes would wait: no node of the pool matches the selector of its canaries',
    ]);
  });

  it('says which nodes are touched, in which order and for how long', async () => {
    const { pools } = await bench.planOf({
      'pools/a/kubelet.yaml': layer('maxPods: 120', 'kubeReserved: {cpu: 100m, memory: 512Mi}'),
    });
    const rollout = pools[0]?.rollout;
    assert.deepEqual(rollout?.waves, [['a-2', 'a-3'], ['a-1']]);
    // The pool has settled when the last wave has soaked, too.
    assert.equal(rollout?.expectedMs, 2 * (300_000 + 10_000 + 60_000));
  });

  it('takes a bound of the cluster for one over all pools, as the reconciler does', async () => {
    const bound = START['clusters/prod.yaml'].replace('maxUnassign: 0', "maxUnassign: 0, maxUnavailable: '50%'");
    const { pools } = await bench.planOf({
      'clusters/prod.yaml': bound,
      'pools/a/kubelet.yaml': layer('maxPods: 120', 'kubeReserved: {cpu: 100m, memory: 512Mi}'),
    });
    assert.equal(pools[0]?.rollout?.budget, 2, 'half of the four nodes in pools, and not of the three in this one');
  });

  it('says what is left for pods', async () => {
    const { pools } = await bench.planOf({
      'pools/a/kubelet.yaml': layer('maxPods: 110', 'kubeReserved: {cpu: 300m, memory: 1536Mi}'),
    });
    assert.deepEqual(pools[0]?.nodes[0]?.allocatable, [
      { resource: 'cpu', before: 3.8, after: 3.6 },
      { resource: 'memory', before: 15 * 2 ** 30, after: 14 * 2 ** 30 },
    ]);
  });

  it('says what is left for pods in one unit, and in one that shows the difference', async () => {
    const left = async (memory: string) => {
      const { out } = await bench.planned({
        'pools/a/kubelet.yaml': layer('maxPods: 110', `kubeReserved: {cpu: 100m, memory: ${memory}}`),
      });
      return /allocatable memory: (.*) on/.exec(out)?.[1];
    };
    assert.equal(await left('1536Mi'), '15.0Gi → 14.0Gi');
    assert.equal(await left('513Mi'), '15360Mi → 15359Mi');
    assert.equal(await left('35Gi'), '15.0Gi → -19.5Gi');
  });

  it('takes reserved CPUs in place of the shares that are reserved otherwise', async () => {
    const fields = layer('maxPods: 110', 'kubeReserved: {cpu: 100m, memory: 512Mi}', 'reservedSystemCPUs: 0-1');
    const { pools } = await bench.planOf({ 'pools/a/kubelet.yaml': fields });
    assert.deepEqual(pools[0]?.nodes[0]?.allocatable, [{ resource: 'cpu', before: 3.8, after: 2 }]);
  });

  it('says which nodes move, and which are left as they are because two pools want them', async () => {
    const { moves, conflicts, pools } = await bench.planOf({ 'pools/a/pool.yaml': pool('a', 'b', 'priority: 5') });
    assert.deepEqual(columns(moves, 'from', 'to', 'nodes'), [
      ['a', null, ['a-1', 'a-2', 'a-3']],
      ['b', 'a', ['b-1']],
    ]);
    assert.deepEqual(conflicts, []);
    assert.deepEqual(column(pools[0]?.nodes, 'name'), ['b-1']);
    const tie = await bench.planOf({ 'pools/a/pool.yaml': pool('a', 'b') });
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
    const { out } = await bench.planned(renamed);
    const said = 'Pool z is new, and its nodes run its config already, as that of a: no kubelet restarts';
    assert.equal(out.split('\n').filter((line) => line.startsWith('Pool z'))[0], said);
    assert.match(out, /^Moves: a-1, a-2, a-3 from a to z$/m);
    assert.doesNotMatch(out, /maxPods|cost:/);
    const [, other] = (await bench.planOf({ ...renamed, 'pools/z/kubelet.yaml': layer('maxPods: 120') })).pools;
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
    await bench.repository.write({ 'pools/c/pool.yaml': null, 'pools/c/kubelet.yaml': null });
    await bench.repository.write({ 'pools/d/pool.yaml': pool('d', 'c'), 'pools/d/kubelet.yaml': layer('maxPods: 50') });
    const { out } = await run('plan', '--repo', bench.repository.directory, '--base', 'HEAD', '--head', '.');
    await bench.repository.write({ 'pools/d/pool.yaml': null, 'pools/d/kubelet.yaml': null });
    await bench.repository.write({
      'pools/c/pool.yaml': START['pools/c/pool.yaml'],
      'pools/c/kubelet.yaml': layer('maxPods: 50'),
    });
    assert.match(out, /^Pool d is new, and says what c said$/m);
    const { pools } = await bench.planOf({
      'pools/d/pool.yaml': pool('d', 'nobody'),
      'pools/d/kubelet.yaml': layer('maxPods: 7'),
    });
    assert.deepEqual(
      pools.map(({ name, from, fields }) => [name, from, fields.length]),
      [['d', undefined, 1]],
    );
  });

  it('compares a pool that has errors in the base with what it keeps, and says of which commit that is', async () => {
    const good = await bench.repository.commit('good', { 'pools/a/kubelet.yaml': layer('maxPods: 100') });
    await bench.repository.commit('bad', { 'pools/a/kubelet.yaml': layer('maxPodz: 100') });
    await bench.repository.commit('worse', { 'pools/a/kubelet.yaml': layer('maxPodz: 101') });
    const { out } = await bench.planned({ 'pools/a/kubelet.yaml': layer('maxPods: 101') });
    const { out: unmended } = await bench.planned({
      'pools/a/kubelet.yaml': layer('maxPodz: 102'),
      'pools/b/kubelet.yaml': layer('maxPods: 51'),
    });
    await bench.repository.commit('as before', { 'pools/a/kubelet.yaml': START['pools/a/kubelet.yaml'] });
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
    await bench.repository.commit('never valid', never);
    const { out } = await bench.planned({ 'pools/never/kubelet.yaml': layer('maxPods: 1') });
    await bench.repository.write(never);
    await bench.repository.commit('as before', { 'pools/never/pool.yaml': null, 'pools/never/kubelet.yaml': null });
    assert.match(
      out,
      /^ {2}never has errors in the base, and what it keeps is not found in this clone: compared with nothing$/m,
    );
  });

  it('does not take nodes that two pools wanted for nodes with their local config', async () => {
    await bench.repository.commit('tie', { 'pools/a/pool.yaml': pool('a', 'b') });
    const { out } = await bench.planned({ 'pools/a/pool.yaml': START['pools/a/pool.yaml'] });
    await bench.repository.commit('no tie', { 'pools/a/pool.yaml': START['pools/a/pool.yaml'] });
    assert.match(out, /^Moves: b-1 from a conflict of a and b, with what they ran before it, to b$/m);
  });

  it('compares nothing where a pool goes: nobody here knows what its nodes were provisioned with', async () => {
    const { pools } = await bench.planOf({ 'pools/b/pool.yaml': null, 'pools/b/kubelet.yaml': null });
    assert.deepEqual(columns(pools, 'name', 'change', 'fields', 'cost'), [['b', 'removed', [], undefined]]);
  });

  it('says nothing of room for pods where maxPods does not change', async () => {
    const fields = layer('maxPods: 110', 'kubeReserved: {cpu: 100m, memory: 512Mi}');
    await bench.repository.commit('less', { 'pools/a/kubelet.yaml': fields.replace('110', '40') });
    const { pools } = await bench.planOf({
      'pools/a/kubelet.yaml': `${fields.replace('110', '40')}podPidsLimit: 100\n`,
    });
    assert.deepEqual(pools[0]?.nodes[0]?.allocatable, []);
    await bench.repository.commit('as before', { 'pools/a/kubelet.yaml': fields });
  });

  it('says what is wrong with what is new, and nothing of what was wrong before', async () => {
    const { findings, pools } = await bench.planOf({ 'pools/b/kubelet.yaml': layer('maxPodz: 50') });
    assert.deepEqual(column(findings, 'code'), ['unknown-field']);
    assert.deepEqual(columns(pools, 'name', 'change'), [['b', 'invalid']]);
  });

  it('shows changes of the rollout that touch no node', async () => {
    const { pools } = await bench.planOf({ 'pools/b/pool.yaml': pool('b', 'b', 'rollout: {maxUnavailable: 3}') });
    assert.deepEqual([pools[0]?.spec, pools[0]?.nodes], [['rollout.maxUnavailable: 1 → 3'], []]);
  });
});
