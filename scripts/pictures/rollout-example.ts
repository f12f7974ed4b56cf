import { toTimestamp } from '#shared/runtime/clock.ts';
import { type PastCommit, writeHistory } from '#reconciler/reporting/notes/commit-history.ts';
import { NO_STATE } from '#reconciler/reporting/notes/source-state.ts';
import type { PassResult } from '#reconciler/reporting/pass-result.ts';
import { commit, nodeView, NOW, validPool } from '../../test/support/fleet.ts';
import { FleetSimulation } from '../../test/support/fleet-simulation.ts';
import { passResultIn } from '../../test/reconciler/reporting/status-page/pass-results.ts';

const MINUTE_MS = 60_000;
const POOLS = { 'control-plane': 3, general: 48, gpu: 8 } as const;
const ONE_FAILURE = { threshold: 1, action: 'halt' } as const;
const WAVES = {
  maxUnavailable: 4,
  soak: '0s',
  canary: { nodes: 1, soak: '10m' },
  steps: [{ nodes: '25%', soak: '5m' }, { nodes: '50%' }],
  onFailure: { threshold: 3, action: 'halt' },
} as const;
const GPU = { maxUnavailable: 2, soak: '0s', canary: { nodes: 1 }, onFailure: ONE_FAILURE } as const;

/** As long as the simulated agents take: the page works out from it when each trial began. */
const TRIAL = { duration: '1m', startTimeout: '2m', maxRestarts: 2 } as const;

/** What the picture of the status page shows: one pool half through its waves, another halted by its canary. */
export function exampleRollout(): PassResult {
  const simulation = new FleetSimulation();
  simulation.now = NOW - 90 * MINUTE_MS;
  for (const [pool, count] of Object.entries(POOLS)) {
    for (let number = 1; number <= count; number += 1) simulation.addNode(nodeView(`${pool}-${number}`, pool));
  }
  const controlPlane = validPool('control-plane', 40);
  simulation.inForce = commit('3f1c'.repeat(10), controlPlane, validPool('general', 110), validPool('gpu', 64));
  while (simulation.now < NOW - 23 * MINUTE_MS) aMinute(simulation);

  const deadly = validPool('gpu', 64, { rollout: GPU }, { reservedSystemCPUs: '0-7' });
  simulation.deadly.add(deadly.sha256);
  simulation.inForce = commit(
    'b7d2'.repeat(10),
    controlPlane,
    validPool('general', 150, { rollout: WAVES, trial: TRIAL }),
    deadly,
  );
  while (simulation.now < NOW) aMinute(simulation);
  simulation.reconcile();
  return passResultIn(simulation, {
    ...NO_STATE,
    url: 'https://github.com/acme/kubelet-config',
    branch: 'main',
    cluster: 'prod-eu',
    statuses: 'on',
    history: writeHistory('', HISTORY),
  });
}

function aMinute(simulation: FleetSimulation): void {
  simulation.rounds(1);
  simulation.now += MINUTE_MS;
}

const past = (
  oid: string,
  minutes: number,
  author: string,
  subject: string,
  outcome: PastCommit['outcome'],
): PastCommit => ({
  oid: oid.repeat(10),
  subject,
  author,
  at: toTimestamp(NOW - minutes * MINUTE_MS),
  outcome,
});

const HISTORY = [
  past('90ab', 3_000, 'Grace Hopper', 'Keep more images on gpu', 'settled'),
  past('3f1c', 90, 'Ada Lovelace', 'Take nodes over with what they run', 'settled'),
  past('51e8', 55, 'Alan Turing', 'Drop the pool edge', 'refused'),
  past('b7d2', 23, 'Ada Lovelace', 'Raise maxPods on general; reserve CPUs on gpu', 'halted'),
];
