import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decide } from '#agent/decide/decide.ts';
import { DEFAULT_TIMING } from '#agent/decide/timing.ts';
import { targetIdOf } from '#agent/decide/trial-guard.ts';
import { afterFailedSave } from '#agent/decide/save-failed.ts';
import type { Observation } from '#agent/decide/observation.ts';
import type { State } from '#agent/decide/state.ts';
import {
  A,
  B,
  broken,
  C,
  DOWN,
  fallingBack,
  idle,
  judging,
  onTrial,
  seen,
  wanting,
} from '../../support/agent/states.ts';

const armed: Partial<Observation> = { guard: { guard: 'armed', trial: 'any', to: targetIdOf(A) } };

function unsaved(state: State, ...parts: readonly Partial<Observation>[]) {
  return afterFailedSave(state, decide(state, seen(...parts)), DEFAULT_TIMING);
}

describe('on a disk that takes nothing', () => {
  it('a trial that has proven itself goes on, and its guard is told so', () => {
    const trial = onTrial(judging({ healthyMs: 599_999 }));
    const { next, actions } = unsaved(trial, armed);
    assert.equal(next, trial);
    assert.deepEqual(actions, [{ do: 'reassure-guard' }]);
  });

  it('a trial without a guard that has proven itself only goes on', () => {
    const trial = onTrial(judging({ healthyMs: 599_999 }));
    assert.deepEqual(unsaved(trial).actions, []);
  });

  it('so does a way back that is at its end: its guard would restart the kubelet once more', () => {
    const back = fallingBack(A, judging({ healthyMs: 9_000 }));
    const { next, actions } = unsaved(back, armed);
    assert.equal(next, back);
    assert.deepEqual(actions, [{ do: 'reassure-guard' }]);
  });

  it('a trial that another was to take the place of is judged by nobody any more, and left to its guard', () => {
    const trial = onTrial(judging());
    const ready = { config: C, outcome: 'ready', warnings: [] } as const;
    const { next, actions } = unsaved(trial, armed, wanting(C), { staged: ready });
    assert.equal(next, trial);
    assert.deepEqual(actions, []);
  });

  it('a trial that is on the disk goes on', () => {
    const trial = onTrial(judging({ healthyMs: 1_000 }));
    const decision = decide(trial, seen(armed, wanting(B)));
    assert.equal(afterFailedSave(trial, decision, DEFAULT_TIMING), decision);
    assert.notEqual(decision.next, trial);
  });

  it('a trial does not go on with another assignment than the disk has', () => {
    const trial = onTrial(judging());
    const refused = { config: C, outcome: 'refused', failure: { reason: 'ConfigInvalid', message: 'no' } } as const;
    assert.equal(unsaved(trial, wanting(C), { staged: refused }).next, trial);
  });

  it('the guard of a node that was at rest, or broken, is not told that anybody watches', () => {
    assert.deepEqual(unsaved(idle(A), wanting(A), armed).actions, []);
    assert.deepEqual(unsaved(broken({ healthy: true, healthyMs: 9_000 }), armed).actions, []);
  });

  it('looks become rarer: a minute apart at rest, a quarter of one where a trial is watched', () => {
    const after = (state: State, faults: number, ...parts: readonly Partial<Observation>[]): number =>
      afterFailedSave(state, decide(state, seen(...parts)), DEFAULT_TIMING, faults).recheckAfterMs;
    const staged = { config: B, outcome: 'ready', warnings: [] } as const;
    const wants = [wanting(B), { staged }];
    assert.deepEqual(
      [1, 2, 3, 4, 5, 99].map((faults) => after(idle(A), faults, ...wants)),
      [5_000, 10_000, 20_000, 40_000, 60_000, 60_000],
    );
    const proved = onTrial(judging({ healthyMs: 599_999 }));
    assert.deepEqual(
      [1, 2, 3, 99].map((faults) => after(proved, faults, armed)),
      [5_000, 10_000, 15_000, 15_000],
    );
    const judged = onTrial(judging({ healthyMs: 1_000 }));
    assert.deepEqual(
      [3, 4].map((faults) => after(judged, faults, armed, wanting(B))),
      [5_000, 15_000],
    );
  });

  it('a way back that is given up is given up, as the disk would lead to it again', () => {
    const hopeless = fallingBack(null, judging({ healthy: false, unhealthyMs: 115_000 }));
    const decision = decide(hopeless, seen(DOWN));
    assert.equal(decision.next.doing.phase, 'broken');
    assert.equal(afterFailedSave(hopeless, decision, DEFAULT_TIMING), decision);
  });

  it('a node at rest does nothing', () => {
    assert.deepEqual(unsaved(idle(A), wanting(null)).next.doing.phase, 'falling-back');
    assert.deepEqual(unsaved(idle(A), wanting(A), { first: true }).actions, []);
  });
});
