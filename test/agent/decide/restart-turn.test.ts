import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isTurnGranted, restartNeeded } from '#agent/decide/restart-turn.ts';
import type { Observation } from '#agent/decide/observation.ts';
import { type Config, INITIAL_STATE, type State } from '#agent/decide/state.ts';
import { contradicts, differ, run } from '../../support/agent/decision-table.ts';
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
  seen,
  wanting,
} from '../../support/agent/states.ts';

const OLD = 'a'.repeat(64);
const NEW = 'b'.repeat(64);
const newBase: Partial<Observation> = { base: { under: OLD, newer: { sha256: NEW, changes: true } } };
const stale: Partial<Observation> = { startedAsInstalled: false };
const unwatched: Partial<Observation> = { startWasSeen: false };
const unseen: Partial<Observation> = { running: { running: 'unseen', why: 'not allowed' } };
const spent: Partial<Observation> = { intent: { intent: 'config', config: B, isSpent: true } };
const localLost: Partial<Observation> = {
  files: { files: 'blocked', message: 'it is lost', forGood: false, isLocalLost: true },
};
const REPORTED: Config = { ...A, drift: 'report' };
const refused = (sha256: string): State => ({
  ...idle(A),
  refusedBase: { sha256, message: 'it failed', at: '2026-01-01T00:00:00Z' },
});

/** When; where the node stands; what is seen; the reason that a restart is asked for. */
const rows: readonly (readonly [when: string, state: State, seen: Observation, reason: string | null])[] = [
  ['all is as it was left', idle(A), seen(wanting(A)), null],
  ['the node’s own config is another', idle(A), seen(newBase), 'NewBase'],
  ['the API server is away as well', idle(A), seen({ intent: { intent: 'unknown' } }, newBase), 'NewBase'],
  [
    'the kubelet would see nothing of the node’s own new config',
    idle(A),
    seen({ base: { under: OLD, newer: { sha256: NEW, changes: false } } }),
    null,
  ],
  ['the node’s own new config was refused', refused(NEW), seen(newBase), null],
  ['the one that was refused is not the one that is there now', refused(OLD), seen(newBase), 'NewBase'],
  ['drift is only to be reported: a new config of the node’s own', idle(REPORTED), seen(newBase), null],
  ['drift is only to be reported: another running config', idle(REPORTED), seen(stale, contradicts), null],
  ['a trial is under way', onTrial(judging()), seen(newBase, stale, contradicts), null],
  ['the node is on its way back', fallingBack(A, INSTALLING), seen(newBase, stale, contradicts), null],
  ['the kubelet was started with other files', idle(A), seen(stale, contradicts), 'RunningOther'],
  ['nobody saw with which files it was started', idle(A), seen(unwatched, contradicts), 'RunningOther'],
  ['it was started with the right files, and runs something else', idle(A), seen(contradicts), null],
  ['the files have to be put back first', idle(A), seen(stale, contradicts, differ), null],
  ['it runs as meant, whatever was in place at its start', idle(A), seen(stale, unwatched), null],
  ['what it runs cannot be seen, nor was it started with these files', idle(A), seen(stale, unseen), 'RunningOther'],
  ['what it runs cannot be seen: it was started with these files', idle(A), seen(unseen), null],
  ['what it runs cannot be seen, and these files were in place at its start', idle(A), seen(unwatched, unseen), null],
  ['neither what it runs can be seen nor a run at all', idle(A), seen(stale, unseen, run(null)), null],
  ['no run is seen, but other values are', idle(A), seen(stale, contradicts, run(null)), 'RunningOther'],
  ['the node has its own config only, whatever is seen', idle(null), seen(newBase, stale, contradicts), null],
  ['an agent without a state finds an assignment that was carried out', INITIAL_STATE, seen(spent), 'StateLost'],
  ['a person has to provision the node’s own config first', INITIAL_STATE, seen(spent, localLost), null],
  ['an agent without a state finds a new assignment', INITIAL_STATE, seen(wanting(B)), null],
  ['an agent without a state finds no assignment', INITIAL_STATE, seen(wanting(null)), null],
  ['the agent knows of the assignment', { ...INITIAL_STATE, assigned: B }, seen(spent), null],
  ['the agent knows of a failure', { ...rejecting(null), assigned: null }, seen(spent), null],
  ['the agent knows of an assignment and of a failure', rejecting(null), seen(spent), null],
  ['nothing works on the node', { ...broken(), assigned: null, rejected: [] }, seen(spent), null],
];

describe('the restart that a node asks for', () => {
  for (const [when, state, observation, reason] of rows) {
    it(`is ${reason ?? 'none'} where ${when}`, () =>
      assert.equal(restartNeeded(state, observation)?.reason ?? null, reason));
  }

  it('names the new config of the node’s own, and says that the one before is kept until then', () => {
    assert.deepEqual(restartNeeded(idle(A), seen(newBase)), {
      reason: 'NewBase',
      seen: 'f00d',
      base: NEW,
      message:
        "the node's own kubelet config was changed: general-aaaaaaaaaa is tried over it in its turn, and runs over the one before until then",
    });
  });

  it('says what runs instead', () => {
    assert.deepEqual(restartNeeded(idle(A), seen(stale, contradicts)), {
      reason: 'RunningOther',
      seen: 'f00d',
      message: 'the kubelet has to restart to load general-aaaaaaaaaa: it runs maxPods=110 instead of 250',
    });
  });

  it('says why that cannot be seen', () => {
    assert.equal(
      restartNeeded(idle(A), seen(stale, unseen))?.message,
      'the kubelet has to restart to load general-aaaaaaaaaa: its files changed after its last start, and what it runs cannot be seen (not allowed)',
    );
  });

  it('names the config of which the agent lost what it knew', () => {
    assert.deepEqual(restartNeeded(INITIAL_STATE, seen(spent)), {
      reason: 'StateLost',
      seen: 'f00d',
      config: B.source.sha256,
      message: 'the agent lost its state: general-bbbbbbbbbb is installed and tried again in its turn',
    });
  });
});

describe('a turn', () => {
  const request = { reason: 'RunningOther', seen: 'f00d', message: 'it runs something else' } as const;

  it('is for the very restart that was asked for', () => {
    const granted = (turn: string): boolean =>
      isTurnGranted(request, seen({ intent: { intent: 'config', config: A, turn } }));
    assert.deepEqual([granted('f00d'), granted('beef')], [true, false]);
  });

  it('is nobody’s where none was given, or the API server is away', () => {
    assert.deepEqual(
      [isTurnGranted(request, seen(wanting(A))), isTurnGranted(request, seen({ intent: { intent: 'unknown' } }))],
      [false, false],
    );
  });
});
