import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type FleetProcess, startFleetProcess } from '../../test/support/fleet-process/start.ts';
import { kubeconfigOf } from '../../test/support/kubeconfig/one-cluster.ts';

export const POOLS = 50;
/** From hearing of something to reporting it. */
export const AGENT_STEP_MS = 1_000;

/** A fleet of simulated nodes, and how the reconciler gets to its API server. */
export interface FleetSite {
  readonly fleet: FleetProcess;
  /** Path. */
  readonly kubeconfig: string;
  /** Calls by users of the kubeconfig since the last question: `patch kubeletnodes` to a count. */
  calls(): Promise<Readonly<Record<string, number>>>;
  stop(): Promise<void>;
}

/** The sandbox's API server, with this many nodes. */
export async function sandboxSite(nodes: number, directory: string): Promise<FleetSite> {
  const fleet = await startFleetProcess({ nodes, pools: POOLS, agentStepMs: AGENT_STEP_MS });
  const kubeconfig = join(directory, `kubeconfig-${nodes}`);
  await writeFile(kubeconfig, kubeconfigOf({ server: fleet.apiUrl }));
  return {
    fleet,
    kubeconfig,
    calls: () => fleet.ask('calls', {}),
    stop: fleet.stop,
  };
}
