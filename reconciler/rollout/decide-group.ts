import type { Halt } from '#shared/contract/api/kubelet-pool.ts';
import { budgetOf, thresholdOf } from './amount.ts';
import type { Group, Member } from './membership.ts';

/** Why an outdated node is not changed now. */
export type Hold = 'budget' | 'halted' | 'not-ready' | 'cordoned' | 'no-agent' | 'no-config-source';

/** What is done about one node now. `rest` where it needs nothing. */
export type Verdict =
  | { readonly verdict: 'rest' }
  | { readonly verdict: 'change'; readonly because: string }
  | { readonly verdict: 'hold'; readonly hold: Hold; readonly because: string };

export interface MemberDecision {
  readonly member: Member;
  readonly verdict: Verdict;
}

const ZONE_LABEL = 'topology.kubernetes.io/zone';

/**
 * Who is changed now, within the budget. Nodes that are unavailable for any reason use the budget up; a node that we
 * ourselves left in the middle of a change is told the newest target at once, because that costs no further node.
 *
 * @param available whether the target's bytes are in the cluster, so that a node could fetch them
 */
export function decideGroup(group: Group, halt: Halt | null, available: boolean): readonly MemberDecision[] {
  const { members, pool } = group;
  const budget = budgetOf(pool?.spec.rollout.maxUnavailable ?? 1, members.length);
  let free = budget - members.filter((member) => member.unavailable).length;

  return [...members].sort(byZoneThenAge).map((member) => {
    if (member.standing === 'no-agent') {
      return hold(member, 'no-agent', 'no agent has reported from this node lately: is the DaemonSet running there?');
    }
    if (member.standing !== 'outdated') return { member, verdict: { verdict: 'rest' } };
    if (member.target !== null && halt !== null) return hold(member, 'halted', `the pool is halted: ${halt.message}`);
    if (member.target !== null && !available) {
      return hold(member, 'no-config-source', 'the config source is not in the cluster yet');
    }
    if (member.changing) {
      return change(member, 'it is in the middle of a change that is out of date');
    }
    if (member.runsTarget) return change(member, 'it runs this already');
    if (!member.node.ready) return hold(member, 'not-ready', 'the node is not Ready');
    if (member.node.cordoned) return hold(member, 'cordoned', 'the node is cordoned');
    if (free <= 0) return hold(member, 'budget', `maxUnavailable allows ${budget} unavailable nodes in this pool`);
    free -= 1;
    return change(member, 'its turn has come');
  });
}

/** The nodes that took the present target back. */
export function failedMembers(group: Group): readonly Member[] {
  return group.members.filter((member) => member.standing === 'failed' && member.target !== null);
}

/** What stops the pool: what stopped it before, while the payload is the same, or failures that reach the threshold now. */
export function haltOf(group: Group, before: Halt | null, at: string): Halt | null {
  const { pool } = group;
  const config = pool?.config ?? null;
  if (pool === null || config === null) return null;
  if (before !== null && before.sha256 === config.sha256) return before;

  const failed = failedMembers(group).map((member) => member.node.name);
  const { rollout } = pool.spec;
  const nodes = group.members.length;
  // Failed nodes hold their place in the budget: when they fill it, nothing can go on, whatever the threshold says.
  const budget = Math.max(1, budgetOf(rollout.maxUnavailable, nodes));
  const threshold = Math.min(thresholdOf(rollout.onFailure.threshold, nodes), budget);
  if (failed.length < threshold) return null;
  const names =
    failed.length > 5 ? `${failed.slice(0, 5).join(', ')} and ${failed.length - 5} more` : failed.join(', ');
  const message = `${config.name} failed on ${names} (threshold ${threshold}); commit another payload to go on`;
  return { config: config.name, sha256: config.sha256, at, message };
}

function byZoneThenAge(a: Member, b: Member): number {
  const zone = (member: Member): string => member.node.labels[ZONE_LABEL] ?? '';
  return compare(zone(a), zone(b)) || a.node.createdAt - b.node.createdAt || compare(a.node.name, b.node.name);
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const hold = (member: Member, reason: Hold, because: string): MemberDecision => ({
  member,
  verdict: { verdict: 'hold', hold: reason, because },
});

const change = (member: Member, because: string): MemberDecision => ({
  member,
  verdict: { verdict: 'change', because },
});
