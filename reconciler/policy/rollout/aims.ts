import type { Halt, KubeletPoolStatus, Released } from '#shared/contract/api/kubelet-pool.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import type { Group, Member } from './membership.ts';
import { memberOf, soakOf } from './membership.ts';
import { assignmentOf, sameTarget, standingOf, type Target } from './standing.ts';

/**
 * Which config a node is to run now. config: the pool's payload. settled: what the pool settled on before, for nodes that
 * are new while a rollout is under way, and for all of them when one is taken back. local: its own.
 */
export type Aim = 'config' | 'settled' | 'local';

export interface Aimed {
  readonly member: Member;
  readonly aim: Aim;
  /** Name of the config source that the member's target is in; null for local. */
  readonly configName: string | null;
}

/** A node that is not older than this counts as new. */
export const NEW_NODE_MS: Millis = 15 * 60_000;

/**
 * What each node of a group is to run now. A revert takes back what has the failed payload. New nodes get the config that is
 * known to be good, at once, and finish its trial before they are told anything newer; and while a rollout is under way or halted,
 * older ones without any config get it as well, in their turn.
 */
export function aimsOf(
  group: Group,
  before: KubeletPoolStatus | undefined,
  halt: Halt | null,
  now: Millis,
): readonly Aimed[] {
  const { pool } = group;
  const config = pool?.config ?? null;
  const settled = before?.settled ?? null;
  const former: Target = settled === null ? null : { sha256: settled.sha256, apply: settled.apply };
  const reverts = halt?.action === 'revert';
  const soakMs = soakOf(pool);
  const towards = (member: Member, target: Target): Member =>
    sameTarget(member.target, target)
      ? member
      : { ...memberOf(member.node, member.kubeletNode, target, soakMs, now), joining: member.joining };

  return group.members.map((each): Aimed => {
    if (config === null || each.target === null) return { member: each, aim: 'local', configName: null };
    const isFirstTrial = former !== null && isOnFirstTrial(each, group, former, now);
    const member = { ...each, joining: isFirstTrial || isNew(each, now) };
    const isSettled = sameTarget(former, member.target);
    // Where the pool never settled on anything, what a node has from before, or from another pool, is no part of the failure.
    const isSpared = former === null && !member.wasTold && assignmentOf(member.kubeletNode) !== null;
    const takesBack = reverts && !isSettled && !isSpared;
    const startsGood = settled !== null && (member.joining || !isSettled) && isUnassigned(member, group);
    if (!takesBack && !startsGood && !isFirstTrial) return { member, aim: 'config', configName: config.name };
    if (former === null) return { member: towards(member, null), aim: 'local', configName: null };
    const configName = isSettled ? config.name : (settled?.configName ?? null);
    return { member: towards(member, former), aim: 'settled', configName };
  });
}

/** The group as it stands when the failures that a person forgave count no more. */
export function forgive(group: Group, released: Released | null): Group {
  const forgiven = new Set(released?.failures.map(({ node, at }) => `${node} ${at}`));
  if (forgiven.size === 0) return group;
  const members = group.members.map((member) => {
    const isForgiven = member.failedAt !== undefined && forgiven.has(`${member.node.name} ${member.failedAt}`);
    return isForgiven && member.kubeletNode?.spec?.forgive !== member.failedAt ? retried(member) : member;
  });
  return { ...group, members };
}

const retried = (member: Member): Member => ({
  ...member,
  standing: 'outdated',
  forgive: true,
  unavailable: member.changing || !member.node.ready || member.node.cordoned,
});

/** Has no config of this pool: never had one, or comes from another pool. */
function isUnassigned({ kubeletNode }: Member, { pool }: Group): boolean {
  return assignmentOf(kubeletNode) === null || kubeletNode?.spec?.pool !== pool?.name;
}

function isNew({ kubeletNode, node }: Member, now: Millis): boolean {
  if (now - node.createdAt > NEW_NODE_MS) return false;
  return assignmentOf(kubeletNode) === null && (kubeletNode?.status?.promotedAt ?? null) === null;
}

/** It was told what its pool settled on as its first config, and has yet to prove it. */
function isOnFirstTrial({ kubeletNode }: Member, { pool }: Group, former: Target, now: Millis): boolean {
  if ((kubeletNode?.status?.promotedAt ?? null) !== null || kubeletNode?.spec?.pool !== pool?.name) return false;
  return sameTarget(assignmentOf(kubeletNode), former) && standingOf(kubeletNode, former, now) === 'updating';
}
