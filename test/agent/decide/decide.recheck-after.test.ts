import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decide } from '#agent/decide/decide.ts';
import { trialIdOf } from '#agent/decide/trial-guard.ts';
import type { Observation, Rechecked } from '#agent/decide/observation.ts';
import type { Change, Reboot, State } from '#agent/decide/state.ts';
import { blocked, differ, lost, ready, unavailable } from '../../support/agent/decision-table.ts';
import {
  A,
  AT,
  B,
  broken,
  DOWN,
  fallingBack,
  idle,
  INSTALLING,
  judging,
  onTrial,
  RESTARTING,
  seen,
  wanting,
} from '../../support/agent/states.ts';

/** `systemctl stop kubelet`, by a person. */
const stopped: Partial<Observation> = {
  ...DOWN,
  service: { state: 'stopped', run: null, automaticRestarts: 0, wasStopped: true, lastExit: 'exit-code 0' },
};
/** The service manager tells by itself when something happens. */
const unwatched: Partial<Observation> = { pollMs: 60_000 };
const polled: Partial<Observation> = { pollMs: 1_000 };
const disarmed: Partial<Observation> = { guard: { guard: 'disarmed' } };
const refusing = (retryInMs: number): Partial<Observation> => ({
  guardFault: { trial: trialIdOf({ config: B, since: AT }), message: 'no', tries: 1, isFull: false, retryInMs },
});
const reboot: Reboot = { by: 'systemd', boot: 'boot-1', timeoutMs: 3_600_000 };
const rebooting: Change = { step: 'reboot', bootId: 'boot-1', orders: 1, waitedMs: 0 };
const leaving: Partial<Observation> = { leaving: 'asked', ...wanting(null) };

const CHECKED: Rechecked = {
  config: A,
  remedy: 'put-back',
  result: { outcome: 'ready', warnings: [] },
  isNew: true,
  retryInMs: 0,
};

const UNCHECKED = { outcome: 'unavailable', failure: { reason: 'DownloadFailed', message: 'no answer' } } as const;
const uncheckable = (retryInMs: number): Partial<Observation> => ({
  rechecked: {
    ...CHECKED,
    result: UNCHECKED,
    retryInMs,
  },
});

/** A sentence; where the node stands; what is seen; in how many milliseconds to look again. */
const rows: readonly (readonly [string, State, Observation, number])[] = [
  ['a minute later at rest', idle(A), seen(wanting(A)), 60_000],
  ['at once while what drifted is checked', idle(A), seen(wanting(A), differ), 0],
  ['soon after a repair', idle(A), seen(wanting(A), differ, { rechecked: CHECKED }), 5_000],
  ['when drift may be checked again', idle(A), seen(differ, uncheckable(2_000)), 2_000],
  ['as at rest while repairs are paused', idle(A), seen(differ, { repairAges: [4, 3, 2, 1] }), 60_000],
  ['as at rest where that is later', idle(A), seen(differ, uncheckable(90_000)), 60_000],
  ['at once while a config is fetched', idle(A), seen(wanting(B)), 0],
  ['when a config may be fetched again', idle(A), seen(wanting(B), { staged: unavailable(2_000) }), 2_000],
  ['at once when a trial begins', idle(A), seen(wanting(B), { staged: ready }), 0],
  ['at once when the files are in place', onTrial(INSTALLING), seen(unwatched), 0],
  ['soon when they are not', onTrial(INSTALLING), seen(unwatched, differ), 5_000],
  ['sooner where the service manager has to be polled', onTrial(INSTALLING), seen(polled, differ), 1_000],
  [
    'soon when something keeps them from being put in place',
    onTrial(INSTALLING),
    seen(unwatched, blocked(false)),
    5_000,
  ],
  ['at once when the guard was told to be ready', onTrial(INSTALLING), seen(disarmed), 0],
  ['soon when the guard cannot be made ready', onTrial(INSTALLING), seen(unwatched, disarmed, refusing(3_000)), 5_000],
  ['when that may be tried again', onTrial(INSTALLING), seen(unwatched, disarmed, refusing(12_000)), 12_000],
  ['before that where it is long', onTrial(INSTALLING), seen(unwatched, disarmed, refusing(60_000)), 15_000],
  ['soon while a restart is waited for', onTrial(RESTARTING), seen(unwatched), 5_000],
  [
    'soon while somebody keeps the kubelet stopped',
    onTrial({ ...RESTARTING, runBefore: null, orders: 0 }),
    seen(unwatched, stopped),
    5_000,
  ],
  ['soon after it was ordered again', onTrial({ ...RESTARTING, waitedMs: 120_000 }), seen(unwatched), 5_000],
  ['soon while a boot is waited for', onTrial(rebooting, { config: { ...B, reboot } }), seen(unwatched), 5_000],
  ['soon while a trial is judged', onTrial(judging()), seen(unwatched), 5_000],
  ['sooner where that is polled', onTrial(judging()), seen(polled), 1_000],
  ['a minute later after a promotion', onTrial(judging({ healthyMs: 600_000 })), seen(), 60_000],
  ['at once when a trial fails', onTrial(judging({ unhealthyMs: 600_000 })), seen(DOWN), 0],
  ['at once when the files are back', fallingBack(A, INSTALLING), seen(unwatched), 0],
  ['soon when they are not back', fallingBack(A, INSTALLING), seen(unwatched, differ), 5_000],
  ['soon on the way back', fallingBack(A, judging()), seen(unwatched), 5_000],
  ['sooner on the way back where that is polled', fallingBack(A, judging()), seen(polled), 1_000],
  ['a minute later at its end', fallingBack(A, judging({ healthyMs: 10_000 })), seen(), 60_000],
  ['now and then at a broken node', broken(), seen(unwatched, DOWN), 15_000],
  ['soon at a broken node that is well', broken(), seen(unwatched), 5_000],
  ['sooner at a broken node that has to be polled', broken(), seen(polled), 1_000],
  ['at once while a lost checkpoint is fetched', idle(A), seen(wanting(A), lost), 0],
  [
    'when a lost checkpoint may be fetched again',
    idle(A),
    seen(wanting(A), lost, { staged: { ...unavailable(2_000), config: A } }),
    2_000,
  ],
  [
    'as at rest when it is fetched again',
    idle(A),
    seen(wanting(A), lost, { staged: { ...unavailable(0), config: A } }),
    60_000,
  ],
  [
    'when what is asked about may be checked again',
    idle(A),
    seen(wanting(A), { candidate: { config: B, retry: '', result: UNCHECKED, retryInMs: 2_000 } }),
    2_000,
  ],
  ['soon while something keeps a node from being left', idle(null), seen(leaving, lost), 5_000],
];

describe('the next look is', () => {
  for (const [when, state, observation, expected] of rows) {
    it(when, () => assert.equal(decide(state, observation).recheckAfterMs, expected));
  }
});
