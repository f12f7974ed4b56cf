import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import type { FollowOptions } from '#shared/kube/follow.ts';
import { CONFIG_MAPS, type Kube, KUBELET_NODES, KUBELET_POOLS, NODES } from '#shared/kube/kube.ts';
import { createMirror, type Mirror } from '#shared/kube/mirror.ts';
import type { ConfigSourceView, Fleet, LeftOut, NodeView } from '../policy/fleet.ts';
import {
  CONFIG_SOURCE_SELECTOR,
  onlySignsOfLife,
  trimNode,
  viewConfigSource,
  viewKubeletNode,
  viewKubeletPool,
  viewNode,
} from './views.ts';
import { createListSweep } from './list-sweep.ts';
import { createSharing } from './sharing.ts';
import type { Overlay } from './written/overlay.ts';

export interface ClusterViewOptions extends Omit<FollowOptions, 'signal' | 'trim'> {
  readonly kube: Kube;
  /** Namespace of the config sources. */
  readonly namespace: string;
  readonly written: Overlay<KubeletNode>;
  readonly writtenPools: Overlay<KubeletPool>;
  readonly marks: Overlay<NodeView>;
  /** A poke: something that matters may have changed. */
  readonly onChange: () => void;
}

/** The cluster as four watches show it. */
export interface ClusterView {
  /** The whole fleet at this moment; null until every watch has seen everything once, since `refresh` where it counts. */
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
  const share = createSharing();
  const sweeping = createListSweep();
  const nodes = createMirror<KubeObject, NodeView>({
    ...options,
    selection: { resource: NODES },
    trim: sweeping(trimNode),
    project: (object) => share(viewNode(object)),
  });
  const kubeletNodes = createMirror<KubeObject, KubeletNode>({
    ...options,
    selection: { resource: KUBELET_NODES },
    trim: sweeping<KubeObject>(viewKubeletNode),
    project: (object) => share(viewKubeletNode(object)),
    same: onlySignsOfLife,
  });
  const pools = createMirror<KubeObject, KubeletPool>({
    ...options,
    selection: { resource: KUBELET_POOLS },
    trim: viewKubeletPool,
    project: viewKubeletPool,
  });
  const configSources = createMirror<KubeObject, ConfigSourceView>({
    ...options,
    selection: { resource: CONFIG_MAPS, namespace, labelSelector: CONFIG_SOURCE_SELECTOR },
    project: viewConfigSource,
  });
  const mirrors: readonly Mirror<unknown>[] = [nodes, kubeletNodes, pools, configSources];

  /** A config source is known by its name alone, as all of them are. */
  function leftOut(): readonly LeftOut[] {
    const kinds = [
      ['node', nodes],
      ['node', kubeletNodes],
      ['pool', pools],
      ['config-source', configSources],
    ] as const;
    return kinds.flatMap(([of, { unreadable }]) =>
      [...unreadable].map(([key, { error, uid }]): LeftOut => {
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
        nodes: marks.over(new Map(nodes.items), nodes.listedAtMs()),
        kubeletNodes: written.over(new Map(kubeletNodes.items), kubeletNodes.listedAtMs()),
        pools: writtenPools.over(new Map(pools.items), pools.listedAtMs()),
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
