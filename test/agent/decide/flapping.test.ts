import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decide } from '#agent/decide.ts';
import type { Observation } from '#agent/observation.ts';
import type { State } from '#agent/state.ts';
import { run } from '../../support/agent/decision-table.ts';
import { B, DOWN, judging, onTrial, seen, TERMS, wanting } from '../../support/agent/states.ts';

const UP: Partial<Observation> = {};

/** Looks every five seconds. @returns where the node stands after them, or as soon as the trial is over */
function through(looks: readonly Partial<Observation>[], maxRestarts = 0): State {
  const terms = { ...B, trial: { ...TERMS, maxRestarts } };
  let state = onTrial(judging(), { config: terms });
  for (const look of looks) {
    if (state.doing.phase === 'trial') state = decide(state, seen(wanting(terms), look)).next;
  }
  return state;
}

const lapse = [DOWN, DOWN, DOWN, UP, UP];

describe('a kubelet that is healthy and not healthy by turns', () => {
  it('fails its trial, though it never was down for long', () => {
    assert.equal(through([...lapse, ...lapse]).error?.reason, 'Flapping');
  });

  it('is forgiven as often as restarts are, and once more', () => {
    assert.equal(through(lapse).doing.phase, 'trial');
    assert.equal(through([...lapse, ...lapse, ...lapse], 2).doing.phase, 'trial');
    assert.equal(through([...lapse, ...lapse, ...lapse, ...lapse], 2).error?.reason, 'Flapping');
  });

  it('does not flap by answering late now and then', () => {
    const late = [DOWN, UP, UP];
    assert.equal(through(Array.from({ length: 20 }, () => late).flat()).doing.phase, 'trial');
  });

  it('does not flap by being restarted: that is counted by itself', () => {
    const restart = (count: number) => [
      { ...DOWN, ...run(null, count) },
      { ...DOWN, ...run(`run-${count + 1}`, count) },
      { ...DOWN, ...run(`run-${count + 1}`, count) },
      run(`run-${count + 1}`, count),
    ];
    assert.equal(through([restart(1), restart(2), restart(3), restart(4)].flat(), 4).doing.phase, 'trial');
    assert.equal(through([restart(1), restart(2), restart(3), restart(4)].flat(), 3).error?.reason, 'CrashLoop');
  });
});
