import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decide } from '#agent/decide/decide.ts';
import { targetIdOf, trialIdOf } from '#agent/decide/trial-guard.ts';
import type { Observation } from '#agent/decide/observation.ts';
import type { Target } from '#agent/decide/state.ts';
import { A, AT, B, INSTALLING, onTrial, seen, wanting } from '../../support/agent/states.ts';

const firedTo = (to: Target): Partial<Observation> => ({
  guard: {
    guard: 'fired',
    trial: trialIdOf({ config: B, since: AT }),
    to: targetIdOf(to),
    cause: 'silence',
    at: AT,
    starts: 1,
    restarted: true,
  },
});

/** The way to local of a node whose guard took its trial back, and that has lost the record of what was good before. */
const wayToLocal = (to: Target) => {
  const { doing } = decide(onTrial(INSTALLING, {}, null), seen(wanting(null), firedTo(to))).next;
  return doing.phase === 'falling-back' && doing.change.step === 'install' ? doing.change.running : undefined;
};

describe('a kubelet that the guard started', () => {
  it('needs no restart where it was led to what the node goes back to', () => {
    assert.notEqual(wayToLocal(null), undefined);
  });

  it('is restarted where it was led to something else, of which nobody knows any more', () => {
    assert.equal(wayToLocal(A), undefined);
  });
});
