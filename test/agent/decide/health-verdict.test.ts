import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  startHealthTally,
  tallyHealth,
  tallySteadiness,
  trialVerdictOf,
  verdictOf,
} from '#agent/decide/health-verdict.ts';
import type { Observation } from '#agent/decide/observation.ts';
import type { Judged, Trial } from '#agent/decide/state.ts';
import { DOWN, JUDGED, judging, onTrial, seen } from '../../support/agent/states.ts';

const MAX_STEP_MS = 15_000;
const run = (id: string | null, automaticRestarts: number | null = 0): Partial<Observation> => ({
  service: { state: 'running', run: id, automaticRestarts },
});
const look = (judged: Partial<Judged>, ...parts: readonly Partial<Observation>[]): Judged => {
  const observation = seen(...parts);
  return tallyHealth({ ...JUDGED, ...judged }, verdictOf(observation), observation, MAX_STEP_MS);
};

describe('the tally of looks at a kubelet', () => {
  it('begins with nothing proved', () => {
    assert.deepEqual(startHealthTally(seen()), { ...JUDGED, healthy: false, everHealthy: false });
  });

  it('counts the time between two healthy looks', () => {
    assert.equal(look({ healthyMs: 1_000 }).healthyMs, 6_000);
  });

  it('counts no time before the first healthy look', () => {
    assert.equal(look({ healthyMs: 1_000, healthy: false }).healthyMs, 1_000);
  });

  it('counts no more of a long gap than a look is good for', () => {
    assert.equal(look({}, { elapsedMs: 3_600_000 }).healthyMs, MAX_STEP_MS);
    assert.equal(look({ healthy: false }, DOWN, { elapsedMs: 3_600_000 }).unhealthyMs, MAX_STEP_MS);
  });

  it('counts no time over a restart, whoever made it', () => {
    assert.equal(look({ healthyMs: 1_000 }, run('run-2', 0)).healthyMs, 0);
    assert.equal(look({ healthyMs: 1_000 }, run('run-2', 1)).healthyMs, 0);
    assert.equal(look({ healthyMs: 1_000 }, run(null, 0)).healthyMs, 6_000);
  });

  it('begins at nothing again where the kubelet ended by itself, or the machine booted', () => {
    assert.equal(look({ healthyMs: 1_000 }, run('run-1', 1)).healthyMs, 0);
    assert.equal(look({ healthyMs: 1_000, automaticRestarts: null }, run('run-2', null)).healthyMs, 0);
    assert.equal(look({ healthyMs: 1_000, restarts: 1, automaticRestarts: 1 }, run('run-1', 1)).healthyMs, 6_000);
    assert.equal(look({ healthyMs: 1_000 }, DOWN).healthyMs, 1_000);
    assert.equal(look({ healthyMs: 1_000 }, { bootId: 'boot-2' }, run('run-2', 1)).healthyMs, 0);
    assert.equal(look({ healthyMs: 1_000 }, { bootId: 'boot-2' }, run(null, null)).healthyMs, 0);
  });

  it('begins at nothing again as soon as the kubelet ended, and not when it is started again', () => {
    const ended = (service: Partial<Observation['service']>) =>
      look({ healthyMs: 60_000 }, DOWN, {
        service: { state: 'starting', run: null, automaticRestarts: 0, ...service },
      });
    assert.equal(ended({ awaitsRestart: true }).healthyMs, 0);
    assert.equal(ended({ state: 'failed' }).healthyMs, 0);
    // Somebody restarts it.
    assert.equal(ended({}).healthyMs, 60_000);
    assert.equal(ended({ state: 'stopped', wasStopped: true }).healthyMs, 60_000);
  });

  it('counts on where no run can be seen', () => {
    assert.equal(look({ healthyMs: 1_000 }, run(null, null)).healthyMs, 6_000);
    assert.equal(steadyAfter({ run: null }, run(null, null)), 14_000);
  });

  it('knows whether a run was ever healthy', () => {
    assert.equal(look({ everHealthy: true }, DOWN).everHealthy, true);
    assert.equal(look({ everHealthy: false }, DOWN).everHealthy, false);
    assert.equal(look({ everHealthy: false }).everHealthy, true);
    assert.equal(look({ everHealthy: true }, DOWN, run('run-2', 1)).everHealthy, false);
    assert.equal(look({ everHealthy: true }, DOWN, run('run-1', 1)).everHealthy, false);
  });

  it('counts a lapse when the run is healthy again after ten seconds and more', () => {
    const ill = { healthy: false, everHealthy: true, unhealthyMs: 10_000 };
    assert.equal(look(ill).lapses, 1);
    assert.equal(look({ ...ill, unhealthyMs: 9_999 }).lapses, 0);
    assert.equal(look(ill, DOWN).lapses, 0);
    assert.equal(look({ ...ill, everHealthy: false }).lapses, 0);
    assert.equal(look(ill, run('run-2', 1)).lapses, 0);
  });

  it('holds a reboot against nobody', () => {
    assert.deepEqual(look({ healthyMs: 1_000 }, { bootId: 'boot-2' }, run('run-9', 7)), {
      ...JUDGED,
      bootId: 'boot-2',
      run: 'run-9',
      automaticRestarts: 7,
    });
  });

  it('gives a kubelet its time to start again after a reboot', () => {
    assert.equal(look({ unhealthyMs: 100_000, healthy: false }, DOWN, { bootId: 'boot-2' }).unhealthyMs, 0);
  });

  it('counts unhealthy time from the first unhealthy look, and forgets it at a healthy one', () => {
    assert.equal(look({ healthy: true }, DOWN).unhealthyMs, 0);
    assert.equal(look({ healthy: false, unhealthyMs: 5_000 }, DOWN).unhealthyMs, 10_000);
    assert.equal(look({ healthy: false, unhealthyMs: 5_000 }).unhealthyMs, 0);
  });

  it('gives a kubelet its time from its own start on, and not from that of the program that starts it', () => {
    const starter = { program: 'k3s', hostsServer: false } as const;
    const waiting = { healthy: false, isStarting: true, unhealthyMs: 800_000 } as const;
    assert.equal(look(waiting, DOWN, { starter }).unhealthyMs, 805_000);
    assert.equal(look(waiting, DOWN).unhealthyMs, 5_000);
    assert.equal(look({ ...waiting, outageMs: 5_000 }, DOWN, { starter, isApiAway: true }).outageMs, 10_000);
    assert.equal(look({ ...waiting, outageMs: 5_000 }, DOWN, run('run-2'), { starter }).outageMs, undefined);
  });

  it('counts neither way what is unclear', () => {
    const unclear = tallyHealth(
      { ...JUDGED, healthy: false, unhealthyMs: 5_000 },
      { verdict: 'unclear' },
      seen(),
      MAX_STEP_MS,
    );
    assert.equal(unclear.unhealthyMs, 5_000);
    assert.equal(unclear.healthyMs, 0);
    assert.equal(unclear.healthy, false);
  });

  it('holds nothing against a kubelet for the time in which a person kept it stopped', () => {
    const stopped = {
      ...DOWN,
      service: { state: 'stopped', run: null, automaticRestarts: 0, wasStopped: true } as const,
    };
    const before = look({ healthy: false, unhealthyMs: 5_000, healthyMs: 9_000 }, stopped);
    assert.deepEqual([before.unhealthyMs, before.healthyMs], [5_000, 9_000]);
    const started = seen(DOWN, run('run-2'), { elapsedMs: 60_000 });
    assert.equal(tallyHealth(before, verdictOf(started), started, MAX_STEP_MS).unhealthyMs, 5_000);
    const well = seen(run('run-2'), { elapsedMs: 60_000 });
    const again = tallyHealth(before, verdictOf(well), well, MAX_STEP_MS);
    assert.deepEqual([again.healthyMs, again.restarts], [0, 0]);
  });

  it('counts the crashes since a person started the kubelet by hand, and not the hand', () => {
    assert.equal(look({ automaticRestarts: 5 }, run('run-2', 2)).restarts, 2);
    assert.equal(look({ automaticRestarts: 5 }, run('run-2', 0)).restarts, 0);
  });

  it('goes by the runs where the service manager counts only now, or no longer', () => {
    assert.equal(look({ automaticRestarts: null }, run('run-2', 3)).restarts, 1);
    assert.equal(look({ automaticRestarts: 5 }, run('run-2', null)).restarts, 1);
    assert.equal(look({ automaticRestarts: null }, run('run-1', null)).restarts, 0);
  });

  it('takes no news of the service manager for nothing', () => {
    const blind = look({ automaticRestarts: 5, restarts: 1 }, run(null, null));
    assert.deepEqual([blind.run, blind.automaticRestarts, blind.restarts], ['run-1', 5, 1]);
    assert.equal(look({ automaticRestarts: null, run: null }, run('run-2', null)).restarts, 0);
  });

  it('calls a kubelet steady only within one run', () => {
    const steady = (...parts: readonly Partial<Observation>[]): number => steadyAfter({}, ...parts);
    assert.equal(steady(), 14_000);
    assert.equal(steady(run('run-2', 0)), 0);
    assert.equal(steady(run('run-1', 1)), 0);
    assert.equal(steady({ bootId: 'boot-2' }, run('run-2')), 0);
  });

  it('passes over a lapse that a trial would pass over, where no restart can hide in it', () => {
    const ill = { healthy: false, everHealthy: true };
    assert.equal(steadyAfter({}, DOWN), 9_000);
    assert.equal(steadyAfter({ ...ill, unhealthyMs: 4_000 }, DOWN), 9_000);
    assert.equal(steadyAfter({ ...ill, unhealthyMs: 5_000 }, DOWN), 0);
    assert.equal(steadyAfter({ run: null }, DOWN, run(null, null)), 0);
  });
});

function steadyAfter(judged: Partial<Judged>, ...parts: readonly Partial<Observation>[]): number {
  const observation = seen(...parts);
  const before = { ...JUDGED, healthyMs: 9_000, ...judged };
  return tallySteadiness(before, verdictOf(observation), observation, MAX_STEP_MS).healthyMs;
}

describe('the verdict of one look', () => {
  const trial = onTrial(judging()).doing as Trial;
  const off: Partial<Observation> = { health: { health: 'off' } };
  const rows: readonly (readonly [string, readonly Partial<Observation>[], Partial<Trial>, string])[] = [
    ['healthy where everything is as meant', [], {}, 'healthy'],
    [
      'healthy where the running config cannot be read',
      [{ running: { running: 'unseen', why: 'forbidden' } }],
      {},
      'healthy',
    ],
    ['healthy without a health endpoint where the process runs', [off], {}, 'healthy'],
    [
      'healthy where the endpoint says so and there is no service manager to ask',
      [{ service: { state: 'unknown', run: null, automaticRestarts: null } }],
      {},
      'healthy',
    ],
    [
      'unclear where there is neither an endpoint nor a service manager',
      [off, { service: { state: 'unknown', run: null, automaticRestarts: null } }],
      {},
      'unclear',
    ],
    [
      'unhealthy where the endpoint answers for a unit that was stopped',
      [{ service: { state: 'stopped', run: null, automaticRestarts: 0 } }],
      {},
      'NotHealthy: the service manager has it as stopped',
    ],
    ['unclear while the Node cannot be seen', [{ nodeReady: 'unknown' }], {}, 'unclear'],
    [
      'healthy without the Node where it was not Ready before',
      [{ nodeReady: 'unknown' }],
      { wasReady: false },
      'healthy',
    ],
    [
      'unhealthy where the endpoint answers for a unit that failed',
      [{ service: { state: 'failed', run: null, automaticRestarts: 4, lastExit: 'exit-code 1' } }],
      {},
      'NotHealthy: the service manager has it as failed (last exit: exit-code 1)',
    ],
    [
      'unhealthy for all that the service manager knows of it',
      [
        {
          service: { state: 'failed', run: null, automaticRestarts: 4, lastExit: 'exit-code 1', reason: 'start-limit' },
        },
      ],
      {},
      'NotHealthy: the service manager has it as failed (last exit: exit-code 1, start-limit)',
    ],
    [
      'unhealthy where the endpoint says so',
      [{ health: { health: 'failing', reason: 'healthz said 500' } }],
      {},
      'NotHealthy: its health endpoint says: healthz said 500',
    ],
    [
      'unhealthy where the config is shadowed',
      [{ running: { running: 'contradicts', differences: ['maxPods=110 instead of 250'] } }],
      {},
      'ConfigContradicted: it runs maxPods=110 instead of 250',
    ],
  ];
  for (const [title, parts, about, expected] of rows) {
    it(title, () => {
      const verdict = trialVerdictOf(seen(...parts), { ...trial, ...about });
      const text = verdict.verdict === 'unhealthy' ? `${verdict.reason}: ${verdict.why}` : verdict.verdict;
      assert.equal(text, expected);
    });
  }
});
