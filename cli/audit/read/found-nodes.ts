import type { Labels } from '../../import/pools/fleet-node.ts';
import type { AuditSource, UnseenNodes } from '../audit-report.ts';
import type { NodeFacts } from '../node-facts.ts';

/** What could be read of a fleet. */
export interface FoundNodes {
  readonly source: AuditSource;
  readonly nodes: readonly NodeFacts[];
  readonly unseen: readonly UnseenNodes[];
  /** How many nodes there are, as far as that is known. */
  readonly of: number;
  /** Labels of the nodes that were not seen; undefined where there may be more nodes. */
  readonly strangers: readonly Labels[] | undefined;
}

/** Why a node was not seen, with its name. */
export type Unseen = Omit<UnseenNodes, 'nodes'> & { readonly node: string };

/** The same by reason, the most nodes first. */
export function groupUnseen(unseen: readonly Unseen[]): readonly UnseenNodes[] {
  const grouped = Map.groupBy(unseen, (each) => JSON.stringify({ ...each, node: '' }));
  return [...grouped.values()]
    .map((of): UnseenNodes => {
      const { node: _, ...why } = of[0] as Unseen;
      return { ...why, nodes: of.map(({ node }) => node).sort() };
    })
    .toSorted((one, other) => other.nodes.length - one.nodes.length);
}
