import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type FleetProcess, startFleetProcess } from '../../test/support/fleet-process/start.ts';
import { type Relay, startRelay } from './relay.ts';

export const POOLS = 50;
/** From hearing of something to reporting it. */
export const AGENT_STEP_MS = 1_000;

/** A fleet of simulated nodes, and the way of the reconciler to its API server. */
export interface FleetSite {
  readonly fleet: FleetProcess;
  /** Everything between the reconciler and the API server goes through it. */
  readonly relay: Relay;
  /** Path; it names the relay. */
  readonly kubeconfig: string;
  /** Calls by users of the kubeconfig since the last question: `patch kubeletnodes` to a count. */
  calls(): Promise<Readonly<Record<string, number>>>;
  stop(): Promise<void>;
}

/** The sandbox's API server, with this many nodes. */
export async function sandboxSite(nodes: number, directory: string): Promise<FleetSite> {
  const fleet = await startFleetProcess({ nodes, pools: POOLS, agentStepMs: AGENT_STEP_MS });
  const relay = await startRelay(new URL(fleet.apiUrl));
  const kubeconfig = join(directory, `kubeconfig-${relay.port}`);
  const server = `http://127.0.0.1:${relay.port}`;
  await writeFile(
    kubeconfig,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'fleet',
      clusters: [{ name: 'fleet', cluster: { server } }],
      users: [{ name: 'fleet', user: {} }],
      contexts: [{ name: 'fleet', context: { cluster: 'fleet', user: 'fleet' } }],
    }),
  );
  return {
    fleet,
    relay,
    kubeconfig,
    calls: () => fleet.ask('calls', {}),
    async stop() {
      await relay.stop();
      await fleet.stop();
    },
  };
}
