import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeView } from '#reconciler/policy/fleet.ts';
import { LIFECYCLE } from '#reconciler/policy/rollout/lifecycle.ts';
import { type Group, type Member, memberOf } from '#reconciler/policy/rollout/membership.ts';
import { inTurn } from '#reconciler/policy/rollout/pool-turns.ts';
import { nodeView, NOW } from '../../../support/fleet.ts';

const member = (is: Partial<Member> = {}, view: Partial<NodeView> = {}): Member => ({
  ...memberOf(nodeView('a', 'workers', view), undefined, null, 0, NOW),
  lifecycle: LIFECYCLE.outdated,
  ...is,
});
const RESTS = member();
const CHANGES = member({ lifecycle: LIFECYCLE.changing });
const ON_TRIAL = member({ lifecycle: LIFECYCLE.onTrial });
const proved = (at: number): Member => member({ promotedAt: at });
const drained = (at: number): Member => member({}, { drain: { config: 'x', at } });
const inVain = (at: number, view: Partial<NodeView> = {}): Member =>
  member({}, { drainFailed: { config: 'x', at, times: 1 }, ...view });
const SETTLED = member({ lifecycle: LIFECYCLE.settled });

/** The members of the pool that goes first, and of the one that follows. */
const ROWS: readonly (readonly [string, readonly Member[], readonly Member[]])[] = [
  ['that holds no place', [RESTS], [CHANGES]],
  ['that holds fewer', [CHANGES, RESTS], [CHANGES, CHANGES]],
  ['that drains nobody', [RESTS], [drained(NOW)]],
  ['whose node gave its place back after its probation', [ON_TRIAL], [CHANGES]],
  ['that had none yet', [RESTS], [proved(NOW)]],
  ['whose last node promoted earlier', [proved(5), proved(1)], [proved(2), proved(6)]],
  ['whose node was drained in vain earlier', [inVain(5), RESTS], [proved(6)]],
  ['whose node promoted before another was drained in vain', [proved(5)], [inVain(6), RESTS]],
  ['that has others than those drained in vain', [CHANGES, RESTS, inVain(9)], [inVain(1), SETTLED]],
  ['that has others that can be changed', [proved(9)], [inVain(1), member({}, { cordoned: true })]],
  ['whose node that was drained in vain is cordoned by now', [inVain(1, { cordoned: true })], [proved(2)]],
];

describe('among pools that share places, the one goes first', () => {
  const pool = (members: readonly Member[]): { readonly group: Group } => ({ group: { pool: null, members } });
  for (const [name, first, second] of ROWS) {
    it(name, () => {
      const [one, other] = [pool(first), pool(second)];
      assert.deepEqual(inTurn([one, other]), [one, other]);
      assert.deepEqual(inTurn([other, one]), [one, other]);
    });
  }
});
