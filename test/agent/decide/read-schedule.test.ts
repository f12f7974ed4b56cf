import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Intent } from '#agent/decide/observation.ts';
import type { State } from '#agent/decide/state.ts';
import { maxNodeAgeMs, needsLease, planConfigz, readinessOf } from '#agent/decide/read-schedule.ts';
import {
  A,
  B,
  broken,
  fallingBack,
  idle,
  INSTALLING,
  judging,
  onTrial,
  rejecting,
  RESTARTING,
  wanting,
} from '../../support/agent/states.ts';

const MINUTE = 60_000;

describe('/configz', () => {
  const AT = 5_000;
  const last = { run: 'run-1', at: AT };
  const starting = { ...last, isPassing: true };
  const rows: readonly (readonly [when: string, Parameters<typeof planConfigz>, 'read' | 'keep' | 'pass'])[] = [
    ['at rest for the first time', [idle(A), 'run-1', undefined, AT], 'read'],
    ['at rest a millisecond before 15 minutes are over', [idle(A), 'run-1', last, AT + 15 * MINUTE - 1], 'keep'],
    ['at rest after 15 minutes', [idle(A), 'run-1', last, AT + 15 * MINUTE], 'read'],
    ['at rest at once of another run of the kubelet', [idle(A), 'run-2', last, AT], 'read'],
    ['at rest at once of a kubelet that is down since', [idle(A), null, last, AT], 'read'],
    [
      'at rest a millisecond before 50 s are over, of a kubelet that was just starting',
      [idle(A), 'run-1', starting, AT + 49_999],
      'keep',
    ],
    ['at rest after 50 s, of a kubelet that was just starting', [idle(A), 'run-1', starting, AT + 50_000], 'read'],
    ['at rest with a rejected config', [rejecting(A), 'run-1', last, AT + 1], 'keep'],
    ['at every look at a trial that is judged', [onTrial(judging()), 'run-1', last, AT], 'read'],
    ['before the kubelet was restarted for a trial', [onTrial(RESTARTING), 'run-1', undefined, AT], 'pass'],
    ['before a trial is installed', [onTrial(INSTALLING), 'run-1', undefined, AT], 'pass'],
    ['on the way back', [fallingBack(A, judging()), 'run-1', undefined, AT], 'pass'],
    ['of a broken node', [broken(), 'run-1', undefined, AT], 'pass'],
  ];
  for (const [when, question, expected] of rows) {
    it(`${when}: ${expected}`, () => assert.equal(planConfigz(...question).configz, expected));
  }
});

describe('the age that a reading of the Node may have', () => {
  const [OLD, NEVER]: readonly [number, Intent] = [3 * MINUTE, { intent: 'unknown' }];
  const rows: readonly (readonly [when: string, State, Intent, runAgeMs: number, expected: number])[] = [
    ['at rest', idle(A), wanting(A).intent, OLD, 30 * MINUTE],
    ['at rest while the API server is away', idle(A), NEVER, OLD, 30 * MINUTE],
    ['for three minutes after the kubelet was started', idle(A), NEVER, OLD - 1, MINUTE],
    ['for half a minute after the kubelet was started', idle(A), NEVER, MINUTE / 2 - 1, 4_000],
    ['where another config is wanted', idle(A), wanting(B).intent, OLD, 0],
    ['where it has its turn', idle(A), { intent: 'config', config: A, turn: 'f00d' }, OLD, 0],
    ['in a trial', onTrial(judging()), wanting(B).intent, OLD, 0],
    ['on the way back from a trial', fallingBack(A, judging()), wanting(A).intent, OLD, 30 * MINUTE],
  ];
  for (const [when, state, intent, runAgeMs, expected] of rows) {
    it(`${when}: ${expected / MINUTE} minutes`, () => assert.equal(maxNodeAgeMs(state, intent, runAgeMs), expected));
  }
});

describe('a Node that is called Ready', () => {
  it('is doubted in a trial only, where the Lease is asked', () => {
    assert.equal(needsLease(onTrial(judging()), 'yes'), true);
    assert.equal(needsLease(onTrial(judging()), 'no'), false);
    assert.equal(needsLease(onTrial(judging()), 'unknown'), false);
    assert.equal(needsLease(idle(A), 'yes'), false);
    assert.equal(needsLease(fallingBack(A, judging()), 'yes'), false);
  });

  it('is not known to be Ready where its Lease is stale', () => {
    assert.deepEqual([readinessOf('yes', true), readinessOf('yes', false)], ['unknown', 'yes']);
    assert.deepEqual([readinessOf('no', false), readinessOf('unknown', false)], ['no', 'unknown']);
  });
});
