/** What of a node decides about its turn. */
export interface ForecastNode {
  readonly name: string;
  /** '' without a label for it. */
  readonly zone: string;
  readonly isControlPlane: boolean;
  /** One that is not stays so: it takes a place of its own kind (`rollout/places.ts`), keeps it until it has soaked, and proves nothing to a wave. */
  readonly ready: boolean;
  /** Of its machine, where each class has canaries of its own. */
  readonly className?: string | undefined;
}

/** Nodes that have yet to begin. */
export interface WaitingNodes {
  /** Takes the first node in order that may begin; undefined where none may. It has to be the same for nodes of one zone, kind and class. */
  take(mayBegin: (node: ForecastNode) => boolean): ForecastNode | undefined;
}

interface Placed {
  readonly place: number;
  readonly node: ForecastNode;
}

interface Lane {
  readonly nodes: readonly Placed[];
  next: number;
}

/** In lanes of nodes that begin or wait alike, so that one that may begin is found without a look at thousands that wait. */
export function waitingNodes(nodes: readonly ForecastNode[]): WaitingNodes {
  const placed = nodes.map((node, place): Placed => ({ place, node }));
  const byKind = Map.groupBy(
    placed,
    ({ node: { zone, isControlPlane, ready, className = '' } }) => `${isControlPlane} ${ready} ${zone} ${className}`,
  );
  const lanes = [...byKind.values()].map((lane): Lane => ({ nodes: lane, next: 0 }));
  return {
    take(mayBegin) {
      let first: { readonly lane: Lane; readonly head: Placed } | undefined;
      for (const lane of lanes) {
        const head = lane.nodes[lane.next];
        if (head === undefined || (first !== undefined && first.head.place < head.place)) continue;
        if (mayBegin(head.node)) first = { lane, head };
      }
      if (first === undefined) return undefined;
      first.lane.next += 1;
      return first.head.node;
    },
  };
}
