import type { LabelSelector } from '#shared/contract/api/kubelet-pool.ts';
import { type Never, neverReason, type Selectable } from '../participation.ts';
import { matcherOf, requiredLabel } from './selector.ts';

/** What choosing needs of a pool. */
export interface PoolCandidate {
  readonly name: string;
  readonly priority: number;
  readonly nodeSelector: LabelSelector;
}

export type Choice =
  | { readonly choice: 'pool'; readonly pool: string }
  /** No pool selects the node: it is to run its local config. */
  | { readonly choice: 'none' }
  /** Several pools of the same, highest priority select it: the node is left as it is until a person decides. */
  | { readonly choice: 'conflict'; readonly pools: readonly string[] }
  /** It is in no pool, whichever selects it: a person asked us to keep off this node, or no agent can run there. */
  | Never;

/** Which pool a node belongs to: the matching one with the highest priority. */
export function choosePool(node: Selectable, candidates: readonly PoolCandidate[]): Choice {
  return createPoolChooser(candidates)(node);
}

/** The same for many nodes: selectors are looked at once. */
export function createPoolChooser(candidates: readonly PoolCandidate[]): (node: Selectable) => Choice {
  const possible = possiblePools(candidates);
  return (node) => {
    const never = neverReason(node);
    if (never !== null) return never;

    const { labels } = node;
    let highest = Number.NEGATIVE_INFINITY;
    let winners: string[] = [];
    for (const { name, priority, matches } of possible(labels)) {
      if (priority < highest || !matches(labels)) continue;
      winners = priority > highest ? [name] : [...winners, name];
      highest = priority;
    }
    const [winner, ...rivals] = winners;
    if (winner === undefined) return { choice: 'none' };
    return rivals.length === 0 ? { choice: 'pool', pool: winner } : { choice: 'conflict', pools: winners.sort() };
  };
}

type Labels = Readonly<Record<string, string>>;

interface ReadyPool {
  readonly name: string;
  readonly priority: number;
  readonly matches: (labels: Labels) => boolean;
}

/**
 * The pools that may match a node at all. Most select by one label of which every pool wants another value, so that of hundreds
 * only those with this node's value have to be asked.
 */
function possiblePools(candidates: readonly PoolCandidate[]): (labels: Labels) => readonly ReadyPool[] {
  const anyLabels: ReadyPool[] = [];
  const byLabel = new Map<string, Map<string | undefined, ReadyPool[]>>();
  for (const { name, priority, nodeSelector } of candidates) {
    const pool = { name, priority, matches: matcherOf(nodeSelector) };
    const required = requiredLabel(nodeSelector);
    if (required === undefined) {
      anyLabels.push(pool);
      continue;
    }
    const [key, value] = required;
    const byValue = byLabel.get(key) ?? new Map<string | undefined, ReadyPool[]>();
    byLabel.set(key, byValue.set(value, [...(byValue.get(value) ?? []), pool]));
  }
  const keys = [...byLabel];
  return (labels) => {
    const named = keys.flatMap(([key, byValue]) => byValue.get(labels[key]) ?? []);
    return [...anyLabels, ...named];
  };
}
