import { firstFew } from '#shared/runtime/first-few.ts';
import type { Choice } from './choose-pool.ts';

/** A node that several pools of the same priority select. */
export interface Conflict {
  readonly node: string;
  readonly pools: readonly string[];
}

/** The conflicts among nodes that are left as they are. One that never takes part is not among them. */
export function conflictsAmong(
  nodes: readonly {
    readonly node: { readonly name: string };
    readonly choice: Choice | { readonly choice: 'unknown' };
  }[],
): readonly Conflict[] {
  return nodes.flatMap(({ node, choice }) =>
    choice.choice === 'conflict' ? [{ node: node.name, pools: choice.pools }] : [],
  );
}

const MOST_NODES = 5;

/**
 * What to say of nodes that are left as they are because several pools select them alike: a line for each set of
 * pools, because a slip in a selector brings hundreds of nodes into conflict at once.
 */
export function formatConflicts(conflicts: readonly Conflict[]): readonly string[] {
  const together = Map.groupBy(conflicts, ({ pools }) => pools.join(' and '));
  return [...together].map(([pools, on]) => {
    const [is, them] = on.length === 1 ? ['is left as it is', 'it'] : ['are left as they are', 'them'];
    const names = listed(on.map(({ node }) => node));
    return `${names} ${is}: ${pools} select ${them} with the same priority. Give one of the pools a higher one`;
  });
}

function listed(names: readonly string[]): string {
  if (names.length === 1) return `node ${names.join('')}`;
  return `${names.length} nodes (${firstFew(names, MOST_NODES)})`;
}
