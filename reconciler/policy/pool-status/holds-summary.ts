import type { HoldSummary } from '#shared/contract/api/kubelet-pool.ts';
import type { MemberDecision } from '../rollout/decide-group.ts';

const MOST_EXAMPLES = 5;

/** Why nodes wait, by reason, the one that holds most first. */
export function summariseHolds(decisions: readonly MemberDecision[]): readonly HoldSummary[] {
  const byReason = new Map<string, { readonly names: string[]; readonly message: string }>();
  for (const { member, verdict } of decisions) {
    if (verdict.verdict !== 'hold') continue;
    const known = byReason.get(verdict.hold) ?? { names: [], message: verdict.because };
    known.names.push(member.node.name);
    byReason.set(verdict.hold, known);
  }
  return [...byReason]
    .map(([reason, { names, message }]) => ({
      reason,
      nodes: names.length,
      examples: names.slice(0, MOST_EXAMPLES),
      message,
    }))
    .sort((a, b) => b.nodes - a.nodes || (a.reason < b.reason ? -1 : 1));
}
