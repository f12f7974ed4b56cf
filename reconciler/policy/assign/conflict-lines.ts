import type { Choice } from './choose-pool.ts';

const MOST_NODES = 5;

/**
 * What is to be said of nodes that are left as they are because nobody can say which pool they belong to: a line for each
 * set of pools, for a slip in a selector brings hundreds of nodes into conflict at once. A node that a person opted out is no news.
 */
export function conflictLines(
  nodes: readonly {
    readonly node: { readonly name: string };
    readonly choice: Choice | { readonly choice: 'unknown' };
  }[],
): readonly string[] {
  const wanted = nodes.flatMap(({ node, choice }) =>
    choice.choice === 'conflict' ? [{ name: node.name, pools: choice.pools.join(' and ') }] : [],
  );
  return [...Map.groupBy(wanted, ({ pools }) => pools)].map(([pools, on]) => {
    const names = on.map(({ name }) => name);
    const [is, them] = names.length === 1 ? ['is left as it is', 'it'] : ['are left as they are', 'them'];
    return `${listed(names)} ${is}: ${pools} select ${them} with the same priority. Give one of the pools a higher one`;
  });
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, MOST_NODES).join(', ');
  if (names.length === 1) return `node ${shown}`;
  const more = names.length > MOST_NODES ? ` and ${names.length - MOST_NODES} more` : '';
  return `${names.length} nodes (${shown}${more})`;
}
