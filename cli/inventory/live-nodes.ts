import { findApi } from '#reconciler/kube/connect.ts';
import { createKube } from '#shared/kube/client.ts';
import type { KubeletNode, KubeletNodeStatus } from '#shared/contract/api/kubelet-node.ts';
import { KUBELET_NODES, NODES } from '#shared/kube/kube.ts';
import { createTransport } from '#shared/kube/transport.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { GitopsError } from '#shared/runtime/errors.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { VERSION } from '#shared/runtime/version.ts';
import type { Given } from '../command.ts';
import type { Io } from '../io.ts';
import type { InventoryNode } from './node.ts';
import { nodesFrom } from './read-inventory.ts';

/** A cluster's nodes, as they are now. Reads only. */
export interface LiveNodes {
  list(): Promise<readonly InventoryNode[]>;
  /** @throws GitopsError `NODE_UNKNOWN` */
  get(name: string): Promise<InventoryNode>;
  /**
   * What the kubelet says that it runs, through the API server (needs `get` on nodes/proxy).
   *
   * @throws KubeError where it cannot be read
   */
  configz(name: string): Promise<Readonly<Record<string, unknown>>>;
  /** What the node's agent says; null where there is none, or it may not be read. */
  agent(name: string): Promise<KubeletNodeStatus | null>;
}

const MOST_BYTES = 1024 * 1024;

/** Connects as kubectl would, with `--kubeconfig` and `--context`. */
export async function connectNodes(given: Given, { env }: Io): Promise<LiveNodes> {
  const api = await findApi({
    kubeconfigPath: given.text('kubeconfig'),
    context: given.text('context'),
    env,
    clock: systemClock,
  });
  const options = { ...api, clock: systemClock, userAgent: `kubelet-gitops/${VERSION}` };
  const kube = createKube({ ...options, log: silentLog });
  const transport = createTransport({ ...options, onWarning: () => undefined });
  return {
    list: async () => nodesFrom((await kube.list({ resource: NODES })).items),
    async get(name) {
      const [node] = nodesFrom([await kube.get({ resource: NODES }, name)]);
      if (node === undefined) throw new GitopsError('NODE_UNKNOWN', `there is no node ${name} in the cluster`);
      return node;
    },
    async configz(name) {
      const call = { verb: 'get', resource: NODES, name, subresource: 'proxy/configz' } as const;
      const answer = await transport.ask(call, MOST_BYTES, undefined);
      if (!answer.ok) throw answer.error;
      const config = (answer.body as { readonly kubeletconfig?: unknown } | null)?.kubeletconfig;
      if (typeof config === 'object' && config !== null) return config as Readonly<Record<string, unknown>>;
      throw new GitopsError('CONFIGZ_UNREADABLE', `/configz of ${name} holds no "kubeletconfig"`);
    },
    agent: (name) =>
      kube.get<KubeletNode>({ resource: KUBELET_NODES }, name).then(
        (node) => node?.status ?? null,
        () => null,
      ),
  };
}
