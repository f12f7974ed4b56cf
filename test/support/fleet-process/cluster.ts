import { createKube } from '#shared/kube/client.ts';
import { staticCredentials } from '#shared/kube/kube-credentials.ts';
import { isKubeError } from '#shared/kube/kube-error.ts';
import { type Kube, NODES } from '#shared/kube/kube.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { startApiServer } from '#sandbox/api-server/server.ts';
import { until } from '../until.ts';
import type { FleetOptions } from './asks.ts';
import { nodeName, nodeObject } from './node-object.ts';

/** The API server of a simulated fleet, with its Nodes. */
export interface FleetCluster {
  readonly url: string;
  /** As the agents and whoever looks on use it. */
  readonly kube: Kube;
  /** Calls of others since this was last asked. Always empty for an API server that is not the sandbox's. */
  calls(): Readonly<Record<string, number>>;
}

export async function beginCluster({ nodes, pools, server }: FleetOptions): Promise<FleetCluster> {
  if (server === undefined) return sandboxCluster(nodes, pools);
  const kube = createKube({
    server: server.url,
    credentials: staticCredentials(server.credential),
    clock: systemClock,
    log: silentLog,
    userAgent: 'simulated-agents',
  });
  // A few at a time: thousands at once, and the API server answers none of them in time.
  const indices = Array.from({ length: nodes }, (_, index) => index).values();
  const create = async (): Promise<void> => {
    for (const index of indices) await until(nodeName(index), () => createNode(kube, index, pools), { everyMs: 1_000 });
  };
  await Promise.all(Array.from({ length: CREATED_AT_ONCE }, create));
  return { url: server.url, kube, calls: () => ({}) };
}

const CREATED_AT_ONCE = 16;

/** May be called again where the API server did not answer in time. */
async function createNode(kube: Kube, index: number, pools: number): Promise<true> {
  const node = nodeObject(index, pools);
  try {
    await kube.create({ resource: NODES }, node);
  } catch (error) {
    if (!isKubeError(error, 'KUBE_ALREADY_EXISTS')) throw error;
  }
  await kube.mergePatch({ resource: NODES }, node.metadata.name, { status: node.status }, { subresource: 'status' });
  return true;
}

async function sandboxCluster(nodes: number, pools: number): Promise<FleetCluster> {
  const counted = new Map<string, number>();
  const api = await startApiServer({
    tokens: {},
    // Over plain HTTP no client shows the token of a kubeconfig.
    anonymous: { user: 'reconciler' },
    historyLimit: 100_000,
    onCall: ({ of }) => {
      if (of === undefined) return;
      const what = `${of.verb} ${of.resource}${of.subresource === undefined ? '' : `/${of.subresource}`}`;
      counted.set(what, (counted.get(what) ?? 0) + 1);
    },
  });
  for (let index = 0; index < nodes; index += 1) api.store.seed(NODES, nodeObject(index, pools));
  return {
    url: api.url,
    kube: api.direct,
    calls() {
      const calls = Object.fromEntries(counted);
      counted.clear();
      return calls;
    },
  };
}
