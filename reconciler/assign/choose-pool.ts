import type { LabelSelector } from '#shared/contract/api/kubelet-pool.ts';
import { OPT_OUT_LABEL } from '#shared/contract/api/group.ts';
import { matcherOf } from './selector.ts';

/** What choosing needs of a pool. */
export interface Candidate {
  readonly name: string;
  readonly priority: number;
  readonly nodeSelector: LabelSelector;
}

export type Choice =
  | { readonly choice: 'pool'; readonly pool: string }
  /** No pool selects the node: it is to run its local config. */
  | { readonly choice: 'none' }
  /** Several pools of the same, highest priority select it: it is left as it is, and somebody has to decide. */
  | { readonly choice: 'conflict'; readonly pools: readonly string[] }
  /** A person asked us to keep off this node. */
  | { readonly choice: 'opted-out' };

/** Which pool a node with these labels belongs to: the matching one with the highest priority. */
export function choosePool(labels: Readonly<Record<string, string>>, candidates: readonly Candidate[]): Choice {
  return choiceAmong(candidates)(labels);
}

/** The same for many nodes: selectors are looked at once. */
export function choiceAmong(candidates: readonly Candidate[]): (labels: Readonly<Record<string, string>>) => Choice {
  const ready = candidates.map(({ name, priority, nodeSelector }) => ({
    name,
    priority,
    matches: matcherOf(nodeSelector),
  }));
  return (labels) => {
    const optOut = labels[OPT_OUT_LABEL];
    if (optOut !== undefined && optOut !== 'false') return { choice: 'opted-out' };

    const matching = ready.filter((pool) => pool.matches(labels));
    const highest = Math.max(...matching.map((pool) => pool.priority));
    const [winner, ...rivals] = matching.filter((pool) => pool.priority === highest);
    if (winner === undefined) return { choice: 'none' };
    if (rivals.length === 0) return { choice: 'pool', pool: winner.name };
    return { choice: 'conflict', pools: [winner, ...rivals].map((pool) => pool.name).sort() };
  };
}
