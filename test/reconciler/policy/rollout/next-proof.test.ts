import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Group, memberOf, targetOf } from '#reconciler/policy/rollout/membership.ts';
import { nextProof } from '#reconciler/policy/rollout/next-proof.ts';
import { poolProof } from '#reconciler/policy/rollout/pool-proof.ts';
import { readProof, type Rendered, writeProof } from '#reconciler/policy/proof/record.ts';
import { toTimestamp } from '#shared/runtime/clock.ts';
import {
  COMMIT_A,
  COMMIT_B,
  desiredPool,
  nodeView,
  NOW,
  recordOf,
  settledNode,
  validPool,
} from '../../../support/fleet.ts';

const [OLD, NEXT] = [validPool('workers', 110), validPool('workers', 120)];
const STAND = { waves: null, analysis: undefined, isHalted: false, isOver: false, isOverNow: false };

/** The record of a pool that has proven this, after a pass in which the commit B is in force, with this payload. */
function next(proven: typeof OLD, commit: string | undefined, inForce: typeof OLD, rendered?: Rendered) {
  const pool = desiredPool(inForce);
  const view = nodeView('a', 'workers');
  const group: Group = { pool, members: [memberOf(view, settledNode(view, proven), targetOf(pool), 0, NOW)] };
  const current = { sha256: inForce.sha256, apply: 'overlay' } as const;
  const counts = { nodes: 1, proved: proven === inForce ? 1 : 0 };
  const state = proven === inForce ? 'proven' : 'unproven';
  const status = { proof: writeProof([{ ...recordOf('', proven.sha256), state, current, commit, ...counts }]) };
  const proof = nextProof(group, poolProof(group, { status, isOwn: true, rendered }, NOW), status, STAND, NOW + 60_000);
  const { commit: named, since } = readProof({ proof }).get('') ?? {};
  assert.equal(since, toTimestamp(NOW), 'the state is as it was');
  return { commit: named, isAsBefore: proof === status.proof };
}

const renders = (...payloads: readonly string[]): Rendered => new Map([[COMMIT_A, new Set(payloads)]]);
const kept = { commit: COMMIT_A, isAsBefore: true };
const corrected = { commit: COMMIT_B, isAsBefore: false };

describe('the commit in a record of what is proven', () => {
  it('is filled in by the one in force, where it is missing and that renders the same', () => {
    assert.deepEqual(next(OLD, undefined, OLD), corrected);
    assert.deepEqual(next(OLD, undefined, NEXT), { commit: undefined, isAsBefore: true });
  });

  it('stays when others come into force that render the same, as long as nothing speaks against it', () => {
    assert.deepEqual(next(OLD, COMMIT_A, OLD), kept);
    assert.deepEqual(next(OLD, COMMIT_A, OLD, new Map()), kept);
    assert.deepEqual(next(OLD, COMMIT_A, OLD, renders(NEXT.sha256, OLD.sha256)), kept);
  });

  for (const [what, rendered] of [
    ['it is gone', new Map([[COMMIT_A, null]])],
    ['it renders something else', renders(NEXT.sha256)],
    ['the pool was not there yet', renders()],
  ] as const) {
    it(`is replaced by the one in force where ${what} and that renders the same`, () => {
      assert.deepEqual(next(OLD, COMMIT_A, OLD, rendered), corrected);
      assert.deepEqual(next(OLD, COMMIT_A, NEXT, rendered), kept);
    });
  }
});
