import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decide } from '#agent/decide/decide.ts';
import type { Observation } from '#agent/decide/observation.ts';
import type { Config, State, Trial } from '#agent/decide/state.ts';
import {
  A,
  AT,
  B,
  broken,
  C,
  DOWN,
  idle,
  INSTALLING,
  judging,
  onTrial,
  RESTARTING,
  seen,
  wanting,
} from '../../support/agent/states.ts';

/** SHA-256 of the node's new own config. */
const NEW = 'b'.repeat(64);

describe('a trial that begins', () => {
  const ready = { config: B, outcome: 'ready', warnings: ['swap is on'] } as const;
  const began = (state: State, ...parts: readonly Partial<Observation>[]): Trial =>
    decide(state, seen(wanting(B), { staged: ready }, ...parts)).next.doing as Trial;

  it('knows what it came upon', () => {
    assert.deepEqual(began(idle(A)), {
      phase: 'trial',
      config: B,
      since: AT,
      wasReady: true,
      wasHealthy: true,
      minor: 34,
      before: { run: 'run-1', bootId: 'boot-1' },
      strain: { pressures: [], outOfMemory: {}, pods: null, bootId: 'boot-1' },
      warnings: ['swap is on'],
      change: INSTALLING,
    });
    // One that has no such condition yet was read.
    for (const nodeReady of ['no', 'unknown'] as const) assert.equal(began(idle(A), { nodeReady }).wasReady, false);
  });

  it('waits until the Node can be read: what was not seen before would not be missed', () => {
    const strain = { pressures: null, outOfMemory: {}, pods: null, bootId: 'boot-1' };
    const unread = seen(wanting(B), { staged: ready, nodeReady: 'unknown', strain });
    const { next, actions } = decide(idle(A), unread);
    assert.deepEqual([next.doing.phase, next.error?.reason, actions], ['idle', 'DownloadFailed', []]);
    const later = decide(next, seen(wanting(B), { staged: ready })).next;
    assert.deepEqual([later.doing.phase, later.error], ['trial', null]);
    // What is on trial, or broken already, waits for nothing.
    assert.equal((decide(onTrial(judging(), { config: C }), unread).next.doing as Trial).config, B);
    assert.equal(decide({ ...broken(), rejected: [] }, unread).next.doing.phase, 'trial');
  });

  it('knows no run that has what the node falls back to, where that cannot be told', () => {
    assert.equal(began(idle(A), { startedAsInstalled: false }).before, null);
    assert.equal(began(idle(A), { service: { state: 'starting', run: null, automaticRestarts: 0 } }).before, null);
    assert.equal(began({ ...broken(), rejected: [] }).before, null);
  });

  it('knows no warnings, and the run that the way back leads to, where the node’s own config is on trial', () => {
    const { next } = decide(
      idle(A),
      seen({
        intent: { intent: 'config', config: A, turn: seen().fingerprint },
        base: { under: 'a'.repeat(64), newer: { sha256: NEW, changes: true } },
        rechecked: {
          config: { ...A, base: NEW },
          remedy: 'try-over',
          result: { outcome: 'ready', warnings: [] },
          isNew: true,
          retryInMs: 0,
        },
      }),
    );
    const { warnings, before } = next.doing as Trial;
    assert.deepEqual([warnings, before], [[], { run: 'run-1', bootId: 'boot-1' }]);
  });

  it('took the place of one whose kubelet was healthy before it: so was this one’s', () => {
    const over = (wasHealthy: boolean): Trial =>
      decide(
        onTrial(judging(), { wasHealthy, wasReady: false }),
        seen(wanting(C), DOWN, { staged: { ...ready, config: C }, nodeReady: 'no' }),
      ).next.doing as Trial;
    assert.deepEqual([over(true).wasHealthy, over(false).wasHealthy], [true, false]);
    assert.equal(over(true).wasReady, false);
  });
});

describe('a trial that ends well', () => {
  it('says over which base in all that is written down of it', () => {
    const over: Config = { ...B, base: NEW };
    const proved = judging({ healthyMs: B.trial.durationMs });
    const state: State = { ...onTrial(proved, { config: over }), assigned: B };
    const { next } = decide(state, seen(wanting(B), { base: { under: NEW, newer: null } }));
    assert.deepEqual([next.doing.phase, next.lastKnownGood, next.assigned], ['idle', over, over]);
  });
});

describe('a trial that is over already, as the agent died between two files', () => {
  const over = (promotedAt: string | null): State => ({ ...onTrial(judging()), lastKnownGood: B, promotedAt });
  const look = seen(wanting(B), { at: '2027-01-01T00:00:00Z' });

  it('keeps the time of its promotion, and has that of this look where it has none', () => {
    assert.equal(decide(over(AT), look).next.promotedAt, AT);
    assert.equal(decide(over(null), look).next.promotedAt, '2027-01-01T00:00:00Z');
  });
});

describe('the node’s own config, which changes under a trial', () => {
  const OLD = 'a'.repeat(64);
  const overOld: Config = { ...B, base: OLD };
  const under = (state: State): unknown =>
    (decide(state, seen(wanting(B), { base: { under: NEW, newer: null } })).next.doing as Trial).config.base;

  it('is the one that the config is laid over, as long as the files are not in place', () => {
    assert.equal(under(onTrial(INSTALLING, { config: overOld })), NEW);
    assert.equal(under(onTrial(INSTALLING)), NEW);
  });

  it('is the one of before once the restart is ordered: that is what the kubelet reads', () => {
    assert.equal(under(onTrial(RESTARTING, { config: overOld })), OLD);
    assert.equal(under(onTrial(judging(), { config: overOld })), OLD);
  });

  it('is not refused where there is none any more, and the config fails without it', () => {
    const refusedBase = { sha256: NEW, message: 'it failed', at: AT };
    const failing = onTrial(judging({ unhealthyMs: 600_000 }), { config: A }, { ...A, base: OLD });
    const { next } = decide({ ...failing, refusedBase }, seen(wanting(A), DOWN));
    assert.deepEqual([next.doing.phase, next.refusedBase], ['falling-back', refusedBase]);
  });
});

describe('the same config on other terms', () => {
  const terms = {
    trial: { ...B.trial, durationMs: 30_000 },
    drift: 'report',
    allowFields: ['port'],
    tolerate: ['x'],
  } as const;
  const changed: Config = { ...B, ...terms };

  it('has them from now on, on trial and after it', () => {
    const { next } = decide(onTrial(judging()), seen(wanting(changed)));
    assert.deepEqual([next.assigned, (next.doing as Trial).config, next.lastKnownGood], [changed, changed, A]);
    const rested = decide(idle(B), seen(wanting(changed))).next;
    assert.deepEqual([rested.assigned, rested.lastKnownGood], [changed, changed]);
  });

  it('shares them with nothing that has the same payload in another way', () => {
    const other: Config = { ...B, apply: 'replace' };
    const { next } = decide(onTrial(judging(), {}, other), seen(wanting(changed)));
    assert.deepEqual(next.lastKnownGood, other);
  });

  it('changes nothing where they are the same', () => {
    const state = idle(B);
    assert.equal(decide(state, seen(wanting(B))).next, state);
  });
});
