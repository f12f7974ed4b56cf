import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decide } from '#agent/decide/decide.ts';
import { PACE } from '#agent/decide/pace.ts';
import { targetIdOf } from '#agent/decide/guard.ts';
import { whenUnsaved } from '#agent/decide/unsaved.ts';
import type { Observation } from '#agent/decide/observation.ts';
import type { State } from '#agent/decide/state.ts';
import { A, C, fallingBack, idle, judging, onTrial, seen, wanting } from '../../support/agent/states.ts';

const armed: Partial<Observation> = { guard: { guard: 'armed', trial: 'any', to: targetIdOf(A) } };

function unsaved(state: State, ...parts: readonly Partial<Observation>[]) {
  return whenUnsaved(state, decide(state, seen(...parts)), PACE);
}

describe('on a disk that takes nothing', () => {
  it('a trial that has proved itself goes on, and its guard is told so', () => {
    const trial = onTrial(judging({ healthyMs: 599_999 }));
    const { next, actions } = unsaved(trial, armed);
    assert.equal(next, trial);
    assert.deepEqual(actions, [{ do: 'reassure-guard' }]);
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

  it('a node at rest does nothing', () => {
    assert.deepEqual(unsaved(idle(A), wanting(null)).next.doing.phase, 'falling-back');
    assert.deepEqual(unsaved(idle(A), wanting(A), { first: true }).actions, []);
  });
});
