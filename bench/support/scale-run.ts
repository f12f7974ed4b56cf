import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts } from '../../test/cluster/support/free-ports.ts';
import type { TrialManners } from '../../test/support/fleet-process/asks.ts';
import { type ReconcilerProcess, startReconcilerProcess } from '../../test/support/fleet-process/reconciler-process.ts';
import { fleetFiles, type Pace } from '../../test/support/fleet-process/repository.ts';
import { HEARTBEAT_MS, listWithClientNode, settled, type Stretch, unless } from './fleet-run.ts';
import { POOLS } from './fleet-site.ts';
import type { RealSite } from './fleet-site-real.ts';
import { peakRssMiB } from './peak-memory.ts';

/** Agents of a faster clock: what the bounds make of it is computed with the same. */
export const TRIAL_BEHAVIOUR: TrialManners = { restartMs: 2_000, probationMs: 15_000 };
const MAX_UNAVAILABLE = '5%';
const PACE: Pace = { trial: '60s', probation: '15s' };

/** Every node runs it within a few minutes. */
export const FIRST = fleetFiles(POOLS, 110, '100%', { trial: '2s', probation: '1s' });
/** Touches every node, a few at a time. */
export const CHANGE = fleetFiles(POOLS, 120, MAX_UNAVAILABLE, PACE);
const ANOTHER = fleetFiles(POOLS, 130, MAX_UNAVAILABLE, PACE);

/** Before it the Events and notes of the rollout are written, and the last trials end. */
const SETTLE_MS = 20_000;
const LOOK_EVERY_MS = 3_000;
const PATIENCE_MS = 30 * 60_000;

export interface ScaleFigures {
  readonly version: string;
  /** Of one process: from an empty cluster, over two rollouts, to the end of what is steady. */
  readonly peakRssMiB: number;
  /** From the commit to the write that assigns the last node. */
  readonly assignedSeconds: number;
  readonly assignments: number;
  /** Requests by the API server's own record: `list nodes` to a count. */
  readonly steady: Readonly<Record<string, number>>;
  readonly steadySeconds: number;
  /** From the start of a process, after SIGKILL of the one before in mid-rollout, to its first assignment. */
  readonly restartSeconds: number;
  readonly restartRssMiB: number;
  readonly wholeNodes: Stretch;
}

/** @param directory that of the reconciler's bundle */
export async function runScale(
  nodes: number,
  site: RealSite,
  directory: string,
  steadyMs: number,
): Promise<ScaleFigures> {
  const { fleet, kubeconfig } = site;
  const [healthPort = 0] = await freePorts(1);
  const env = { POD_NAME: 'reconciler-0' };
  const start = (): ReconcilerProcess =>
    startReconcilerProcess({ directory, kubeconfig, gitUrl: fleet.gitUrl, healthPort, env });
  const first = await fleet.ask('commit', { files: FIRST });
  let reconciler = start();
  try {
    const { pid } = reconciler;
    await unless(reconciler, settled(fleet, first, nodes));
    const beganMs = Date.now();
    const change = await fleet.ask('commit', { files: CHANGE });
    await unless(reconciler, settled(fleet, change, nodes));
    const assigned = await assignmentsSince(site, beganMs);
    await sleep(SETTLE_MS);

    await fleet.ask('heartbeats', { everyMs: HEARTBEAT_MS });
    await site.calls();
    await sleep(steadyMs);
    const steady = await site.calls();
    await fleet.ask('heartbeats', { everyMs: 0 });
    const peak = await peakRssMiB(pid);
    const wholeNodes = await listWithClientNode(site);

    const anotherMs = Date.now();
    await fleet.ask('commit', { files: ANOTHER });
    await assignedSince(site, anotherMs, nodes / 10);
    await reconciler.kill('SIGKILL');
    const restartedMs = Date.now();
    reconciler = start();
    await unless(reconciler, assignedSince(site, restartedMs, 1));
    const [firstWriteMs = Number.NaN] = await assignmentsSince(site, restartedMs);
    return {
      version: site.version,
      peakRssMiB: peak,
      assignedSeconds: (Math.max(...assigned) - beganMs) / 1000,
      assignments: assigned.length,
      steady,
      steadySeconds: steadyMs / 1000,
      restartSeconds: (firstWriteMs - restartedMs) / 1000,
      restartRssMiB: await peakRssMiB(reconciler.pid),
      wholeNodes,
    };
  } finally {
    await reconciler.kill('SIGKILL');
  }
}

/** When the API server was asked for each, by its own log, which is written a moment later. @param sinceMs of the wall clock, as the log */
async function assignmentsSince(site: RealSite, sinceMs: number): Promise<readonly number[]> {
  const requests = await site.requests();
  return requests.flatMap(({ what, atMs }) => (what === 'patch kubeletnodes' && atMs >= sinceMs ? [atMs] : []));
}

async function assignedSince(site: RealSite, sinceMs: number, most: number): Promise<void> {
  for (const deadline = performance.now() + PATIENCE_MS; ;) {
    const { length } = await assignmentsSince(site, sinceMs);
    if (length >= most) return;
    if (performance.now() > deadline) throw new Error(`${length} assignments, and ${most} were waited for`);
    await sleep(LOOK_EVERY_MS);
  }
}
