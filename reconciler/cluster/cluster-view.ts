import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import type { ListWatchOptions } from '#shared/kube/list-watch.ts';
import { CONFIG_MAPS, type Kube, KUBELET_NODES, KUBELET_POOLS, NODES } from '#shared/kube/kube.ts';
import { createInformer, type Informer } from '#shared/kube/informer.ts';
import type { ConfigSourceView, Fleet, UnreadableObject, NodeView } from '../policy/fleet.ts';
import {
  CONFIG_SOURCE_SELECTOR,
  isOnlyHeartbeat,
  trimNode,
  viewConfigSource,
  viewKubeletNode,
  viewKubeletPool,
  viewNode,
} from './object-views.ts';
import { createListGc } from './list-gc.ts';
import { createValueInterner } from './value-interner.ts';
import type { WriteOverlay } from './write-cache/write-overlay.ts';

interface ClusterViewOptions extends Omit<ListWatchOptions, 'signal' | 'trim'> {
  readonly kube: Kube;
  /** Namespace of the config sources. */
  readonly namespace: string;
  readonly written: WriteOverlay<KubeletNode>;
  readonly writtenPools: WriteOverlay<KubeletPool>;
  readonly marks: WriteOverlay<NodeView>;
  /** A poke: something that matters may have changed. */
  readonly onChange: () => void;
}

/** The cluster as four watches show it. */
interface ClusterView {
  /** The whole fleet at this moment; null until every watch has seen everything once, and once more after `refresh`. */
  fleet(): Fleet | null;
  /**
   * Reads again what reconcilers write: another one may have written until a moment ago, and our watches may be behind. Nodes
   * only where pools may have them drained, because nothing else of a reconciler is in them.
   */
  refresh(): void;
  /** Follows until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

export function createClusterView(options: ClusterViewOptions): ClusterView {
  const { namespace, written, writtenPools, marks } = options;
  const share = createValueInterner();
  const sweeping = createListGc();
  const nodes = createInformer<KubeObject, NodeView>({
    ...options,
    selection: { resource: NODES },
    trim: sweeping(trimNode),
    project: (object) => share(viewNode(object)),
  });
  const kubeletNodes = createInformer<KubeObject, KubeletNode>({
    ...options,
    selection: { resource: KUBELET_NODES },
    trim: sweeping<KubeObject>(viewKubeletNode),
    project: (object) => share(viewKubeletNode(object)),
    same: isOnlyHeartbeat,
  });
  const pools = createInformer<KubeObject, KubeletPool>({
    ...options,
    selection: { resource: KUBELET_POOLS },
    trim: viewKubeletPool,
    project: viewKubeletPool,
  });
  const configSources = createInformer<KubeObject, ConfigSourceView>({
    ...options,
    selection: { resource: CONFIG_MAPS, namespace, labelSelector: CONFIG_SOURCE_SELECTOR },
    project: viewConfigSource,
  });
  const mirrors: readonly Informer<unknown>[] = [nodes, kubeletNodes, pools, configSources];

  /** A config source is known by its name alone, as all of them are. */
  function leftOut(): readonly UnreadableObject[] {
    const kinds = [
      ['node', nodes],
      ['node', kubeletNodes],
      ['pool', pools],
      ['config-source', configSources],
    ] as const;
    return kinds.flatMap(([of, { unreadable }]) =>
      [...unreadable].map(([key, { error, uid }]): UnreadableObject => {
        const name = key.slice(key.indexOf('/') + 1);
        return { of, name, uid: of === 'node' ? (nodes.items.get(name)?.uid ?? uid) : uid, error };
      }),
    );
  }

  /** Before they were read, any pool may have its nodes drained; and so may one that cannot be read. */
  function mayDrain(): boolean {
    try {
      return !pools.synced() || [...pools.items.values()].some(({ spec }) => (spec?.disruption?.allow.length ?? 0) > 1);
    } catch {
      return true;
    }
  }

  return {
    fleet() {
      if (!mirrors.every((mirror) => mirror.synced())) return null;
      const left = leftOut();
      return {
        ...(left.length === 0 ? {} : { unreadable: left }),
        nodes: marks.merge(new Map(nodes.items), nodes.listedAtMs()),
        kubeletNodes: written.merge(new Map(kubeletNodes.items), kubeletNodes.listedAtMs()),
        pools: writtenPools.merge(new Map(pools.items), pools.listedAtMs()),
        configSources: new Map([...configSources.items.values()].map((source) => [source.name, source])),
      };
    },
    refresh() {
      for (const mirror of [kubeletNodes, pools, configSources, ...(mayDrain() ? [nodes] : [])]) mirror.refresh();
    },
    async run(signal) {
      await Promise.all(mirrors.map((mirror) => mirror.run(signal)));
    },
  };
}
