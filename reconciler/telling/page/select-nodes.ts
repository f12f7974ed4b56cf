import type { NodeRow } from './model.ts';
import type { NodeFilter } from './question.ts';

/** So many rows are on a page: a table that a browser draws at once and a person can still look through. */
export const NODES_PER_PAGE = 100;

/** A page of the nodes that a filter lets through. */
export interface NodeSelection {
  readonly rows: readonly NodeRow[];
  /** How many there are on all pages. */
  readonly found: number;
  /** Within 1 and `pages`. */
  readonly page: number;
  /** At least 1. */
  readonly pages: number;
}

/** Pure. A page beyond the last one is the last one. */
export function selectNodes(nodes: readonly NodeRow[], { name, state, page }: NodeFilter): NodeSelection {
  const found = nodes.filter((node) => (state === '' || node.state === state) && node.name.includes(name));
  const pages = Math.max(1, Math.ceil(found.length / NODES_PER_PAGE));
  const shown = Math.min(Math.max(1, page), pages);
  const from = (shown - 1) * NODES_PER_PAGE;
  return { rows: found.slice(from, from + NODES_PER_PAGE), found: found.length, page: shown, pages };
}
