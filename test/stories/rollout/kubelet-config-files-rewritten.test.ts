import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SUSPEND_ANNOTATION } from '#shared/contract/api/group.ts';
import { nodeView } from '../../support/fleet.ts';
import { BASE, DEADLY_BASE, EIGHT, MINUTE, NIGHT, OTHER_BASE, poolOf, Rewritten } from './support/rewritten-files.ts';

const once = (nodes: readonly string[]): Readonly<Record<string, number>> =>
  Object.fromEntries(nodes.map((name) => [name, 1]));

describe('the config files of eight nodes, rewritten at once,', () => {
  for (const maxUnavailable of [1, 3] as const) {
    it(`restart ${maxUnavailable} at a time where so many may be unavailable, and each of them once`, () => {
      const fleet = new Rewritten(EIGHT, { maxUnavailable });
      fleet.rewrite(BASE);
      fleet.rounds(40);
      assert.deepEqual([fleet.most, fleet.sim.granted.length], [maxUnavailable, 8]);
      assert.deepEqual(fleet.restarts(), once(EIGHT));
      assert.deepEqual(fleet.sim.reconcile().steps, [], 'what was granted is said once');
    });
  }

  it('wait for the soak of the one before', () => {
    const fleet = new Rewritten(EIGHT, { maxUnavailable: 1, soak: '10m' });
    fleet.sim.now += 11 * MINUTE;
    fleet.sim.agentsStep();
    fleet.rewrite(BASE);
    fleet.rounds(10);
    assert.deepEqual(fleet.sim.granted, ['n1']);
    fleet.sim.now += 11 * MINUTE;
    fleet.sim.agentsStep();
    fleet.rounds(10);
    assert.deepEqual(fleet.sim.granted, ['n1', 'n2']);
  });

  it('restart nothing outside of the windows, and in turn within them', () => {
    const fleet = new Rewritten(EIGHT, { windows: NIGHT });
    fleet.rewrite(BASE);
    fleet.rounds(10);
    assert.deepEqual([fleet.sim.granted, fleet.restarts(), fleet.holds()], [[], {}, ['window 8']]);
    const { phase, counts } = fleet.sim.fleet.pools.get('workers')?.status ?? {};
    assert.deepEqual([phase, counts?.updated, counts?.drifted], ['Settled', 8, 8], 'they run what they are to run');
    fleet.sim.now += 15 * 60 * MINUTE;
    fleet.sim.agentsStep();
    fleet.rounds(40);
    assert.deepEqual([fleet.most, fleet.restarts()], [1, once(EIGHT)]);
  });

  it('restart nothing in a wave that is finished after its window', () => {
    const windows = { ...NIGHT, overrun: 'finish-wave' } as const;
    const fleet = new Rewritten(EIGHT, { windows });
    fleet.sim.now += 15 * 60 * MINUTE;
    fleet.commit(poolOf('workers', 110, { windows }));
    fleet.sim.agentsStep();
    fleet.rounds(3);
    fleet.sim.now += 60 * MINUTE;
    fleet.sim.agentsStep();
    const updated = [...(fleet.sim.exposed.get(poolOf('workers', 110, {}).sha256) ?? [])];
    assert.ok(updated.length > 0 && updated.length < 8, 'in the middle of the wave');
    fleet.sim.agentsStep();
    fleet.rewrite(BASE, updated);
    fleet.rounds(40);
    assert.equal(fleet.sim.exposed.get(poolOf('workers', 110, {}).sha256)?.size, 8, 'the wave was finished');
    assert.deepEqual(fleet.sim.granted, []);
  });

  it('restart nothing in a pool that a person suspended, or in a cluster whose file says so', () => {
    const fleet = new Rewritten(EIGHT);
    fleet.sim.annotatePool('workers', { [SUSPEND_ANNOTATION]: 'a look at it' });
    fleet.rewrite(BASE);
    fleet.rounds(10);
    assert.deepEqual([fleet.sim.granted, fleet.holds()], [[], ['suspended 8']]);
    fleet.sim.annotatePool('workers', { [SUSPEND_ANNOTATION]: undefined });
    fleet.withCluster({ suspend: true });
    fleet.rounds(10);
    assert.deepEqual([fleet.sim.granted, fleet.holds()], [[], ['suspended 8']]);
  });

  for (const action of ['halt', 'revert'] as const) {
    it(`restart nothing in a pool that failures stopped (${action})`, () => {
      const rollout = { onFailure: { threshold: 1, action } };
      const fleet = new Rewritten(EIGHT, rollout);
      const deadly = poolOf('workers', 666, rollout);
      fleet.sim.deadly.add(deadly.sha256);
      fleet.commit(deadly);
      fleet.rounds(10);
      assert.equal(fleet.sim.fleet.pools.get('workers')?.status?.phase, 'Halted');
      fleet.rewrite(BASE);
      fleet.rounds(10);
      assert.deepEqual(fleet.sim.granted, []);
    });
  }

  it('restart one node where that one fails with the file, and it keeps the file that it had', () => {
    const fleet = new Rewritten(EIGHT, { maxUnavailable: 1 });
    fleet.sim.deadlyBases.add(DEADLY_BASE);
    fleet.rewrite(DEADLY_BASE);
    fleet.rounds(40);
    assert.deepEqual([fleet.sim.granted, fleet.restarts()], [['n1'], { n1: 2 }], 'with the file, and back');
    const { phase, message, counts } = fleet.sim.fleet.pools.get('workers')?.status ?? {};
    assert.deepEqual([phase, counts?.updated, counts?.failed], ['Settled', 8, 0]);
    assert.match(message ?? '', /n2 waits: .*; its restart waits: node n1 failed with this config file of its own/);
    fleet.rewrite(OTHER_BASE);
    fleet.rounds(40);
    assert.deepEqual(fleet.restarts(), { ...once(EIGHT), n1: 3 }, 'another file is tried');
  });

  it('share the bound of the cluster where there are two pools', () => {
    const fleet = new Rewritten(EIGHT.slice(0, 4));
    const gpus = ['g1', 'g2', 'g3', 'g4'];
    for (const name of gpus) fleet.sim.addNode(nodeView(name, 'gpu'));
    const pools = [poolOf('workers', 100, { maxUnavailable: 2 }), poolOf('gpu', 64, { maxUnavailable: 2 })];
    fleet.settle(...pools);
    fleet.withCluster({ maxUnavailable: 1 });
    fleet.rewrite(BASE);
    fleet.rounds(60);
    assert.equal(fleet.most, 1);
    assert.deepEqual(fleet.restarts(), once([...gpus, ...EIGHT.slice(0, 4)].sort()));
  });

  it('restart the control plane one by one, and no node that is not Ready', () => {
    const fleet = new Rewritten([]);
    const labels = { pool: 'workers', 'node-role.kubernetes.io/control-plane': '' };
    const masters = ['m1', 'm2', 'm3'];
    for (const name of masters) fleet.sim.addNode(nodeView(name, 'workers', { labels }));
    for (const name of EIGHT) fleet.sim.addNode(nodeView(name, 'workers'));
    fleet.settle(poolOf('workers', 100, { maxUnavailable: 11 }));
    fleet.sim.addNode(nodeView('n8', 'workers', { ready: false }));
    fleet.rewrite(BASE);
    let most = 0;
    for (let round = 0; round < 20; round += 1) {
      fleet.rounds(1);
      most = Math.max(most, fleet.atTurn().filter((name) => masters.includes(name)).length);
    }
    assert.equal(most, 1);
    assert.deepEqual(fleet.restarts(), once([...masters, ...EIGHT.slice(0, 7)]));
    assert.deepEqual(fleet.holds(), ['not-ready 1']);
  });
});
