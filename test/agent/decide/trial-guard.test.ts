import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decide } from '#agent/decide/decide.ts';
import { guardLimitsOf, targetIdOf, trialIdOf, whyGuardNotReady } from '#agent/decide/trial-guard.ts';
import type { Observation } from '#agent/decide/observation.ts';
import type { State, Trial } from '#agent/decide/state.ts';
import { differ, ready, table } from '../../support/agent/decision-table.ts';
import { RUN_1, disarmed, armed, refusing } from '../../support/agent/guard-observations.ts';
import {
  A,
  B,
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

table('a trial on a node with a guard', {
  'begins with arming it': [
    idle(A),
    seen(wanting(B), { staged: ready }, disarmed),
    'trial (install): B, good A → arm-guard',
  ],
  'begins with the files where it is armed for it already: the agent died between the two': [
    idle(A),
    seen(wanting(B), { staged: ready }, armed()),
    'trial (install): B, good A → reassure-guard, install B',
  ],
  'begins with nothing where it could not be armed for it: the next look ends it': [
    idle(A),
    seen(wanting(B), { staged: ready }, disarmed, refusing(12)),
    'trial (install): B, good A',
  ],
  'installs nothing before it is armed': [
    onTrial(INSTALLING),
    seen(wanting(B), disarmed, differ),
    'trial (install): B, good A → arm-guard',
  ],
  'goes on once it is armed for this very trial': [
    onTrial(INSTALLING),
    seen(wanting(B), armed(), differ),
    'trial (install): B, good A → reassure-guard, install B',
  ],
  'leaves a kubelet that is not healthy to it, as long as nothing could be installed': [
    onTrial(INSTALLING),
    seen(wanting(B), armed(), differ, DOWN),
    'trial (install): B, good A → install B',
  ],
  'has it armed again where it is armed for another trial': [
    onTrial(INSTALLING),
    seen(wanting(B), armed('another'), differ),
    'trial (install): B, good A → arm-guard',
  ],
  'tries to arm it again where that failed': [
    onTrial(INSTALLING),
    seen(wanting(B), disarmed, refusing(11)),
    'trial (install): B, good A → arm-guard',
  ],
  'is not held where it cannot be armed': [
    onTrial(INSTALLING),
    seen(wanting(B), disarmed, refusing(12)),
    'falling-back (install): B, active A, GuardFailed → install A',
  ],
  'does not try again before its time, whatever wakes the agent': [
    onTrial(INSTALLING),
    seen(wanting(B), disarmed, refusing(3, { retryInMs: 1 })),
    'trial (install): B, good A',
  ],
  'waits for room on a disk that is full, however often that was looked for': [
    onTrial(INSTALLING),
    seen(wanting(B), disarmed, refusing(500, { isFull: true, retryInMs: 1 })),
    'trial (install): B, good A',
  ],
  'looks for room again in its time': [
    onTrial(INSTALLING),
    seen(wanting(B), disarmed, refusing(500, { isFull: true })),
    'trial (install): B, good A → arm-guard',
  ],
  'is not blamed for what kept the guard of an earlier trial from being armed': [
    onTrial(INSTALLING),
    seen(wanting(B), disarmed, refusing(12, { trial: 'an earlier one' })),
    'trial (install): B, good A → arm-guard',
  ],
  'is held all the same where there can be no guard': [
    onTrial(INSTALLING),
    seen(wanting(B), differ),
    'trial (install): B, good A → install B',
  ],
  'has it armed again before it orders another restart, where it was lost in mid-change': [
    onTrial({ ...RESTARTING, waitedMs: TERMS.startTimeoutMs }),
    seen(wanting(B), disarmed),
    'trial (restart): B, good A → arm-guard',
  ],
  'ends where it was lost in mid-change and cannot be armed again: nobody waits with a kubelet that may be down': [
    onTrial({ ...RESTARTING, waitedMs: TERMS.startTimeoutMs }),
    seen(wanting(B), armed('', ''), refusing(1, { isFull: true }), DOWN),
    'falling-back (install): B, active A, GuardFailed → disarm-guard, install A',
  ],
  'has it armed again while it is judged, where somebody took it away': [
    onTrial(judging()),
    seen(wanting(B), disarmed),
    'trial (judge): B, good A → arm-guard',
  ],
  'is judged on without one where that fails': [
    onTrial(judging()),
    seen(wanting(B), disarmed, refusing(12)),
    'trial (judge): B, good A',
  ],
  'reassures it while it is judged': [
    onTrial(judging()),
    seen(wanting(B), armed()),
    'trial (judge): B, good A → reassure-guard',
  ],
  'takes it away with the promotion': [
    onTrial(judging({ healthyMs: 595_000 })),
    seen(wanting(B), armed()),
    'idle: B → disarm-guard, collect-garbage',
  ],
});

describe('a trial that waits for its guard', () => {
  const waits: Partial<Observation> = { ...disarmed, ...refusing(1, { retryInMs: 1 }) };
  const strain = { pressures: [], outOfMemory: {}, pods: null, bootId: 'boot-1' };
  const under = (pressures: readonly string[]): Trial =>
    decide(
      onTrial(INSTALLING, { before: RUN_1, strain }),
      seen(wanting(B), waits, { strain: { ...strain, pressures } }),
    ).next.doing as Trial;

  it('leaves what is on disk as it is, as long as nothing happens', () => {
    const state = onTrial(INSTALLING, { before: RUN_1, strain });
    assert.equal(decide(state, seen(wanting(B), waits)).next, state);
  });

  it('is not blamed for what the machine suffers meanwhile', () => {
    assert.deepEqual(under(['DiskPressure']).strain?.pressures, ['DiskPressure']);
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

describe('what a guard leads to', () => {
  it('has a name that an agent of another release knows as well', () => {
    const { name, sha256 } = A.source;
    assert.equal(targetIdOf(null), 'local');
    assert.equal(targetIdOf(A), `${name}/${sha256}/overlay`);
    assert.equal(
      targetIdOf({ ...A, apply: 'replace', base: 'b'.repeat(64) }),
      `${name}/${sha256}/replace/${'b'.repeat(64)}`,
    );
  });
});

describe('the want of a guard', () => {
  const wantOf = (state: State, ...parts: readonly Partial<Observation>[]): string | undefined =>
    whyGuardNotReady(state, seen(...parts))?.reason;

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

describe('the names of a trial and of what its way back leads to', () => {
  it('differ for the same bytes that keep other fields, and are one plain line', () => {
    const of = (...keepFields: readonly string[]) => ({ ...A, apply: 'replace', keepFields }) as const;
    const all = [of(), of('port'), of('address'), of('address', 'port'), of('a\nb')];
    for (const names of [all.map(targetIdOf), all.map((config) => trialIdOf({ config, since: 'T' }))]) {
      assert.equal(new Set(names).size, all.length);
      for (const name of names) assert.match(name, /^[\w./@-]+$/);
    }
  });
});
