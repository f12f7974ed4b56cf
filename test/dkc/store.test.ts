import assert from 'node:assert/strict';
import { decide } from '#agent/decide/decide.ts';
import { activeOf, type State } from '#agent/decide/state.ts';
import { A, B, idle, judging, onTrial, seen, wanting } from '../support/agent/states.ts';
import { see, table } from './scenario.ts';

/** What is assigned, what is good, and whether the kubelet has to be restarted when nothing is assigned any more. */
const RESETS: readonly (readonly [what: string, State, changes: boolean])[] = [
  ['with nothing at all', idle(null), false],
  ['with a first config on trial', onTrial(judging(), {}, null), true],
  // There the original left its kubelet as it was; but here the good config is the one that runs.
  ['with no assignment and a good config', { ...idle(A), assigned: null }, true],
  ['with one config, assigned and good,', idle(A), true],
  ['with another config on trial than its good one', onTrial(judging(), {}, A), true],
  ['with its older config on trial again', { ...onTrial(judging(), { config: A }, B), assigned: A }, true],
];

export const scenarios = see('the checkpoint store', [
  ...table(
    27,
    RESETS,
    ([what, , changes]) =>
      `a node ${what} is ${changes ? 'taken back' : 'left alone'} when nothing is assigned any more`,
    ([, state, changes]) => {
      const { next } = decide(state, seen(wanting(null)));
      assert.equal(next.doing.phase === 'falling-back', changes);
      assert.deepEqual([next.assigned, next.lastKnownGood, activeOf(next)], [null, null, null]);
    },
  ),
]);
