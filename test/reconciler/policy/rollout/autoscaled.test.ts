import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { commit, COMMIT_A, COMMIT_B, nodeView, validPool } from '../../../support/fleet.ts';
import { FleetSimulation } from '../../../support/fleet-simulation.ts';

const MINUTE = 60_000;
const TRIAL = 10 * MINUTE;
const LIFE = 60 * MINUTE;
const LONG_LIVED = 12;
const ROLLOUT = { maxUnavailable: 1, soak: '0s', onFailure: { threshold: 1, action: 'halt' as const } };
const before = validPool('workers', 100, { rollout: ROLLOUT });
const after = validPool('workers', 110, { rollout: ROLLOUT });

/** A pool with nodes that stay and, where asked for, a node that joins every few minutes and lives for an hour. */
class AutoscaledPool {
  readonly fleet = new FleetSimulation();
  private readonly trials = new Map<string, number>();
  private readonly born = new Map<string, number>();
  private joined = 0;

  constructor() {
    for (let index = 0; index < LONG_LIVED; index += 1) this.fleet.addNode(nodeView(`long-${index}`, 'workers'));
    this.fleet.inForce = commit(COMMIT_A, before);
    while (this.settled() !== before.sha256) this.minute();
  }

  settled(): string | undefined {
    return this.fleet.fleet.pools.get('workers')?.status?.settled?.sha256;
  }

  join(): string {
    const name = `spot-${this.joined}`;
    this.joined += 1;
    const { now } = this.fleet;
    this.born.set(name, now);
    this.fleet.addNode(nodeView(name, 'workers', { createdAt: now, readySince: now }));
    return name;
  }

  /** Agents hear at once and try for ten minutes. */
  minute(): void {
    const { fleet } = this;
    for (const [name, at] of this.born) {
      if (fleet.now - at < LIFE) continue;
      fleet.removeNode(name);
      this.born.delete(name);
    }
    for (let pass = 0; pass < 3; pass += 1) fleet.reconcile();
    for (const [name, { metadata, status }] of fleet.fleet.kubeletNodes) {
      const hears = (status?.observedGeneration ?? 0) < (metadata.generation ?? 0);
      const ends = status?.phase === 'Trial' && fleet.now - (this.trials.get(name) ?? 0) >= TRIAL;
      if (hears) this.trials.set(name, fleet.now);
      if (hears || ends) fleet.agentStep(name);
      else fleet.beat(name);
    }
    fleet.now += MINUTE;
  }

  /** Minutes until every node that stays runs the new config, and until the pool settled on it. */
  roll(joinEvery: number): { readonly done: number; readonly settled: number } {
    this.fleet.inForce = commit(COMMIT_B, after);
    let done = 0;
    for (let minute = 1; minute < 24 * 60; minute += 1) {
      if (minute % joinEvery === 0) this.join();
      this.minute();
      const updated = [...this.fleet.fleet.kubeletNodes].filter(
        ([name, { status }]) => name.startsWith('long-') && status?.lastKnownGood?.sha256 === after.sha256,
      );
      if (done === 0 && updated.length === LONG_LIVED) done = minute;
      if (done > 0 && this.settled() === after.sha256) return { done, settled: minute };
    }
    assert.fail(`the rollout did not end in a day: nodes that stay were done after ${done} minutes`);
  }
}

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
