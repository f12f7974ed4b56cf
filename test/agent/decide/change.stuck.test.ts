import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isOverdue } from '#agent/decide/change.ts';
import { decide } from '#agent/decide/decide.ts';
import type { Observation } from '#agent/decide/observation.ts';
import { DEFAULT_TIMING } from '#agent/decide/timing.ts';
import type { Change, State } from '#agent/decide/state.ts';
import { blocked, differ, run, table } from '../../support/agent/decision-table.ts';
import {
  A,
  B,
  fallingBack,
  INSTALLING,
  judging,
  onTrial,
  RESTARTING,
  seen,
  TERMS,
  wanting,
} from '../../support/agent/states.ts';

/** Two minutes to start, and three orders half a minute apart. */
const MOST_MS = 210_000;
/** A look counts five seconds. */
const LAST_LOOK_MS = MOST_MS - 5_000;
const installing = (spentMs: number): Change => ({ step: 'install', spentMs });
const restarting = (spentMs: number): Change => ({ ...RESTARTING, spentMs });
const refusing = (isFull: boolean): Partial<Observation> => ({
  fault: { reason: 'CannotInstall', message: 'it cannot be written', isFull },
});
const full = refusing(true);

table('a trial that does not get on', {
  'is given up where its files could not be put in place for three and a half minutes': [
    onTrial(installing(LAST_LOOK_MS)),
    seen(wanting(B), differ),
    'falling-back (install): B, active A, CannotInstall → install A',
  ],
  'goes on a millisecond before that': [
    onTrial(installing(LAST_LOOK_MS - 1)),
    seen(wanting(B), differ),
    'trial (install): B, good A → install B',
  ],
  'is not given up for want of room on the disk, however long that takes': [
    onTrial(installing(LAST_LOOK_MS)),
    seen(wanting(B), differ, full),
    'trial (install): B, good A → install B',
  ],
  'is given up where something that may go was in the way of its files for as long': [
    onTrial(installing(LAST_LOOK_MS)),
    seen(wanting(B), blocked(false)),
    'falling-back (install): B, active A, CannotInstall → install A',
  ],
  'waits for what may go until then': [
    onTrial(installing(LAST_LOOK_MS - 1)),
    seen(wanting(B), blocked(false)),
    'trial (install): B, good A',
  ],
  'is given up where the kubelet could not be restarted for as long': [
    onTrial(restarting(LAST_LOOK_MS)),
    seen(wanting(B)),
    'falling-back (install): B, active A, RestartFailed → install A',
  ],
  'waits for the restart of a kubelet that was down before, and still is': [
    onTrial({ ...RESTARTING, runBefore: null }),
    seen(wanting(B), run(null)),
    'trial (restart): B, good A',
  ],
});

table('a way back that does not get on', {
  'is never given up where the files can be put in place at any time': [
    fallingBack(A, installing(MOST_MS)),
    seen(wanting(B), differ),
    'falling-back (install): B, active A, CrashLoop → install A',
  ],
  'is never given up where the kubelet can be restarted at any time': [
    fallingBack(A, restarting(MOST_MS)),
    seen(wanting(B)),
    'falling-back (restart): B, active A, CrashLoop',
  ],
});

describe('the time in which a change did not get on', () => {
  const spent = (state: State, ...parts: readonly Partial<Observation>[]): number | undefined => {
    const { doing } = decide(state, seen(wanting(B), ...parts)).next;
    assert.ok(doing.phase !== 'idle' && 'change' in doing && doing.change.step === 'install');
    return doing.change.spentMs;
  };

  it('is no more than a call may hang, of a gap of which nobody knows', () => {
    assert.equal(spent(onTrial(INSTALLING), differ, { elapsedMs: 3_600_000 }), 120_000);
  });

  it('does not pass on a full disk', () => {
    assert.equal(spent(onTrial(installing(7_000)), differ, full), 7_000);
    assert.equal(spent(onTrial(installing(7_000)), differ, refusing(false)), 12_000);
  });

  it('is counted on the way back until that is overdue, and no longer: each count is written to disk', () => {
    assert.equal(spent(fallingBack(A, installing(LAST_LOOK_MS - 1)), differ), MOST_MS - 1);
    assert.equal(spent(fallingBack(A, installing(LAST_LOOK_MS + 1)), differ), MOST_MS);
    assert.equal(spent(fallingBack(A, installing(MOST_MS)), differ), MOST_MS);
  });
});

describe('a way back that only a person gets going again', () => {
  /** What is done; whether that is overdue. */
  const rows: readonly (readonly [string, Change, boolean])[] = [
    ['files that could not be put in place for three and a half minutes', installing(MOST_MS), true],
    ['files that could not be put in place for a millisecond less', installing(MOST_MS - 1), false],
    ['files that are being put in place for the first time', INSTALLING, false],
    ['a restart that did not come for three and a half minutes', restarting(MOST_MS), true],
    ['a restart that did not come for a millisecond less', restarting(MOST_MS - 1), false],
    ['a kubelet that is judged, however long', judging({ unhealthyMs: 600_000 }), false],
  ];
  for (const [what, change, expected] of rows) {
    it(`is ${expected ? '' : 'not '}one with ${what}`, () => {
      assert.equal(isOverdue(change, TERMS, DEFAULT_TIMING), expected);
    });
  }
});
