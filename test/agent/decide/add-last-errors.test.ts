import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { forAll } from '../../support/property.ts';
import { isFailing } from '#agent/decide/failing-kubelet.ts';
import { decide } from '#agent/decide/decide.ts';
import { targetIdOf } from '#agent/decide/trial-guard.ts';
import { lastErrorsQuery, toldBy, withLastErrors } from '#agent/decide/add-last-errors.ts';
import type { Observation } from '#agent/decide/observation.ts';
import type { State } from '#agent/decide/state.ts';
import type { LastErrorsQuery } from '#agent/ports/last-errors.ts';
import { arbitraryObservation, arbitraryState } from '../../support/agent/arbitrary.ts';
import {
  A,
  AT,
  B,
  broken,
  DOWN,
  fallingBack,
  idle,
  judging,
  onTrial,
  QUIET,
  rejecting,
  RESTARTING,
  seen,
  wanting,
} from '../../support/agent/states.ts';

const tired = judging({ healthy: false, unhealthyMs: 200_000 });
const LATER = '2026-01-01T01:00:00Z';
const before = { run: 'run-0', bootId: 'boot-1' };
const fired = (restarted: boolean, to = 'elsewhere'): Partial<Observation> => ({
  guard: {
    guard: 'fired',
    trial: `${B.source.name}/${B.source.sha256}/overlay@${AT}`,
    to,
    cause: 'starts',
    at: undefined,
    starts: 5,
    restarted,
  },
});

const REFUSED = { sha256: '3'.repeat(64), message: 'it failed', at: AT };
const UNREADABLE = { intent: 'invalid', failure: { reason: 'InvalidAssignment', message: 'no uid' } } as const;

/** When; where the node stands; what is seen; which lines are wanted. */
const ROWS: readonly (readonly [string, State, Observation, LastErrorsQuery | undefined])[] = [
  ['a trial fails', onTrial(tired, { before }), seen(wanting(B), DOWN), { since: AT, notOf: ['run-0'] }],
  ['a trial fails over local', onTrial(tired, {}, null), seen(wanting(B), DOWN), { since: AT, notOf: [] }],
  ['the guard has taken it back', onTrial(tired), seen(wanting(B), fired(true)), { since: AT, notOf: ['run-1'] }],
  ['it has not restarted the kubelet yet', onTrial(tired), seen(wanting(B), fired(false)), { since: AT, notOf: [] }],
  [
    'the kubelet was not healthy before either',
    onTrial(tired, { wasHealthy: false }),
    seen(wanting(B), DOWN),
    { since: AT, notOf: [] },
  ],
  ['it flaps', onTrial(judging({ lapses: 4 })), seen(wanting(B)), { since: AT, notOf: [] }],
  ['its Node is not Ready', onTrial(tired), seen(wanting(B), { nodeReady: 'no' }), { since: AT, notOf: [] }],
  [
    'its Node comes under pressure',
    onTrial(tired, { strain: QUIET.strain }),
    seen(wanting(B), { strain: { ...QUIET.strain, pressures: ['MemoryPressure'] } }),
    { since: AT, notOf: [] },
  ],
  ['it cannot be restarted', onTrial({ ...RESTARTING, spentMs: 210_000 }), seen(wanting(B)), { since: AT, notOf: [] }],
  [
    'the machine rebooted again, of boots before the present one',
    onTrial(judging(), { boots: 2 }),
    seen(wanting(B), { bootId: 'boot-2', service: { state: 'running', run: 'run-9', automaticRestarts: 0 } }),
    { since: AT, notOf: ['run-9'] },
  ],
  [
    'lastKnownGood fails too, in the run that the guard began',
    fallingBack(A, tired),
    seen(DOWN, fired(true, targetIdOf(A))),
    { since: undefined, notOf: [] },
  ],
  ['lastKnownGood fails too', fallingBack(A, tired), seen(DOWN), { since: undefined, notOf: [] }],
  ['local fails too', fallingBack(null, tired), seen(DOWN), { since: undefined, notOf: [] }],
  ['a trial goes on', onTrial(judging()), seen(wanting(B)), undefined],
  ['a trial ends well', onTrial(judging({ healthyMs: 600_000 })), seen(wanting(B)), undefined],
  [
    'a trial ends well on a node that once refused a local config',
    { ...onTrial(judging({ healthyMs: 600_000 })), refusedBase: REFUSED },
    seen(wanting(B)),
    undefined,
  ],
  ['a trial is superseded', onTrial(tired), seen(wanting(A), DOWN), undefined],
  [
    'the kubelet runs something else: it has nothing to say of that',
    onTrial(judging({ healthy: false, unhealthyMs: 20_000 })),
    seen(wanting(B), { running: { running: 'contradicts', differences: ['maxPods=1'] } }),
    undefined,
  ],
  [
    'the way back goes on to local, after lastKnownGood failed',
    { ...fallingBack(null, judging()), error: { reason: 'FallbackFailed', message: 'both failed', at: AT } },
    seen(),
    undefined,
  ],
  ['a way back goes on', fallingBack(A, judging()), seen(), undefined],
  ['a rejected config is assigned again', { ...rejecting(A), error: null }, seen(wanting(B)), undefined],
  [
    'a rejected config is assigned again on the way back from it',
    { ...fallingBack(A, judging()), error: null },
    seen(wanting(B)),
    undefined,
  ],
  ['what is wanted cannot be read', idle(A), seen({ intent: UNREADABLE }), undefined],
  ['the kubelet is down at rest', idle(A), seen(wanting(A), DOWN), undefined],
  ['it stays broken', broken(), seen(wanting(B), DOWN), undefined],
];

describe('the kubelet’s last words', () => {
  for (const [when, state, observation, expected] of ROWS) {
    it(`${expected === undefined ? 'are not asked for' : 'are asked for'} when ${when}`, () => {
      const looked = { ...observation, at: LATER };
      assert.deepEqual(lastErrorsQuery(state, decide(state, looked), looked), expected);
    });
  }

  it('stand in the error and in the rejection alike, and nowhere else', () => {
    const state: State = {
      ...onTrial(tired),
      refusedBase: REFUSED,
      rejected: rejecting(A).rejected.map((entry) => ({ ...entry, sha256: A.source.sha256 })),
    };
    const decision = decide(state, seen(wanting(B), DOWN));
    const { next } = withLastErrors(decision, toldBy(state, decision), ['the newest', 'one', 'two']);
    const said = /\. The kubelet’s last error: “the newest”; before it: “one”, “two”$/;
    assert.match(next.error?.message ?? '', said);
    assert.match(next.rejected.at(-1)?.message ?? '', said);
    assert.equal(next.rejected[0]?.message, 'B failed');
    assert.equal(next.refusedBase, REFUSED);
    assert.deepEqual(withLastErrors(decision, toldBy(state, decision), []), decision);
  });

  it('stand with the node’s new own config that failed', () => {
    const [base, newer] = ['1'.repeat(64), '2'.repeat(64)];
    const error = { reason: 'DownloadFailed', message: 'away', at: AT };
    const state: State = { ...onTrial(tired, { config: { ...A, base: newer } }, { ...A, base }), error };
    const decision = decide(state, seen(DOWN));
    assert.notEqual(lastErrorsQuery(state, decision, seen(DOWN)), undefined);
    const { next } = withLastErrors(decision, toldBy(state, decision), ['no such file']);
    assert.match(next.refusedBase?.message ?? '', /keeps the one before\. The kubelet’s last error: “no such file”$/);
    assert.equal(next.error, error, 'that is about something else');
  });

  it('change nothing but messages, whatever the node does', () => {
    const plain = ({ error, rejected, refusedBase, ...rest }: State): unknown => ({
      ...rest,
      error: error && { ...error, message: '' },
      rejected: rejected.map((entry) => ({ ...entry, message: '' })),
      refusedBase: refusedBase && { ...refusedBase, message: '' },
    });
    forAll(arbitraryState, arbitraryObservation, (state, observation) => {
      const decision = decide(state, observation);
      const told = withLastErrors(decision, toldBy(state, decision), ['one']);
      assert.deepEqual(plain(told.next), plain(decision.next));
      assert.deepEqual(told.actions, decision.actions);
    });
  });

  it('are asked for at a change of phase, or once at rest: so never twice for one failure', () => {
    forAll(arbitraryState, arbitraryObservation, (state, observation) => {
      const decision = decide(state, observation);
      if (lastErrorsQuery(state, decision, observation) === undefined) return;
      if (isFailing(decision.next)) {
        const again = decide(decision.next, observation);
        assert.equal(lastErrorsQuery(decision.next, again, observation), undefined);
        return;
      }
      assert.notEqual(decision.next.doing, state.doing);
      assert.ok(['falling-back', 'broken'].includes(decision.next.doing.phase));
    });
  });
});
