import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decide } from '#agent/decide/decide.ts';
import { guardLimitsOf, targetIdOf, trialIdOf, wantOfGuard } from '#agent/decide/guard.ts';
import type { GuardFault, GuardSeen } from '#agent/ports/guard.ts';
import type { Observation } from '#agent/decide/observation.ts';
import type { FallingBack, State, Trial } from '#agent/decide/state.ts';
import { blocked, differ, ready, rebooted, run, table } from '../../support/agent/decision-table.ts';
import {
  A,
  AT,
  B,
  C,
  DOWN,
  fallingBack,
  idle,
  INSTALLING,
  judging,
  onTrial,
  RESTARTING,
  seen,
  TERMS,
  wanting,
} from '../../support/agent/states.ts';

const TRIAL_OF_B = trialIdOf({ config: B, since: AT });
const RUN_1 = { run: 'run-1', bootId: 'boot-1' };

const disarmed: Partial<Observation> = { guard: { guard: 'disarmed' } };
const armed = (trial = TRIAL_OF_B, to = targetIdOf(A)): Partial<Observation> => ({
  guard: { guard: 'armed', trial, to },
});
const fired = (parts: Partial<Extract<GuardSeen, { guard: 'fired' }>> = {}): Partial<Observation> => ({
  guard: {
    guard: 'fired',
    trial: TRIAL_OF_B,
    to: targetIdOf(A),
    cause: 'starts',
    at: AT,
    starts: 5,
    restarted: true,
    ...parts,
  },
});
const refusing = (tries: number, parts: Partial<GuardFault> = {}): Partial<Observation> => ({
  guardFault: { trial: TRIAL_OF_B, message: 'no such directory', tries, isFull: false, retryInMs: 0, ...parts },
});

table('a trial on a node with a guard', [
  [
    'begins with arming it',
    idle(A),
    seen(wanting(B), { staged: ready }, disarmed),
    'trial (install): assigned B, active B, good A, no error',
    ['arm-guard'],
  ],
  [
    'begins with the files where it is armed for it already: the agent died between the two',
    idle(A),
    seen(wanting(B), { staged: ready }, armed()),
    'trial (install): assigned B, active B, good A, no error',
    ['reassure-guard', 'install B'],
  ],
  [
    'begins with nothing where it could not be armed for it: the next look ends it',
    idle(A),
    seen(wanting(B), { staged: ready }, disarmed, refusing(12)),
    'trial (install): assigned B, active B, good A, no error',
    [],
  ],
  [
    'installs nothing before it is armed',
    onTrial(INSTALLING),
    seen(wanting(B), disarmed, differ),
    'trial (install): assigned B, active B, good A, no error',
    ['arm-guard'],
  ],
  [
    'goes on once it is armed for this very trial',
    onTrial(INSTALLING),
    seen(wanting(B), armed(), differ),
    'trial (install): assigned B, active B, good A, no error',
    ['reassure-guard', 'install B'],
  ],
  [
    'leaves a kubelet that is not healthy to it, as long as nothing could be installed',
    onTrial(INSTALLING),
    seen(wanting(B), armed(), differ, DOWN),
    'trial (install): assigned B, active B, good A, no error',
    ['install B'],
  ],
  [
    'has it armed anew where it is armed for another trial',
    onTrial(INSTALLING),
    seen(wanting(B), armed('another'), differ),
    'trial (install): assigned B, active B, good A, no error',
    ['arm-guard'],
  ],
  [
    'tries to arm it again where that failed',
    onTrial(INSTALLING),
    seen(wanting(B), disarmed, refusing(11)),
    'trial (install): assigned B, active B, good A, no error',
    ['arm-guard'],
  ],
  [
    'is not held where it cannot be armed',
    onTrial(INSTALLING),
    seen(wanting(B), disarmed, refusing(12)),
    'falling-back (install): assigned B, active A, good A, GuardFailed',
    ['install A'],
  ],
  [
    'does not try again before its time, whatever wakes the agent',
    onTrial(INSTALLING),
    seen(wanting(B), disarmed, refusing(3, { retryInMs: 1 })),
    'trial (install): assigned B, active B, good A, no error',
    [],
  ],
  [
    'waits for room on a disk that is full, however often that was looked for',
    onTrial(INSTALLING),
    seen(wanting(B), disarmed, refusing(500, { isFull: true, retryInMs: 1 })),
    'trial (install): assigned B, active B, good A, no error',
    [],
  ],
  [
    'looks for room again in its time',
    onTrial(INSTALLING),
    seen(wanting(B), disarmed, refusing(500, { isFull: true })),
    'trial (install): assigned B, active B, good A, no error',
    ['arm-guard'],
  ],
  [
    'is not blamed for what kept the guard of an earlier trial from being armed',
    onTrial(INSTALLING),
    seen(wanting(B), disarmed, refusing(12, { trial: 'an earlier one' })),
    'trial (install): assigned B, active B, good A, no error',
    ['arm-guard'],
  ],
  [
    'is held all the same where there can be no guard',
    onTrial(INSTALLING),
    seen(wanting(B), differ),
    'trial (install): assigned B, active B, good A, no error',
    ['install B'],
  ],
  [
    'has it armed anew before it orders another restart, where it was lost in mid-change',
    onTrial({ ...RESTARTING, waitedMs: TERMS.startTimeoutMs }),
    seen(wanting(B), disarmed),
    'trial (restart): assigned B, active B, good A, no error',
    ['arm-guard'],
  ],
  [
    'ends where it was lost in mid-change and cannot be armed anew: nobody waits with a kubelet that may be down',
    onTrial({ ...RESTARTING, waitedMs: TERMS.startTimeoutMs }),
    seen(wanting(B), armed('', ''), refusing(1, { isFull: true }), DOWN),
    'falling-back (install): assigned B, active A, good A, GuardFailed',
    ['disarm-guard', 'install A'],
  ],
  [
    'reassures it while it is judged',
    onTrial(judging()),
    seen(wanting(B), armed()),
    'trial (judge): assigned B, active B, good A, no error',
    ['reassure-guard'],
  ],
  [
    'takes it away with the promotion',
    onTrial(judging({ healthyMs: 595_000 })),
    seen(wanting(B), armed()),
    'idle: assigned B, active B, good B, no error',
    ['disarm-guard', 'collect-garbage'],
  ],
]);

table('a guard that took a trial back', [
  [
    'has the trial fail, for starts',
    onTrial(judging()),
    seen(wanting(B), fired()),
    'falling-back (install): assigned B, active A, good A, CrashLoop',
    ['disarm-guard', 'install A'],
  ],
  [
    'has it begin again without a verdict, because nobody was there',
    onTrial(RESTARTING),
    seen(wanting(B), fired({ cause: 'silence' }), { at: '2026-01-01T00:12:00Z' }),
    'trial (install): assigned B, active B, good A, no error',
    ['arm-guard'],
  ],
  [
    'has it begin again in another boot as well, whatever it had proved',
    onTrial(judging({ healthyMs: 595_000 })),
    seen(wanting(B), fired({ cause: 'silence' }), rebooted, { at: '2026-01-01T00:12:00Z' }),
    'trial (install): assigned B, active B, good A, no error',
    ['arm-guard'],
  ],
  [
    'has it begin again while the API server is away',
    onTrial(judging()),
    seen(fired({ cause: 'silence' }), { at: '2026-01-01T00:12:00Z' }),
    'trial (install): assigned B, active B, good A, no error',
    ['arm-guard'],
  ],
  [
    'has the trial fail, because nobody was there for the third time',
    onTrial(RESTARTING, { unwatched: 2 }),
    seen(wanting(B), fired({ cause: 'silence' })),
    'falling-back (install): assigned B, active A, good A, AgentSilent',
    ['disarm-guard', 'install A'],
  ],
  [
    'has it begin again where the kubelet was never told of the config',
    onTrial(INSTALLING),
    seen(wanting(B), fired({ cause: 'silence' }), { at: '2026-01-01T00:12:00Z' }),
    'trial (install): assigned B, active B, good A, no error',
    ['arm-guard'],
  ],
  [
    'has the trial fail, because the kubelet was down',
    onTrial(judging()),
    seen(wanting(B), fired({ cause: 'down' })),
    'falling-back (install): assigned B, active A, good A, NotHealthy',
    ['disarm-guard', 'install A'],
  ],
  [
    'has the trial fail for a kubelet that was down, though nothing was installed yet',
    onTrial(INSTALLING),
    seen(wanting(B), fired({ cause: 'down' })),
    'falling-back (install): assigned B, active A, good A, NotHealthy',
    ['disarm-guard', 'install A'],
  ],
  [
    'has it begin again where the note of why is lost, because that accuses nobody',
    onTrial(judging()),
    seen(wanting(B), fired({ cause: 'unknown' }), { at: '2026-01-01T00:12:00Z' }),
    'trial (install): assigned B, active B, good A, no error',
    ['arm-guard'],
  ],
  [
    'has the trial fail where the note of why is lost for the third time',
    onTrial(judging(), { unwatched: 2 }),
    seen(wanting(B), fired({ cause: 'unknown' })),
    'falling-back (install): assigned B, active A, good A, AgentSilent',
    ['disarm-guard', 'install A'],
  ],
  [
    'says nothing of another trial',
    onTrial(judging()),
    seen(wanting(B), fired({ trial: 'another' })),
    'trial (judge): assigned B, active B, good A, no error',
    [],
  ],
  [
    'has a config that was promoted already prove itself once more',
    onTrial(judging(), {}, B),
    seen(wanting(B), fired({ cause: 'silence' })),
    'trial (install): assigned B, active B, good local, no error',
    ['arm-guard'],
  ],
  [
    'is put away on a node at rest',
    idle(A),
    seen(wanting(A), fired()),
    'idle: assigned A, active A, good A, no error',
    ['disarm-guard'],
  ],
]);

table('the way back on a node with a guard', [
  [
    'keeps it where it leads the same way, and lets it go that way where files cannot be put back',
    fallingBack(A, INSTALLING),
    seen(armed(), differ),
    'falling-back (install): assigned B, active A, good A, CrashLoop',
    ['install A'],
  ],
  [
    'reassures it when the files are back',
    fallingBack(A, RESTARTING),
    seen(armed()),
    'falling-back (restart): assigned B, active A, good A, CrashLoop',
    ['reassure-guard'],
  ],
  [
    'keeps it where it leads to what is good as well, as long as the kubelet may still run the trial’s config',
    onTrial(judging()),
    seen(wanting(null), armed()),
    'falling-back (install): assigned local, active local, good local, no error',
    ['install local'],
  ],
  [
    'takes it away then',
    fallingBack(null, judging(), { because: 'unassigned' }),
    seen(wanting(null), armed()),
    'falling-back (judge): assigned local, active local, good local, CrashLoop',
    ['disarm-guard'],
  ],
  [
    'takes it away first where what it leads to has failed',
    fallingBack(null, INSTALLING),
    seen(armed(), differ),
    'falling-back (install): assigned B, active local, good local, CrashLoop',
    ['disarm-guard', 'install local'],
  ],
  [
    'begins again where the guard led the node elsewhere meanwhile',
    fallingBack(null, judging(), { because: 'unassigned' }),
    seen(wanting(null), fired(), differ),
    'falling-back (install): assigned local, active local, good local, CrashLoop',
    ['disarm-guard', 'install local'],
  ],
  [
    'needs no restart where the kubelet never heard of the config',
    fallingBack(A, { step: 'install', running: RUN_1 }),
    seen(wanting(B)),
    'falling-back (judge): assigned B, active A, good A, CrashLoop',
    [],
  ],
  [
    'needs no restart where the guard went the same way meanwhile and restarted the kubelet',
    fallingBack(A, INSTALLING),
    seen(wanting(B), fired(), run('run-7')),
    'falling-back (judge): assigned B, active A, good A, CrashLoop',
    ['disarm-guard'],
  ],
  [
    'ends when the kubelet is steadily healthy, whatever note of the guard is still there',
    fallingBack(A, judging({ healthyMs: 5_000 })),
    seen(wanting(B), fired()),
    'idle: assigned B, active A, good A, CrashLoop',
    ['disarm-guard', 'collect-garbage'],
  ],
  [
    'needs one where the machine booted meanwhile: its runs may have the same names',
    fallingBack(A, { step: 'install', running: RUN_1 }),
    seen(wanting(B), rebooted),
    'falling-back (restart): assigned B, active A, good A, CrashLoop',
    ['restart'],
  ],
  [
    'needs one where the guard restored the files only',
    fallingBack(A, INSTALLING),
    seen(wanting(B), fired({ restarted: false }), run('run-7')),
    'falling-back (restart): assigned B, active A, good A, CrashLoop',
    ['disarm-guard', 'restart'],
  ],
  [
    'needs one where the kubelet was restarted meanwhile',
    fallingBack(A, { step: 'install', running: RUN_1 }),
    seen(wanting(B), run('run-2')),
    'falling-back (restart): assigned B, active A, good A, CrashLoop',
    ['restart'],
  ],
]);

describe('a trial that nobody watched', () => {
  const again = (parts: Partial<Trial>, ...looks: readonly Partial<Observation>[]): Trial =>
    decide(onTrial(judging(), parts), seen(wanting(B), fired({ cause: 'silence' }), ...looks)).next.doing as Trial;

  it('is counted, and says so', () => {
    const trial = again({ unwatched: 1, warnings: ['little is left'] });
    assert.equal(trial.unwatched, 2);
    assert.deepEqual(trial.warnings, [
      'little is left',
      `nobody watched its trial, so the guard took it back at ${AT} without a verdict; it is tried again`,
    ]);
  });

  it('is counted as well where the guard’s note of why is lost, and says that', () => {
    const { next } = decide(onTrial(judging()), seen(wanting(B), fired({ cause: 'unknown' })));
    const { unwatched, warnings } = next.doing as Trial;
    assert.equal(unwatched, 1);
    assert.deepEqual(warnings, [`the guard took it back at ${AT}, and its note of why is lost; it is tried again`]);
  });

  it('does not blame the config for a kubelet that is ill with the last known good one', () => {
    assert.equal(again({}, DOWN).wasHealthy, false);
    assert.equal(again({}).wasHealthy, true);
    assert.equal(again({ wasHealthy: false }).wasHealthy, false);
  });

  it('is no trial of the node’s new own config that failed', () => {
    const over = { ...A, base: 'b'.repeat(64) };
    const doing = onTrial(judging(), { config: over }).doing as Trial;
    const trial = trialIdOf({ config: over, since: AT });
    const { next } = decide({ ...idle(A), doing }, seen(wanting(A), fired({ cause: 'silence', trial })));
    assert.equal(next.refusedBase, null);
    assert.equal(next.doing.phase, 'trial');
  });
});

describe('the limits of the guard', () => {
  it('are the starts that the trial forgives, the ordered one and one to spare', () => {
    const starts = [0, 1, 2].map((maxRestarts) => guardLimitsOf({ ...TERMS, maxRestarts }).maxStarts);
    assert.deepEqual(starts, [2, 3, 4]);
  });

  it('are the whole trial and the time that the kubelet may take to start, in seconds rounded up', () => {
    const after = (durationMs: number, startTimeoutMs: number): number =>
      guardLimitsOf({ ...TERMS, durationMs, startTimeoutMs }).silenceSeconds;
    assert.deepEqual([after(600_000, 120_000), after(600_000, 120_001), after(500, 500)], [720, 721, 1]);
  });
});

describe('what the kubelet runs when a trial ends before its time', () => {
  const runningAfter = (trial: Partial<Trial>, ...parts: readonly Partial<Observation>[]): unknown => {
    const { next } = decide(onTrial(trial.change ?? INSTALLING, trial), seen(wanting(B), ...parts));
    const { change } = next.doing as FallingBack;
    return change.step === 'install' ? change.running : change;
  };

  it('is what it ran before, where nothing was installed yet', () => {
    assert.deepEqual(runningAfter({ before: RUN_1 }, blocked(true)), RUN_1);
  });

  it('is not known where the restart was ordered', () => {
    assert.equal(runningAfter({ before: RUN_1, change: judging() }, fired({ restarted: false })), undefined);
  });

  it('is what the guard restored, where the guard restarted it', () => {
    assert.deepEqual(runningAfter({ change: judging() }, fired(), run('run-7')), { run: 'run-7', bootId: 'boot-1' });
    assert.equal(runningAfter({ change: judging() }, fired(), run(null)), undefined);
  });

  it('is what the guard restored before the node was unassigned, where that was local', () => {
    const way = fallingBack(A, INSTALLING);
    const { next } = decide(way, seen(wanting(null), fired({ to: targetIdOf(null), trial: 'another' }), run('run-7')));
    const { change } = next.doing as FallingBack;
    assert.deepEqual(change, { step: 'install', running: { run: 'run-7', bootId: 'boot-1' } });
  });

  it('is known to a trial that begins again after the guard restored what was good', () => {
    const again = decide(onTrial(INSTALLING), seen(wanting(B), fired({ cause: 'silence' }), run('run-7'))).next.doing;
    assert.deepEqual((again as Trial).before, { run: 'run-7', bootId: 'boot-1' });
  });

  it('is not what a trial before it had the kubelet run', () => {
    const ready = { config: C, outcome: 'ready', warnings: [] } as const;
    const superseding = (state: Trial['change']): Trial =>
      decide(onTrial(state, { before: RUN_1 }), seen(wanting(C), { staged: ready })).next.doing as Trial;
    assert.equal(superseding(judging()).before, null);
    assert.deepEqual(superseding(INSTALLING).before, RUN_1);
  });
});

describe('the want of a guard', () => {
  const wantOf = (state: State, ...parts: readonly Partial<Observation>[]): string | undefined =>
    wantOfGuard(state, seen(...parts))?.reason;

  it('is told while it keeps a trial from beginning', () => {
    assert.equal(wantOf(onTrial(INSTALLING), refusing(1)), 'GuardFailed');
    assert.equal(wantOf(onTrial(INSTALLING)), undefined);
  });

  it('is not told of a trial that has begun, of another one, or at rest', () => {
    assert.equal(wantOf(onTrial(RESTARTING), refusing(1)), undefined);
    assert.equal(wantOf(onTrial(INSTALLING), refusing(1, { trial: 'another' })), undefined);
    assert.equal(wantOf(idle(A), refusing(1)), undefined);
    assert.equal(wantOf(fallingBack(A, INSTALLING), refusing(1)), undefined);
  });
});
