import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decide } from '#agent/decide/decide.ts';
import type { Observation } from '#agent/decide/observation.ts';
import type { State } from '#agent/decide/state.ts';
import { differ, ready, run, table } from '../../support/agent/decision-table.ts';
import {
  A,
  B,
  broken,
  C,
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
  nodeReady: 'no',
};
const FOR_THEM = { ...RESTARTING, runBefore: null, orders: 0 };

table('a kubelet that a person stopped', {
  'is not started for a new config, which waits': [
    idle(A),
    seen(wanting(B), stopped, { staged: ready }),
    'idle: A, KubeletStopped',
  ],
  'is not started for a config whose files are not in place yet: it gets them': [
    onTrial(INSTALLING),
    seen(wanting(B), stopped, differ),
    'trial (install): B, good A → install B',
  ],
  'is not started for a config whose files are in place': [
    onTrial(INSTALLING),
    seen(wanting(B), stopped),
    'trial (restart): B, good A',
  ],
  'is not started for a config that supersedes one on trial: it gets the files of that one': [
    onTrial(judging()),
    seen(wanting(C), stopped, { staged: { ...ready, config: C } }),
    'trial (install): C, good A → install C',
  ],
  'is not started for the way back': [
    fallingBack(A, INSTALLING),
    seen(wanting(B), stopped),
    'falling-back (restart): B, active A, CrashLoop',
  ],
  'is not started because an earlier order has been carried out': [
    onTrial(FOR_THEM),
    seen(wanting(B), stopped, { restart: 'done' }),
    'trial (restart): B, good A',
  ],
  'is judged from the first run on that somebody starts': [
    onTrial(FOR_THEM),
    seen(wanting(B), run('run-2')),
    'trial (judge): B, good A',
  ],
});

/** Looks every five seconds for an hour. @returns where that leads, and the restarts on the way */
function anHour(state: State, ...parts: readonly Partial<Observation>[]): { readonly end: State; restarts: number } {
  let [end, restarts] = [state, 0];
  for (let looks = 0; looks < 720; looks += 1) {
    const { next, actions } = decide(end, seen(...parts));
    restarts += actions.filter((action) => action.do === 'restart-kubelet').length;
    end = next;
  }
  return { end, restarts };
}

describe('an hour with a kubelet that a person stopped', () => {
  const places: Readonly<Record<string, State>> = {
    'in a trial that is judged': onTrial(judging({ healthyMs: 590_000 })),
    'in a trial before its restart': onTrial(INSTALLING),
    'in a trial whose restart was ordered': onTrial(RESTARTING),
    'on the way back': fallingBack(A, judging({ healthyMs: 5_000 })),
    'on the way back before its restart': fallingBack(A, INSTALLING),
    'with every config failed': broken(),
  };
  for (const [where, state] of Object.entries(places)) {
    it(`blames nobody and starts nothing ${where}`, () => {
      const { end, restarts } = anHour(state, wanting(B), stopped);
      assert.equal(restarts, 0);
      assert.equal(end.doing.phase, state.doing.phase);
      assert.deepEqual(end.rejected, state.rejected);
    });
  }

  it('has a trial prove itself again, and without blame, when the kubelet is started again', () => {
    const { end } = anHour(onTrial(judging({ healthyMs: 590_000 })), wanting(B), stopped);
    let state = end;
    const looksUntilGood = [...Array(200).keys()].find(() => {
      state = decide(state, seen(wanting(B), run('run-2'))).next;
      return state.lastKnownGood?.source.name === B.source.name;
    });
    // Ten minutes, in looks of five seconds.
    assert.equal(looksUntilGood, 120);
    assert.deepEqual(state.rejected, []);
  });

  it('orders a start where the unit is no longer stopped, and nobody started it', () => {
    const failed: Partial<Observation> = { service: { state: 'failed', run: null, automaticRestarts: 0 } };
    assert.ok(anHour(onTrial(FOR_THEM), wanting(B), DOWN, failed).restarts > 0);
  });

  it('is not told from a failure where the service manager cannot tell', () => {
    const unknown: Partial<Observation> = { service: { state: 'stopped', run: null, automaticRestarts: 0 } };
    assert.equal(anHour(onTrial(judging()), wanting(B), DOWN, unknown).end.rejected.length, 1);
  });
});
