import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { desiredState } from '#reconciler/policy/desired.ts';
import { writeProof } from '#reconciler/policy/proof/record.ts';
import { createDueNotes, type NotedPass } from '#reconciler/reporting/notes/due-notes.ts';
import { NO_STATE, type SourceState } from '#reconciler/reporting/notes/source-state.ts';
import type { KubeletPoolStatus, PoolPhase } from '#shared/contract/api/kubelet-pool.ts';
import { commit, COMMIT_A, COMMIT_B, fleetOf, poolInCluster, recordOf, validPool } from '../../../support/fleet.ts';

const POOL = validPool('web', 110);
const COUNTS = { nodes: 4, updated: 4, updating: 0, pending: 0, failed: 0, noAgent: 0, drifted: 0 };

function pass(oid: string | null, status: KubeletPoolStatus, recorded: Partial<SourceState> = {}): NotedPass {
  const fleet = fleetOf({ pools: [poolInCluster(POOL, status)] });
  return {
    recorded: { ...NO_STATE, ...recorded },
    desired: desiredState(oid === null ? null : commit(oid, POOL), fleet, () => []),
    statuses: new Map([['web', status]]),
    fleet,
    limits: undefined,
    leftAlone: [],
  };
}
const at = (phase: PoolPhase, nodes = 4): KubeletPoolStatus => ({
  phase,
  commit: COMMIT_A,
  counts: { ...COUNTS, nodes },
  ...(phase === 'Settled' && { proof: writeProof([recordOf('', POOL.sha256)]) }),
});
const inForce = { commit: COMMIT_A };

/** Outcomes and numbers of what is due after each pass. */
function due(...passes: readonly NotedPass[]): readonly (readonly string[])[] {
  const notes = createDueNotes('demo', () => undefined);
  return passes.map((each) => {
    const { present, displaced } = notes(each);
    return [...(present === null ? [] : [present]), ...displaced].map(
      (note) => `${note.commit.slice(0, 1)} ${note.outcome} ${note.pools[0]?.counts?.nodes ?? '-'}`,
    );
  });
}

describe('the notes that are due', () => {
  it('follow a rollout, and say nothing more because nodes come and go when it is over', () => {
    const passes = [at('Progressing'), at('Settled'), at('Settled', 5), at('Progressing', 6), at('Halted', 6)];
    assert.deepEqual(due(...passes.map((status) => pass(COMMIT_A, status, inForce))), [
      ['a progressing 4'],
      ['a settled 4'],
      ['a settled 4'],
      ['a settled 4'],
      ['a halted 6'],
    ]);
  });

  it('are none of a commit of which it is on record that it is done, until something happens', () => {
    const done = { ...inForce, outcome: 'settled' };
    assert.deepEqual(due(pass(COMMIT_A, at('Progressing'), done), pass(COMMIT_A, at('Halted'), done)), [
      [],
      ['a halted 4'],
    ]);
  });

  it('call a commit that changes nothing as done as the one before, whatever nodes do meanwhile', () => {
    const settled = pass(COMMIT_A, at('Settled'), inForce);
    const next = (status: KubeletPoolStatus, pool = POOL): NotedPass => ({
      ...pass(COMMIT_B, status, inForce),
      desired: desiredState(commit(COMMIT_B, pool), settled.fleet, () => []),
    });
    const nextWord = (before: NotedPass, after: NotedPass): string | undefined => due(before, after)[1]?.[0];
    assert.equal(nextWord(settled, next(at('Progressing', 6))), 'b settled 4');
    const failing = { ...at('Progressing', 6), counts: { ...COUNTS, nodes: 6, failed: 1 } };
    assert.equal(nextWord(settled, next(failing)), 'b progressing 6');
    assert.equal(nextWord(settled, next(at('Halted', 6))), 'b halted 6');
    const wider = { ...POOL, spec: { ...POOL.spec, nodeSelector: { matchLabels: { more: 'nodes' } } } };
    for (const other of [validPool('web', 120), wider])
      assert.equal(nextWord(settled, next(at('Progressing', 6), other)), 'b progressing 6');
    const begun = pass(COMMIT_A, at('Progressing'), inForce);
    assert.equal(nextWord(begun, next(at('Progressing', 6))), 'b progressing 6', 'which was not done');
    const leftAlone = ['node n: it is in two pools'];
    const unclear = nextWord({ ...settled, leftAlone }, { ...next(at('Progressing', 6)), leftAlone });
    assert.equal(unclear, 'b progressing 6', 'of which something was wrong');
  });

  it('have the last word on a commit that another one displaced, as this process knew it', () => {
    const next = pass(COMMIT_B, { ...at('Progressing', 9), commit: COMMIT_B }, inForce);
    assert.deepEqual(due(pass(COMMIT_A, at('Progressing'), inForce), next), [
      ['a progressing 4'],
      ['b progressing 9', 'a superseded 4'],
    ]);
    const fresh = pass(COMMIT_B, at('Progressing', 9), inForce);
    assert.deepEqual(due(fresh), [['b progressing 9', 'a superseded 9']], 'from what the cluster says');
  });

  it('are none without a commit', () => assert.deepEqual(due(pass(null, at('Settled'))), [[]]));

  it('displace a commit also where the status of a pool cannot be put into words, which is told', () => {
    const errors: unknown[] = [];
    const status = { ...at('Progressing'), failures: 7 } as unknown as KubeletPoolStatus;
    const displacedAfter = (...before: readonly NotedPass[]): unknown => {
      const notes = createDueNotes('demo', (error) => errors.push(error));
      for (const each of before) notes(each);
      const { present, displaced } = notes(pass(COMMIT_B, status, inForce));
      assert.equal(present, null);
      return displaced.map(({ commit: oid, outcome, pools }) => [oid, outcome, pools.length]);
    };
    assert.deepEqual(displacedAfter(), [[COMMIT_A, 'superseded', 0]]);
    assert.deepEqual(displacedAfter(pass(COMMIT_A, at('Progressing'), inForce)), [[COMMIT_A, 'superseded', 1]]);
    assert.deepEqual(displacedAfter(pass(COMMIT_A, at('Settled'), inForce)), [[COMMIT_A, 'settled', 1]]);
    assert.equal(errors.length, 3);
  });
});
