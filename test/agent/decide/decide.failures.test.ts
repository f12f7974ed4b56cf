import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decide } from '#agent/decide/decide.ts';
import type { Observation } from '#agent/decide/observation.ts';
import { type FallingBack, MAX_REJECTED, type State, type Trial } from '#agent/decide/state.ts';
import {
  A,
  AT,
  B,
  broken,
  C,
  config,
  DOWN,
  ERROR_B,
  fallingBack,
  idle,
  INSTALLING,
  judging,
  onTrial,
  rejecting,
  RESTARTING,
  seen,
  wanting,
} from '../../support/agent/states.ts';

describe('what is remembered of failures', () => {
  it('a failed trial rejects its config and says why in a sentence', () => {
    const { next } = decide(
      onTrial(judging({ healthy: false, unhealthyMs: 115_000 })),
      seen(DOWN, { at: '2026-02-02T02:02:02Z' }),
    );
    const message =
      'general-bbbbbbbbbb failed its trial: the kubelet was not in order for 120 s: its health endpoint says: nobody listens. The node goes back to general-aaaaaaaaaa';
    const { name, sha256 } = B.source;
    const failure = { reason: 'NotHealthy', message, at: '2026-02-02T02:02:02Z' };
    assert.deepEqual(next.rejected, [{ name, sha256, apply: 'overlay', ...failure }]);
    assert.deepEqual(next.error, { ...failure, config: name });
  });

  it('an error keeps its time while it is the same', () => {
    const unavailable = {
      config: B,
      outcome: 'unavailable',
      failure: { reason: 'DownloadFailed', message: 'away' },
      retryInMs: 1,
    } as const;
    const first = decide(idle(A), seen(wanting(B), { staged: unavailable }));
    const second = decide(first.next, seen(wanting(B), { staged: unavailable, at: '2027-01-01T00:00:00Z' }));
    assert.equal(second.next, first.next);
    const others = [
      { ...unavailable, failure: { ...unavailable.failure, message: 'still away' } },
      { ...unavailable, failure: { ...unavailable.failure, reason: 'VersionUnknown' } } as const,
    ];
    for (const staged of others) {
      const later = decide(first.next, seen(wanting(B), { staged, at: '2027-01-01T00:00:00Z' }));
      assert.equal(later.next.error?.at, '2027-01-01T00:00:00Z');
    }
    const ofC = decide(
      first.next,
      seen(wanting(C), { staged: { ...unavailable, config: C }, at: '2027-01-01T00:00:00Z' }),
    );
    assert.equal(ofC.next.error?.config, C.source.name);
  });

  it('an error of an assignment that cannot be read names no config', () => {
    const failure = { reason: 'InvalidAssignment', message: 'no uid' } as const;
    const { next } = decide(idle(A), seen({ intent: { intent: 'invalid', failure } }));
    assert.deepEqual(next.error, { ...failure, at: AT });
    assert.equal(decide(next, seen({ intent: { intent: 'invalid', failure }, at: '2027-01-01T00:00:00Z' })).next, next);
  });

  it('a config that is tried again is no longer listed as rejected, from the moment that it is fetched', () => {
    const before: State = { ...rejecting(A), assigned: A, error: null };
    assert.deepEqual(decide(before, seen(wanting(B))).next.rejected, []);
    const waiting: State = { ...fallingBack(A, RESTARTING), assigned: C };
    assert.deepEqual(decide(waiting, seen(wanting(B))).next.rejected, []);
  });

  it('starting a trial clears the error of the one before', () => {
    const { next } = decide(rejecting(A), seen(wanting(C), { staged: { config: C, outcome: 'ready', warnings: [] } }));
    assert.equal(next.error, null);
    assert.equal(next.rejected.length, 1);
  });

  it('a rejected config shows its own error again when the assignment comes back to it', () => {
    const other = { reason: 'DownloadFailed', message: 'away', at: ERROR_B.at, config: C.source.name };
    assert.deepEqual(decide({ ...rejecting(A), error: other }, seen(wanting(B))).next.error, ERROR_B);
  });

  it('only twenty rejected configs are kept, the newest last', () => {
    assert.equal(MAX_REJECTED, 20);
    let state: State = idle(A);
    for (let index = 0; index < MAX_REJECTED + 5; index += 1) {
      const each = config(String.fromCodePoint(100 + index));
      const failure = { reason: 'ConfigInvalid', message: 'wrong' } as const;
      state = decide(state, seen(wanting(each), { staged: { config: each, outcome: 'refused', failure } })).next;
    }
    assert.equal(state.rejected.length, MAX_REJECTED);
    assert.equal(state.rejected.at(-1)?.sha256, state.assigned?.source.sha256);
  });

  it('a node that is no longer broken tells of the config again, and has nothing good but local', () => {
    const state: State = {
      ...broken({ healthy: true, healthyMs: 5_000 }),
      error: { ...ERROR_B, reason: 'KubeletBroken' },
    };
    const { next } = decide(state, seen(wanting(B)));
    assert.deepEqual(next.error, ERROR_B);
    assert.equal(next.lastKnownGood, null);
  });

  it('falling back to local forgets when lastKnownGood became that; falling back to it does not', () => {
    const toLocal: State = { ...fallingBack(null, judging({ healthyMs: 5_000 })), promotedAt: '2025-05-05T05:05:05Z' };
    assert.equal(decide(toLocal, seen()).next.promotedAt, null);
    const back: State = { ...fallingBack(A, judging({ healthyMs: 5_000 })), promotedAt: '2025-05-05T05:05:05Z' };
    assert.equal(decide(back, seen()).next.promotedAt, '2025-05-05T05:05:05Z');
  });
});

describe('a way back to a checkpoint that cannot be read', () => {
  const lost = (mayPass: boolean): Partial<Observation> => ({
    files: { files: 'lost', message: 'too many open files', mayPass },
  });

  it('waits where that may pass: a proved config is not given up for a moment', () => {
    const { next, actions } = decide(fallingBack(A, INSTALLING), seen(lost(true)));
    assert.deepEqual([next.lastKnownGood, (next.doing as FallingBack).to, actions], [A, A, []]);
  });

  it('leads to local where it is gone', () => {
    const { next } = decide(fallingBack(A, INSTALLING), seen(lost(false)));
    assert.deepEqual([next.lastKnownGood, (next.doing as FallingBack).to], [null, null]);
  });
});

describe('a trial that supersedes another', () => {
  it('expects the Node to be Ready where it was so before the first, which may have broken it', () => {
    const state = onTrial(judging(), { wasReady: true });
    const ready = { config: C, outcome: 'ready', warnings: [] } as const;
    const { next } = decide(state, seen(wanting(C), { staged: ready, nodeReady: 'no' }));
    assert.equal((next.doing as Trial).wasReady, true);
  });
});

describe('a restart that nothing came of', () => {
  const ordersAfter = (orders: number, waitedMs: number): number => {
    const { actions } = decide(onTrial({ ...RESTARTING, orders, waitedMs }), seen(wanting(B)));
    return actions.filter((action) => action.do === 'restart-kubelet').length;
  };

  it('is ordered again ever more seldom', () => {
    assert.deepEqual([ordersAfter(1, 114_999), ordersAfter(1, 115_000)], [0, 1]);
    assert.deepEqual([ordersAfter(2, 234_999), ordersAfter(2, 235_000)], [0, 1]);
    assert.equal(ordersAfter(9, 594_999), 0);
    assert.equal(ordersAfter(9, 595_000), 1);
  });

  it('is counted, and waited for from then on', () => {
    const { next } = decide(onTrial({ ...RESTARTING, orders: 2, waitedMs: 235_000 }), seen(wanting(B)));
    assert.deepEqual((next.doing as Trial).change, { ...RESTARTING, orders: 3, waitedMs: 0, spentMs: 5_000 });
  });

  it('says to the service manager which config, pool and commit it is for', () => {
    const [action] = decide(onTrial(INSTALLING), seen(wanting(B))).actions;
    assert.deepEqual(action, {
      do: 'restart-kubelet',
      because: 'trial of general-bbbbbbbbbb, pool general, commit c0ffee',
      target: B,
    });
  });
});
