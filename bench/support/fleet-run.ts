import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePorts } from '../../test/cluster/support/free-ports.ts';
import { type ReconcilerProcess, startReconcilerProcess } from '../../test/support/fleet-process/reconciler-process.ts';
import { BASE, baseFile, fleetFiles } from '../../test/support/fleet-process/repository.ts';
import type { FleetProcess } from '../../test/support/fleet-process/start.ts';
import { type FleetSite, POOLS } from './fleet-site.ts';
import { peakRssMiB } from './peak-memory.ts';
import { figuresOf } from './process-figures.ts';

const MAX_UNAVAILABLE = '20%';
/** As often as kubelets write their Nodes, and agents their KubeletNodes, where nothing changes. */
export const HEARTBEAT_MS = 300_000;
/** The Lease of the process before has to run out, and the new leader lists everything once more. */
const SETTLE_MS = 45_000;
const PATIENCE_MS = 30 * 60_000;
/** A single start says more about what else the machine does at that moment. */
const RESTARTS = 5;

/** What a stretch of a process's life took. */
export interface Stretch {
  readonly cpuSeconds: number;
  readonly seconds: number;
  /** Since the start of the process. */
  readonly peakRssMiB: number;
  readonly calls: Readonly<Record<string, number>>;
}

export interface FleetFigures {
  readonly nodes: number;
  /** An empty cluster, until every node runs the first commit. */
  readonly first: Stretch;
  /** A second commit that touches every node. */
  readonly change: Stretch;
  /** Another process, until it is ready; several, each in turn with one of `wholeNodes`. */
  readonly restarts: readonly Stretch[];
  /** client-node, until it has all Nodes. */
  readonly wholeNodes: readonly Stretch[];
  /** Nothing but signs of life. */
  readonly steady: Stretch;
}

/** @param directory that of the reconciler's bundle */
export async function runFleet(
  nodes: number,
  site: FleetSite,
  directory: string,
  steadyMs: number,
): Promise<FleetFigures> {
  const { fleet, kubeconfig } = site;
  const [healthPort = 0] = await freePorts(1);
  const start = (): ReconcilerProcess =>
    startReconcilerProcess({ directory, kubeconfig, gitUrl: fleet.gitUrl, healthPort });
  let reconciler: ReconcilerProcess | undefined;
  try {
    const began = await fleet.ask('commit', { files: fleetFiles(POOLS, 110, MAX_UNAVAILABLE) });
    reconciler = start();
    const alive = reconciler;
    const first = await during(alive.pid, site, () => unless(alive, settled(fleet, began, nodes)), 'since its start');
    const change = await during(alive.pid, site, async () => {
      const commit = await fleet.ask('commit', { files: { [BASE]: baseFile(120) } });
      await unless(alive, settled(fleet, commit, nodes));
    });
    const restarts: Stretch[] = [];
    const wholeNodes: Stretch[] = [];
    for (let turn = 0; turn < RESTARTS; turn += 1) {
      await reconciler.kill('SIGKILL');
      wholeNodes.push(await listWithClientNode(site));
      const again = (reconciler = start());
      restarts.push(await during(again.pid, site, async () => void (await again.ready()), 'since its start'));
    }
    await fleet.ask('heartbeats', { everyMs: HEARTBEAT_MS });
    await sleep(SETTLE_MS);
    const steady = await during(reconciler.pid, site, () => sleep(steadyMs));
    await fleet.ask('heartbeats', { everyMs: 0 });
    await reconciler.kill('SIGTERM');
    return { nodes, first, change, restarts, steady, wholeNodes };
  } finally {
    await reconciler?.kill('SIGKILL');
  }
}

async function during(
  pid: number,
  { calls }: FleetSite,
  act: () => Promise<void>,
  since: 'now' | 'since its start' = 'now',
): Promise<Stretch> {
  await calls();
  const began = performance.now();
  const before = since === 'now' ? (await figuresOf(pid)).cpuSeconds : 0;
  await act();
  return {
    cpuSeconds: (await figuresOf(pid)).cpuSeconds - before,
    seconds: (performance.now() - began) / 1000,
    peakRssMiB: await peakRssMiB(pid),
    calls: await calls(),
  };
}

/** A process that loses the lead ends, as its Deployment expects: what it took would be counted for another one. */
export async function unless({ ended }: ReconcilerProcess, act: Promise<void>): Promise<void> {
  const lost = ended.then(() =>
    Promise.reject(new Error('the reconciler ended: the machine was too busy to keep the lead')),
  );
  await Promise.race([act, lost]);
}

export async function settled(fleet: FleetProcess, commit: string, nodes: number): Promise<void> {
  for (const deadline = performance.now() + PATIENCE_MS; ;) {
    const progress = await fleet.ask('progress', {});
    if (progress.settled === nodes && progress.pools[commit] === POOLS) return;
    if (performance.now() > deadline) throw new Error(`not settled: ${JSON.stringify(progress)}`);
    await sleep(500);
  }
}

export async function listWithClientNode(site: FleetSite): Promise<Stretch> {
  const program = fileURLToPath(new URL('list-nodes.ts', import.meta.url));
  const child = fork(program, { env: { ...process.env, KUBECONFIG: site.kubeconfig } });
  try {
    const listed = once(child, 'message').then(() => undefined);
    const failed = once(child, 'exit').then(([code]) => Promise.reject(new Error(`client-node ended with ${code}`)));
    failed.catch(() => undefined);
    return await during(child.pid ?? 0, site, () => Promise.race([listed, failed]), 'since its start');
  } finally {
    child.kill('SIGKILL');
  }
}
