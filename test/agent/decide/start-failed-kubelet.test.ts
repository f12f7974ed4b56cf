import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decide } from '#agent/decide/decide.ts';
import type { Observation } from '#agent/decide/observation.ts';
import type { State } from '#agent/decide/state.ts';
import { A, B, DOWN, idle, seen, wanting } from '../../support/agent/states.ts';

const FAILED: Partial<Observation> = {
  ...DOWN,
  service: { state: 'failed', run: null, automaticRestarts: 5, lastExit: 'exit-code 1' },
  running: { running: 'unseen', why: 'nobody listens' },
  downMs: 15_000,
};
const starts = (state: State, ...parts: readonly Partial<Observation>[]): boolean =>
  decide(state, seen(wanting(A), FAILED, ...parts)).actions.some((action) => action.do === 'start-kubelet');

describe('a kubelet at rest that is down for good', () => {
  it('is started with what it proved, without a turn', () => {
    const { next, actions } = decide(idle(A), seen(wanting(A), FAILED));
    assert.equal(next.doing.phase, 'idle');
    assert.deepEqual(actions, [
      { do: 'start-kubelet', because: 'it is down for good, and the files that it proved are in place', target: A },
    ]);
  });

  it('is given a quarter of a minute, in which somebody else may start it', () => {
    assert.ok(!starts(idle(A), { downMs: 14_999 }));
    assert.equal(decide(idle(A), seen(wanting(A), FAILED, { downMs: 0 })).recheckAfterMs, 15_000);
  });

  it('is started again every ten minutes where it dies again', () => {
    assert.ok(!starts(idle(A), { startAgeMs: 599_999 }));
    assert.ok(starts(idle(A), { startAgeMs: 600_000 }));
  });

  it('is started where the pool wants drift only told, and while it waits for a turn for something else', () => {
    assert.ok(starts(idle({ ...A, drift: 'report' })));
    assert.ok(starts(idle(A), { base: { under: null, newer: { sha256: 'b'.repeat(64), changes: true } } }));
  });

  for (const [what, part] of [
    ['that a person stopped', { service: { state: 'stopped', run: null, automaticRestarts: 0, wasStopped: true } }],
    ['that is about to be started', { service: { state: 'starting', run: null, automaticRestarts: 1 } }],
    ['of which nobody knows', { service: { state: 'unknown', run: null, automaticRestarts: null } }],
    ['over files that are not those', { files: { files: 'differ', path: '/etc/kubelet' } }],
    ['that is to be given up', { leaving: 'asked' }],
  ] as const satisfies readonly (readonly [string, Partial<Observation>])[]) {
    it(`is left down, one ${what}`, () => assert.ok(!starts(idle(A), part)));
  }

  it('is started where it stopped and nobody knows why', () => {
    assert.ok(starts(idle(A), { service: { state: 'stopped', run: null, automaticRestarts: null } }));
  });

  it('is somebody else’s where nothing of ours was proven', () => {
    assert.ok(!decide(idle(null), seen(FAILED)).actions.some((action) => action.do === 'start-kubelet'));
  });

  it('does not keep the node from another config', () => {
    const staged = { config: B, outcome: 'ready', warnings: [] } as const;
    assert.equal(decide(idle(A), seen(FAILED, wanting(B), { staged })).next.doing.phase, 'trial');
  });
});
