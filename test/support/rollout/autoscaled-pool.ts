import assert from 'node:assert/strict';
import { commit, COMMIT_A, COMMIT_B, nodeView, validPool } from '../fleet.ts';
import { FleetSimulation } from '../fleet-simulation.ts';

export const MINUTE = 60_000;
const TRIAL = 10 * MINUTE;
const LIFE = 60 * MINUTE;
const LONG_LIVED = 12;
export const ROLLOUT = {
  maxUnavailable: 1,
  probation: 'full',
  soak: '0s',
  onFailure: { threshold: 1, action: 'halt' as const },
};
export const before = validPool('workers', 100, { rollout: ROLLOUT });
export const after = validPool('workers', 110, { rollout: ROLLOUT });

/** A pool with nodes that stay and, where asked for, a node that joins every few minutes and lives for an hour. */
export class AutoscaledPool {
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
  roll(joinEvery: number, mostMinutes = 24 * 60): { readonly done: number; readonly settled: number } {
    this.fleet.inForce = commit(COMMIT_B, after);
    let done = 0;
    for (let minute = 1; minute <= mostMinutes; minute += 1) {
      if (minute % joinEvery === 0) this.join();
      this.minute();
      const updated = [...this.fleet.fleet.kubeletNodes].filter(
        ([name, { status }]) => name.startsWith('long-') && status?.lastKnownGood?.sha256 === after.sha256,
      );
      if (done === 0 && updated.length === LONG_LIVED) done = minute;
      if (done > 0 && this.settled() === after.sha256) return { done, settled: minute };
    }
    assert.fail(`the rollout did not end in time: nodes that stay were done after ${done} minutes`);
  }
}
