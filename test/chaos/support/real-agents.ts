import { join } from 'node:path';
import { type NodeObjects, type SandboxNode, type SandboxNodeOptions, startNode } from '#sandbox/sandbox-node.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import { createKube } from '#shared/kube/client.ts';
import { staticCredentials } from '#shared/kube/kube-credentials.ts';
import { type Kube, NODES } from '#shared/kube/kube.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { silentLog } from '#shared/runtime/log.ts';
import type { ControlPlane } from '../../cluster/support/control-plane.ts';

/** Real agents beside simulated kubelets, in this process, on a real API server. */
export interface RealAgents {
  readonly kube: Kube;
  readonly nodes: ReadonlyMap<string, SandboxNode>;
  /** A new machine with its agent. */
  join(name: string, pool: string): Promise<SandboxNode>;
  /** The machine and its Node are gone. */
  leave(name: string): Promise<void>;
  labelsOf(name: string): Promise<Readonly<Record<string, string>>>;
  label(name: string, labels: Readonly<Record<string, string | null>>): Promise<void>;
  stop(): Promise<void>;
}

export function createRealAgents(
  cluster: ControlPlane,
  directory: string,
  fault: SandboxNodeOptions['fault'],
): RealAgents {
  const { certificate: cert, key } = cluster.admin;
  const kube = createKube({
    server: cluster.url,
    credentials: staticCredentials({ ca: cluster.ca, cert, key }),
    clock: systemClock,
    log: silentLog,
    userAgent: 'real-agents',
  });
  const nodes = new Map<string, SandboxNode>();
  return {
    kube,
    nodes,
    async join(name, pool) {
      const ports = { nodes: nodesOn(kube), kube, directory: join(directory, name), log: silentLog };
      const node = await startNode({ name, labels: { pool }, readsDropIns: false, ...(fault && { fault }) }, ports);
      nodes.set(name, node);
      return node;
    },
    async leave(name) {
      await nodes.get(name)?.stop();
      nodes.delete(name);
      await cluster.request('DELETE', `/api/v1/nodes/${name}`);
    },
    labelsOf: async (name) => (await kube.get<KubeObject>({ resource: NODES }, name))?.metadata.labels ?? {},
    label: async (name, labels) => void (await kube.mergePatch({ resource: NODES }, name, { metadata: { labels } })),
    stop: async () => void (await Promise.all([...nodes.values()].map((node) => node.stop()))),
  };
}

/** What a kubelet says of itself is said again: an API server that is away loses nothing for long. */
const nodesOn = (kube: Kube): NodeObjects => ({
  create: async (node) => void (await kube.create({ resource: NODES }, node)),
  get: (name) =>
    kube.get<KubeObject>({ resource: NODES }, name).then(
      (node) => (node === null ? undefined : { ...node }),
      () => undefined,
    ),
  async patch(name, { status, ...rest }) {
    try {
      if (status !== undefined) await kube.mergePatch({ resource: NODES }, name, { status }, { subresource: 'status' });
      if (Object.keys(rest).length > 0) await kube.mergePatch({ resource: NODES }, name, rest);
    } catch {
      return;
    }
  },
});
