import type { Halt, Released } from '#shared/contract/api/kubelet-pool.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { isNew, isOnFirstTrial, wasNew } from './new-node.ts';
import { NO_REVERT, revertOf } from './revert.ts';
import { LIFECYCLE } from './lifecycle.ts';
import type { Group, Member } from './membership.ts';
import { memberOf, probationIn, soakOf } from './membership.ts';
import type { ClassRecord } from '../proof/record.ts';
import { assignmentOf, hasProvedAny, sameTarget, type NodeTarget } from './node-progress.ts';

/**
 * Which config a node is to run now. config: the pool's payload. settled: what the pool settled on before (or the node, where the pool never did), for nodes that
 * are new while a rollout is under way, and for all of them when one is taken back. local: its own.
 */
export type TargetKind = 'config' | 'settled' | 'local';

export interface Targeted {
  readonly member: Member;
  readonly targetKind: TargetKind;
  /** Name of the config source that the member's target is in; null for local. */
  readonly configName: string | null;
}

/**
 * What each node of a group is to run now. A revert takes back what has the failed payload; where the pool never settled on anything,
 * to what the node itself ran before. New nodes get the config that is
 * known to be good, at once, and finish its trial before they are told anything newer; and while a rollout is under way or halted,
 * older ones without any config get it as well, in their turn.
 *
 * @param nameOf of the ConfigMap that carries a config
 */
export function targetsOf(
  group: Group,
  halt: Halt | null,
  nameOf: (target: NonNullable<NodeTarget>) => string,
  now: Millis,
): readonly Targeted[] {
  const { pool, proof } = group;
  const config = pool?.config ?? null;
  const reverts = halt?.action === 'revert';
  const hadClasses = pool?.classes !== undefined && [...(proof?.classes.values() ?? [])].some(hadProven);
  const [soakMs, probationMs] = [soakOf(pool), probationIn(pool)];

  return group.members.map((each): Targeted => {
    if (config === null || each.target === null) return { member: each, targetKind: 'local', configName: null };
    const ownName = each.payloadClass?.config?.name ?? config.name;
    const proven = (reverts ? proof?.revertTo(each) : proof?.provenFor(each)) ?? null;
    if (proven === 'unread' || isUnfit(each) || (!reverts && isOneOfThePool(each, pool)))
      return { member: each, targetKind: 'config', configName: ownName };
    // What its class had proven before it has proven the present one was told to it, and is finished first.
    const begun = [proven, sameTarget(proven, each.target) ? assignmentOf(each.kubeletNode) : null];
    const first = begun.find((target) => isOnFirstTrial(each, group, target, now)) ?? null;
    const member = { ...each, joining: first === null ? isNew(each, now) : wasNew(each, now) };
    const startsProven =
      proven !== null && (member.joining || !sameTarget(proven, each.target)) && isUnassigned(member, group, proven);
    const { own, takesBack } = reverts ? revertOf(each, proven, hadClasses) : NO_REVERT;
    if (own !== null) return { member: towards(member, own.target), targetKind: 'settled', configName: own.configName };
    const target = takesBack ? proven : (first ?? (startsProven ? proven : undefined));
    if (target === undefined) return { member, targetKind: 'config', configName: ownName };
    if (target === null) return { member: towards(member, null), targetKind: 'local', configName: null };
    const configName = sameTarget(target, each.target) ? ownName : nameOf(target);
    return { member: towards(member, target), targetKind: 'settled', configName };
  });

  function towards(member: Member, target: NodeTarget): Member {
    if (sameTarget(member.target, target)) return member;
    const { node, kubeletNode, payloadClass, joining } = member;
    return { ...memberOf(node, kubeletNode, target, soakMs, now, payloadClass, probationMs), joining };
  }
}

const hadProven = ({ proven, former }: ClassRecord): boolean => (proven ?? former) !== null;

/** The group as it stands when the failures that a person forgave count no more. */
export function withForgivenFailures(group: Group, released: Released | null): Group {
  const forgiven = new Set(released?.failures.map(({ node, at }) => `${node} ${at}`));
  if (forgiven.size === 0) return group;
  const members = group.members.map((member) => {
    const isForgiven = member.failedAt !== undefined && forgiven.has(`${member.node.name} ${member.failedAt}`);
    return isForgiven && member.kubeletNode?.spec?.forgive !== member.failedAt ? retried(member) : member;
  });
  return { ...group, members };
}

/** Who is silent cannot be told to try once more. */
function retried(member: Member): Member {
  if (member.lifecycle.shown === 'no-agent') return { ...member, failedAt: undefined };
  const lifecycle = member.lifecycle.inChange ? LIFECYCLE.superseded : LIFECYCLE.outdated;
  return { ...member, lifecycle, forgive: true };
}

/** Its kubelet would refuse the pool's config, and what was proven before is no better known to suit it. */
const isUnfit = ({ unrendered, payloadClass }: Member): boolean =>
  unrendered !== undefined && payloadClass?.config !== null;

/** It was told a config of this pool, and has proven one: it is to run what the pool says, whatever others run. */
const isOneOfThePool = ({ kubeletNode }: Member, pool: Group['pool']): boolean =>
  kubeletNode?.spec?.configSource !== undefined && kubeletNode.spec.pool === pool?.name && hasProvedAny(kubeletNode);

/** Has no config of this pool: never had one, or comes from another pool with another one than this, and than the pool's payload. */
function isUnassigned({ kubeletNode, target }: Member, { pool }: Group, good: NodeTarget): boolean {
  const has = assignmentOf(kubeletNode);
  if (has === null) return true;
  return kubeletNode?.spec?.pool !== pool?.name && !sameTarget(has, good) && !sameTarget(has, target);
}
