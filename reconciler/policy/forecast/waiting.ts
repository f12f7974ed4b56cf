/** What of a node decides about its turn. */
export interface ForecastNode {
  readonly name: string;
  /** '' where it has no label for it. */
  readonly zone: string;
  readonly isControlPlane: boolean;
}

/** Nodes that have yet to begin. */
export interface Waiting {
  /** Takes the first node in order that may begin; undefined where none may. It has to be the same for nodes of one zone and kind. */
  take(mayBegin: (node: ForecastNode) => boolean): ForecastNode | undefined;
}

interface Lane {
  readonly nodes: readonly { readonly place: number; readonly node: ForecastNode }[];
  next: number;
}

/** In lanes of nodes that begin or wait alike, so that nobody has to look past thousands that wait to find one that may. */
export function waitingIn(nodes: readonly ForecastNode[]): Waiting {
  const placed = nodes.map((node, place) => ({ place, node }));
  const byKind = Map.groupBy(placed, ({ node: { zone, isControlPlane } }) => `${isControlPlane} ${zone}`);
  let lanes: readonly Lane[] = [...byKind.values()].map((lane) => ({ nodes: lane, next: 0 }));
  return {
    take(mayBegin) {
      let first: Lane | undefined;
      for (const lane of lanes) {
        const head = lane.nodes[lane.next];
        const best = first?.nodes[first.next];
        if (head === undefined || (best !== undefined && best.place < head.place) || !mayBegin(head.node)) continue;
        first = lane;
      }
      const found = first?.nodes[first.next];
      if (first === undefined || found === undefined) return undefined;
      first.next += 1;
      if (first.next === first.nodes.length) lanes = lanes.filter((lane) => lane !== first);
      return found.node;
    },
  };
}
