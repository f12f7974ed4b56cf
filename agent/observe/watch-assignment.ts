import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import { listWatch } from '#shared/kube/list-watch.ts';
import { type ListWatchEvent, type Kube, KUBELET_NODES } from '#shared/kube/kube.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import { createOngoingFaultReasons } from '#shared/runtime/ongoing-fault-reasons.ts';

interface WatchAssignmentOptions {
  readonly kube: Kube;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  /**
   * The object as it is now; null where there is none.
   *
   * @param isListed see `Reporter.received`
   */
  readonly onHeard: (node: KubeletNode | null, isListed: boolean) => void;
  /** A poke: the spec may be another. The agent's own writes do not poke. */
  readonly onChange: () => void;
}

/** The node's own KubeletNode, the one object that an agent watches. */
export interface AssignmentWatch {
  /** As last heard of; null where there is none, or nothing was heard yet. An API server that is away changes nothing. */
  current(): KubeletNode | null;
  run(signal: AbortSignal): Promise<void>;
}

export function watchAssignment(options: WatchAssignmentOptions): AssignmentWatch {
  const { kube, nodeName, clock, random, log, onHeard, onChange } = options;
  let current: KubeletNode | null = null;
  const away = createOngoingFaultReasons();

  const onFault = (error: unknown): void => {
    if (away.isNew(error)) log.warn({ err: error }, 'the assignment cannot be watched: everything stays as it is');
  };

  return {
    current: () => current,
    async run(signal) {
      const selection = { resource: KUBELET_NODES, fieldSelector: `metadata.name=${nodeName}` };
      for await (const heard of listWatch<KubeletNode>(kube, selection, { signal, clock, random, onFault })) {
        if (away.over()) log.info({}, 'the assignment is watched again');
        const before = current;
        current = nodeIn(heard, nodeName, current);
        onHeard(current, heard.heard === 'replaced');
        if (orderOf(current) !== orderOf(before)) onChange();
      }
    },
  };
}

function nodeIn(heard: ListWatchEvent<KubeletNode>, nodeName: string, before: KubeletNode | null): KubeletNode | null {
  if (heard.heard === 'replaced') return heard.items.find(({ metadata }) => metadata.name === nodeName) ?? null;
  if (heard.item.metadata.name !== nodeName) return before;
  return heard.type === 'DELETED' ? null : heard.item;
}

/** What changes with every change of the spec, and with no change of the status. */
const orderOf = (node: KubeletNode | null): string =>
  node === null ? '' : `${node.metadata.uid ?? ''} ${node.metadata.generation ?? ''}`;
