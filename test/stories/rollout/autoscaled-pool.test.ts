import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { commit, COMMIT_A, COMMIT_B, nodeView, validPool } from '../../support/fleet.ts';
import { FleetSimulation } from '../../support/fleet-simulation.ts';
import { after, AutoscaledPool, before, MINUTE, ROLLOUT } from '../../support/rollout/autoscaled-pool.ts';

describe('a pool in which nodes come and go', () => {
  it('is rolled in no more than 1.3 times of what it takes without, and settles', (t) => {
    const calm = new AutoscaledPool().roll(Number.POSITIVE_INFINITY);
    const moving = new AutoscaledPool().roll(5);
    t.diagnostic(`calm ${JSON.stringify(calm)}, with a join every 5 minutes ${JSON.stringify(moving)}`);
    assert.ok(moving.done <= 1.3 * calm.done);
    assert.ok(moving.settled <= 1.3 * calm.settled);
  });

  it('gives no new node the old config once the waves of the new one are done', () => {
    const pool = new AutoscaledPool();
    pool.roll(5);
    const name = pool.join();
    for (let minute = 0; minute < 15; minute += 1) pool.minute();
    assert.equal(pool.fleet.exposed.get(before.sha256)?.has(name) ?? false, false);
    assert.equal(pool.fleet.fleet.kubeletNodes.get(name)?.status?.lastKnownGood?.sha256, after.sha256);
  });

  it('is settled, and stays so, once those that joined in the rollout have followed', () => {
    const pool = new AutoscaledPool();
    pool.roll(5);
    const phases = new Set<string | undefined>();
    for (let minute = 1; minute <= 180; minute += 1) {
      if (minute % 5 === 0) pool.join();
      pool.minute();
      if (minute > 120) phases.add(pool.fleet.fleet.pools.get('workers')?.status?.phase);
    }
    assert.deepEqual([...phases], ['Settled']);
  });

  for (const [when, early] of [
    ['while its first node tries a config that kills kubelets', false],
    ['seconds before such a config is committed', true],
  ] as const) {
    it(`shows no joining node that config: they join ${when}`, () => {
      const pool = new AutoscaledPool();
      const join = (): void => {
        for (let index = 0; index < 50; index += 1) pool.join();
        for (let pass = 0; pass < 3; pass += 1) pool.fleet.reconcile();
      };
      pool.fleet.deadly.add(after.sha256);
      if (early) join();
      pool.fleet.inForce = commit(COMMIT_B, after);
      for (let pass = 0; pass < 3; pass += 1) pool.fleet.reconcile();
      if (!early) join();
      for (let minute = 0; minute < 40; minute += 1) pool.minute();
      assert.equal(pool.fleet.exposed.get(after.sha256)?.size, 1, 'maxUnavailable');
      assert.notEqual(pool.fleet.fleet.pools.get('workers')?.status?.halt, undefined);
    });
  }

  it('takes canaries that join after the rollout began: nobody else could end their wave', () => {
    const canary = { selector: { matchLabels: { canary: 'yes' } }, soak: '1m' };
    const fleet = new FleetSimulation();
    for (const name of ['a', 'b']) fleet.addNode(nodeView(name, 'workers'));
    fleet.inForce = commit(COMMIT_A, validPool('workers', 100, { rollout: { ...ROLLOUT, canary } }));
    fleet.rounds(5);
    fleet.now += MINUTE;
    const labels = { pool: 'workers', canary: 'yes' };
    fleet.addNode(nodeView('late', 'workers', { labels, createdAt: fleet.now, readySince: fleet.now }));
    for (let round = 0; round < 20; round += 1) {
      fleet.rounds(1);
      fleet.now += MINUTE;
    }
    const told = [...fleet.fleet.kubeletNodes].filter(([, { spec }]) => spec?.configSource !== undefined);
    assert.deepEqual(told.map(([name]) => name).sort(), ['a', 'b', 'late']);
  });
});
