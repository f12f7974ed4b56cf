import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decide } from '#agent/decide/decide.ts';
import type { Observation } from '#agent/decide/observation.ts';
import type { State } from '#agent/decide/state.ts';
import { run } from '../../support/agent/decision-table.ts';
import { B, DOWN, judging, onTrial, seen, TERMS, wanting } from '../../support/agent/states.ts';

const UP: Partial<Observation> = {};

/** Looks every five seconds. @returns where the node stands after them, or as soon as the trial is over */
function through(looks: readonly Partial<Observation>[], maxRestarts = 0): State {
  const terms = { ...B, trial: { ...TERMS, maxRestarts } };
  let state = onTrial(judging(), { config: terms });
  for (const look of looks) {
    if (state.doing.phase === 'trial') state = decide(state, seen(wanting(terms), look)).next;
  }
  return state;
}

const lapse = [DOWN, DOWN, DOWN, UP, UP];

describe('a kubelet that is healthy and not healthy by turns', () => {
  it('fails its trial, though it never was down for long', () => {
    assert.equal(through([...lapse, ...lapse]).error?.reason, 'Flapping');
  });

  it('is forgiven as often as restarts are, and once more', () => {
    assert.equal(through(lapse).doing.phase, 'trial');
    assert.equal(through([...lapse, ...lapse, ...lapse], 2).doing.phase, 'trial');
    assert.equal(through([...lapse, ...lapse, ...lapse, ...lapse], 2).error?.reason, 'Flapping');
  });

  it('lapses where it was not healthy for ten seconds, and not where it was a millisecond less', () => {
    const lapsesAfter = (unhealthyMs: number): number => {
      const state = onTrial(judging({ healthy: false, unhealthyMs }));
      const { doing } = decide(state, seen(wanting(B))).next;
      assert.ok(doing.phase === 'trial' && doing.change.step === 'judge');
      return doing.change.judged.lapses;
    };
    assert.deepEqual([lapsesAfter(9_999), lapsesAfter(10_000)], [0, 1]);
  });

  it('does not flap by answering late now and then', () => {
    const late = [DOWN, UP, UP];
    assert.equal(through(Array.from({ length: 20 }, () => late).flat()).doing.phase, 'trial');
  });

  it('does not flap by being restarted: that is counted by itself', () => {
    const restart = (count: number) => [
      { ...DOWN, ...run(null, count) },
      { ...DOWN, ...run(`run-${count + 1}`, count) },
      { ...DOWN, ...run(`run-${count + 1}`, count) },
      run(`run-${count + 1}`, count),
    ];
    assert.equal(through([restart(1), restart(2), restart(3), restart(4)].flat(), 4).doing.phase, 'trial');
    assert.equal(through([restart(1), restart(2), restart(3), restart(4)].flat(), 3).error?.reason, 'CrashLoop');
  });
});

describe('a kubelet that ended by itself', () => {
  const ended: Partial<Observation> = {
    ...DOWN,
    service: { state: 'starting', run: null, automaticRestarts: 0, awaitsRestart: true, lastExit: 'exit-code 1' },
  };

  it('has ended, however long the service manager waits before it starts it again', () => {
    const { error } = through([UP, ended]);
    assert.equal(error?.reason, 'CrashLoop');
    assert.match(error?.message ?? '', /ended 1 times by itself \(last exit: exit-code 1\)/);
  });

  it('is forgiven as often as its restarts are, each of them once', () => {
    assert.equal(through([UP, ended, ended, run('run-2', 1)], 1).doing.phase, 'trial');
    const again = { ...ended, service: { ...ended.service, automaticRestarts: 1 } } as Partial<Observation>;
    assert.equal(through([UP, ended, run('run-2', 1), again], 1).error?.reason, 'CrashLoop');
  });

  it('before any run of the config was seen says nothing of it', () => {
    const config = { ...B, trial: { ...TERMS, maxRestarts: 0 } };
    const state = onTrial(judging({ run: null }), { config });
    assert.equal(decide(state, seen(wanting(config), ended)).next.doing.phase, 'trial');
  });

  it('has not ended while a run of it is seen', () => {
    const running: Partial<Observation> = { service: { ...ended.service, run: 'run-1' } } as Partial<Observation>;
    assert.equal(through([UP, running]).doing.phase, 'trial');
  });
});
