import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decide } from '#agent/decide/decide.ts';
import { targetIdOf } from '#agent/decide/trial-guard.ts';
import type { Observation } from '#agent/decide/observation.ts';
import type { FallingBack, Trial } from '#agent/decide/state.ts';
import { blocked, differ, rebooted, run, table } from '../../support/agent/decision-table.ts';
import { RUN_1, armed, fired } from '../../support/agent/guard-observations.ts';
import {
  A,
  B,
  C,
  fallingBack,
  INSTALLING,
  judging,
  onTrial,
  RESTARTING,
  seen,
  wanting,
} from '../../support/agent/states.ts';

table('the way back on a node with a guard', {
  'keeps it where it leads the same way, and lets it go that way where files cannot be put back': [
    fallingBack(A, INSTALLING),
    seen(armed(), differ),
    'falling-back (install): B, active A, CrashLoop → install A',
  ],
  'reassures it when the files are back': [
    fallingBack(A, RESTARTING),
    seen(armed()),
    'falling-back (restart): B, active A, CrashLoop → reassure-guard',
  ],
  'keeps it where it leads to what is good as well, as long as the kubelet may still run the trial’s config': [
    onTrial(judging()),
    seen(wanting(null), armed()),
    'falling-back (install): local → install local',
  ],
  'takes it away then': [
    fallingBack(null, judging(), { because: 'unassigned' }),
    seen(wanting(null), armed()),
    'falling-back (judge): local, CrashLoop → disarm-guard',
  ],
  'takes it away first where what it leads to has failed': [
    fallingBack(null, INSTALLING),
    seen(armed(), differ),
    'falling-back (install): B, active local, CrashLoop → disarm-guard, install local',
  ],
  'begins again where the guard led the node elsewhere meanwhile': [
    fallingBack(null, judging(), { because: 'unassigned' }),
    seen(wanting(null), fired(), differ),
    'falling-back (install): local, CrashLoop → disarm-guard, install local',
  ],
  'needs no restart where the kubelet never heard of the config': [
    fallingBack(A, { step: 'install', running: RUN_1 }),
    seen(wanting(B)),
    'falling-back (judge): B, active A, CrashLoop',
  ],
  'needs no restart where the guard went the same way meanwhile and restarted the kubelet': [
    fallingBack(A, INSTALLING),
    seen(wanting(B), fired(), run('run-7')),
    'falling-back (judge): B, active A, CrashLoop → disarm-guard',
  ],
  'ends when the kubelet is steadily healthy, whatever note of the guard is still there': [
    fallingBack(A, judging({ healthyMs: 5_000 })),
    seen(wanting(B), fired()),
    'idle: B, active A, CrashLoop → disarm-guard, collect-garbage',
  ],
  'needs one where the machine booted meanwhile: its runs may have the same names': [
    fallingBack(A, { step: 'install', running: RUN_1 }),
    seen(wanting(B), rebooted),
    'falling-back (restart): B, active A, CrashLoop → restart',
  ],
  'needs one where the guard restored the files only': [
    fallingBack(A, INSTALLING),
    seen(wanting(B), fired({ restarted: false }), run('run-7')),
    'falling-back (restart): B, active A, CrashLoop → disarm-guard, restart',
  ],
  'needs one where the kubelet was restarted meanwhile': [
    fallingBack(A, { step: 'install', running: RUN_1 }),
    seen(wanting(B), run('run-2')),
    'falling-back (restart): B, active A, CrashLoop → restart',
  ],
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
