import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decide } from '#agent/decide/decide.ts';
import { trialIdOf } from '#agent/decide/trial-guard.ts';
import type { Observation } from '#agent/decide/observation.ts';
import type { Trial } from '#agent/decide/state.ts';
import { rebooted, table } from '../../support/agent/decision-table.ts';
import { fired } from '../../support/agent/guard-observations.ts';
import {
  A,
  AT,
  B,
  DOWN,
  idle,
  INSTALLING,
  judging,
  onTrial,
  RESTARTING,
  seen,
  wanting,
} from '../../support/agent/states.ts';

table('a guard that took a trial back', {
  'has the trial fail, for starts': [
    onTrial(judging()),
    seen(wanting(B), fired()),
    'falling-back (install): B, active A, CrashLoop → disarm-guard, install A',
  ],
  'has it begin again without a verdict, because nobody was there': [
    onTrial(RESTARTING),
    seen(wanting(B), fired({ cause: 'silence' }), { at: '2026-01-01T00:12:00Z' }),
    'trial (install): B, good A → arm-guard',
  ],
  'has it begin again in another boot as well, whatever it had proven': [
    onTrial(judging({ healthyMs: 595_000 })),
    seen(wanting(B), fired({ cause: 'silence' }), rebooted, { at: '2026-01-01T00:12:00Z' }),
    'trial (install): B, good A → arm-guard',
  ],
  'has it begin again while the API server is away': [
    onTrial(judging()),
    seen(fired({ cause: 'silence' }), { at: '2026-01-01T00:12:00Z' }),
    'trial (install): B, good A → arm-guard',
  ],
  'has the trial fail, because nobody was there for the third time': [
    onTrial(RESTARTING, { unwatched: 2 }),
    seen(wanting(B), fired({ cause: 'silence' })),
    'falling-back (install): B, active A, AgentSilent → disarm-guard, install A',
  ],
  'has it begin again where the kubelet was never told of the config, however often': [
    onTrial(INSTALLING, { unwatched: 2 }),
    seen(wanting(B), fired({ cause: 'silence' }), { at: '2026-01-01T00:12:00Z' }),
    'trial (install): B, good A → arm-guard',
  ],
  'has it begin again without a verdict after boots that were lost': [
    onTrial(RESTARTING, { unwatched: 1 }),
    seen(wanting(B), fired({ cause: 'boots', starts: 2 }), { at: '2026-01-01T00:12:00Z' }),
    'trial (install): B, good A → arm-guard',
  ],
  'has the trial fail after boots that were lost for the third time': [
    onTrial(RESTARTING, { unwatched: 2 }),
    seen(wanting(B), fired({ cause: 'boots', starts: 2 })),
    'falling-back (install): B, active A, AgentSilent → disarm-guard, install A',
  ],
  'has it begin again without a verdict after boots that were lost before its files were in place': [
    onTrial(INSTALLING, { unwatched: 1 }),
    seen(wanting(B), fired({ cause: 'boots', starts: 2 }), { at: '2026-01-01T00:12:00Z' }),
    'trial (install): B, good A → arm-guard',
  ],
  'has the trial fail after boots that were lost before its files were in place for the third time': [
    onTrial(INSTALLING, { unwatched: 2 }),
    seen(wanting(B), fired({ cause: 'boots', starts: 2 })),
    'falling-back (install): B, active A, AgentSilent → disarm-guard, install A',
  ],
  'has the trial fail, because the kubelet was down': [
    onTrial(judging()),
    seen(wanting(B), fired({ cause: 'down' })),
    'falling-back (install): B, active A, NotHealthy → disarm-guard, install A',
  ],
  'has the trial fail for a kubelet that was down, though nothing was installed yet': [
    onTrial(INSTALLING),
    seen(wanting(B), fired({ cause: 'down' })),
    'falling-back (install): B, active A, NotHealthy → disarm-guard, install A',
  ],
  'has it begin again where the note of why is lost, because that accuses nobody': [
    onTrial(judging()),
    seen(wanting(B), fired({ cause: 'unknown' }), { at: '2026-01-01T00:12:00Z' }),
    'trial (install): B, good A → arm-guard',
  ],
  'has the trial fail where the note of why is lost for the third time': [
    onTrial(judging(), { unwatched: 2 }),
    seen(wanting(B), fired({ cause: 'unknown' })),
    'falling-back (install): B, active A, AgentSilent → disarm-guard, install A',
  ],
  'says nothing of another trial': [
    onTrial(judging()),
    seen(wanting(B), fired({ trial: 'another' })),
    'trial (judge): B, good A',
  ],
  'has a config that was promoted already prove itself once more': [
    onTrial(judging(), {}, B),
    seen(wanting(B), fired({ cause: 'silence' })),
    'trial (install): B, good local → arm-guard',
  ],
  'is put away on a node at rest': [idle(A), seen(wanting(A), fired()), 'idle: A → disarm-guard'],
});

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

  it('is counted after boots that were lost, and says how many', () => {
    const lost = fired({ cause: 'boots', starts: 2 });
    const { unwatched, warnings } = decide(onTrial(judging()), seen(wanting(B), lost)).next.doing as Trial;
    const why = 'the machine went down in 2 boots in a row before the agent gave a sign of life';
    assert.equal(unwatched, 1);
    assert.deepEqual(warnings, [`${why}, so the guard took it back at ${AT} without a verdict; it is tried again`]);
    const { error } = decide(onTrial(judging(), { unwatched: 2 }), seen(wanting(B), lost)).next;
    assert.ok(
      error?.message.includes(`: in each of its trials ${why}, and the guard took it back at ${AT}`),
      error?.message,
    );
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

  it('is not counted, and nothing is said of it, where the kubelet was never told of the config', () => {
    const { unwatched, warnings } = again({ change: INSTALLING, warnings: ['little is left'] });
    assert.deepEqual([unwatched, warnings], [undefined, ['little is left']]);
  });
});

describe('a config that was promoted before the guard took it back', () => {
  it('has a trial as on a node that has nothing good, and nothing is said of it', () => {
    const { next } = decide(onTrial(judging(), { warnings: ['little is left'] }, B), seen(wanting(B), fired()));
    const { before, warnings } = next.doing as Trial;
    assert.deepEqual([next.lastKnownGood, next.promotedAt, before, warnings], [null, null, null, []]);
  });
});
