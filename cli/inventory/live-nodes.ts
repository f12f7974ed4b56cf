import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import { KUBELET_NODES, NODES, PODS } from '#shared/kube/kube.ts';
import { GitopsError } from '#shared/runtime/errors.ts';
import type { Given } from '../command.ts';
import { connectWith } from '../connect-cluster.ts';
import type { Io } from '../io.ts';
import { configInAnswer } from './config-in-answer.ts';
import type { InventoryNode } from './inventory-node.ts';
import { nodesFrom, withoutImages } from './read-inventory.ts';

/** A cluster's nodes, as they are now. Reads only. */
export interface LiveNodes {
  list(): Promise<readonly InventoryNode[]>;
  /** The same, with what runs on them (needs `list` on pods). @throws KubeError where nodes or pods cannot be listed */
  listWithPods(): Promise<readonly InventoryNode[]>;
  /** @throws GitopsError `NODE_UNKNOWN` */
  get(name: string): Promise<InventoryNode>;
  /**
   * What the kubelet says that it runs, through the API server (needs `get` on nodes/proxy).
   *
   * @throws KubeError if it cannot be read
   */
  configz(name: string): Promise<Readonly<Record<string, unknown>>>;
  /** The node's assignment, and its agent's report; null without one, and without the right to read it. */
  kubeletNode(name: string): Promise<KubeletNode | null>;
}

const MOST_BYTES = 1024 * 1024;

/** Connects as kubectl would, with `--kubeconfig` and `--context`. */
export async function connectNodes(given: Given, io: Io): Promise<LiveNodes> {
  const { kube, transport } = await connectWith(given, io);
  const nodesNow = async () => (await kube.list({ resource: NODES }, undefined, withoutImages)).items;
  // A cluster without us has none, and the user may not be allowed to read them.
  const agentsNow = async () => {
    const found = await kube.list({ resource: KUBELET_NODES }).catch(() => ({ items: [] }));
    return found.items.map((item) => ({ ...item, kind: 'KubeletNode' }));
  };
  return {
    list: async () => nodesFrom((await Promise.all([nodesNow(), agentsNow()])).flat()),
    async listWithPods() {
      const [nodes, pods] = await Promise.all([
        Promise.all([nodesNow(), agentsNow()]),
        kube.list({ resource: PODS, fieldSelector: 'status.phase!=Succeeded,status.phase!=Failed' }),
      ]);
      // In a list no object says its kind.
      return nodesFrom([...nodes.flat(), ...pods.items.map((pod) => ({ ...pod, kind: 'Pod' }))]);
    },
    async get(name) {
      const agent = await kube.get({ resource: KUBELET_NODES }, name).catch(() => null);
      const [node] = nodesFrom([
        await kube.get({ resource: NODES }, name),
        ...(agent === null ? [] : [{ ...agent, kind: 'KubeletNode' }]),
      ]);
      if (node === undefined) throw new GitopsError('NODE_UNKNOWN', `there is no node ${name} in the cluster`);
      return node;
    },
    async configz(name) {
      const call = { verb: 'get', resource: NODES, name, subresource: 'proxy/configz' } as const;
      const answer = await transport.ask(call, MOST_BYTES, undefined);
      if (!answer.ok) throw answer.error;
      const config = configInAnswer(answer.body);
      if (typeof config !== 'string') return config;
      throw new GitopsError('CONFIGZ_UNREADABLE', `/configz of ${name} ${config}`);
    },
    kubeletNode: (name) => kube.get<KubeletNode>({ resource: KUBELET_NODES }, name).catch(() => null),
  };
}
