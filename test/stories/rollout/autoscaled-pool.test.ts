import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { commit, COMMIT_B, nodeView, poolSpec, validPool } from '../../support/fleet.ts';
import { HOUR, LivingWorld, MINUTE } from '../../support/liveness/living-world.ts';
import { minutes } from './support/drive-fleet.ts';
import { settledFleet, statusOf, told } from './support/settled-fleet.ts';

const { rollout } = poolSpec();
const JOINS_EVERY_MS = 5 * MINUTE;

/** A pool that has its newest config, and goes on with a node that joins every five minutes and lives for an hour. */
function rolled(): LivingWorld {
  const world = new LivingWorld([{ name: 'blue', nodes: 12, joinsEveryMs: JOINS_EVERY_MS, spec: { rollout } }]);
  assert.notEqual(world.settlesWithin(4 * HOUR), null);
  return world;
}

describe('a pool in which nodes come and go', () => {
  it('gives no new node the old config once the waves of the new one are done', () => {
    const world = rolled();
    const name = world.join('blue');
    world.run(15 * MINUTE);
    assert.equal(world.sim.exposed.get(world.payload('blue', 0).sha256)?.has(name) ?? false, false);
    assert.equal(world.sim.fleet.kubeletNodes.get(name)?.status?.lastKnownGood?.sha256, world.payload('blue').sha256);
  });

  it('is settled, and stays so, once those that joined in the rollout have followed', () => {
    const world = rolled();
    world.run(2 * HOUR);
    const phases = new Set<string | undefined>();
    world.run(HOUR, () => {
      const { now, fleet } = world.sim;
      // But for the minute in which one joins, and hears what to run.
      if ((now - world.began) % JOINS_EVERY_MS >= MINUTE) phases.add(fleet.pools.get('blue')?.status?.phase);
    });
    assert.deepEqual([...phases], ['Settled']);
  });

  for (const [when, early] of [
    ['while its first node tries a config that kills kubelets', false],
    ['seconds before such a config is committed', true],
  ] as const) {
    it(`shows no joining node that config: they join ${when}`, () => {
      const [before, after] = [validPool('workers', 100), validPool('workers', 110)];
      const serving = Array.from({ length: 12 }, (_, index) => [`long-${index}`, 'workers']);
      const fleet = settledFleet(Object.fromEntries(serving), before);
      minutes(fleet, 10);
      assert.equal(statusOf(fleet)?.settled?.sha256, before.sha256);
      fleet.deadly.add(after.sha256);
      const join = (): void => {
        const view = { createdAt: fleet.now, readySince: fleet.now };
        for (let index = 0; index < 50; index += 1) fleet.addNode(nodeView(`spot-${index}`, 'workers', view));
      };
      const push = (): void => void (fleet.inForce = commit(COMMIT_B, after));
      for (const each of early ? [join, push] : [push, join]) {
        each();
        for (let pass = 0; pass < 3; pass += 1) fleet.reconcile();
      }
      minutes(fleet, 40);
      assert.equal(fleet.exposed.get(after.sha256)?.size, 1, 'maxUnavailable');
      assert.notEqual(statusOf(fleet)?.halt, undefined);
    });
  }

  it('takes canaries that join after the rollout began: nobody else could end their wave', () => {
    const canary = { selector: { matchLabels: { canary: 'yes' } }, soak: '1m' };
    const pool = validPool('workers', 100, { rollout: { ...rollout, canary } });
    const fleet = settledFleet({ a: 'workers', b: 'workers' }, pool);
    fleet.now += MINUTE;
    const labels = { pool: 'workers', canary: 'yes' };
    fleet.addNode(nodeView('late', 'workers', { labels, createdAt: fleet.now, readySince: fleet.now }));
    minutes(fleet, 20, 1);
    assert.deepEqual(told(fleet), { a: pool.configName, b: pool.configName, late: pool.configName });
  });
});
