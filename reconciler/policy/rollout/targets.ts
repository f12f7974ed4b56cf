import type {
  Halt,
  KubeletPoolStatus,
  Released,
  RolloutStatus,
  SettledConfig,
} from '#shared/contract/api/kubelet-pool.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { isNew, isOnFirstTrial, wasNew } from './new-node.ts';
import { NO_REVERT, revertOf } from './revert.ts';
import { LIFECYCLE } from './lifecycle.ts';
import type { Group, Member } from './membership.ts';
import { memberOf, probationIn, soakOf, targetOf } from './membership.ts';
import { settledConfigFor } from './settled-config.ts';
import {
  assignmentOf,
  hasProved,
  hasProvedAny,
  isRecordOfTarget,
  sameTarget,
  type NodeTarget,
} from './node-progress.ts';

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
 */
export function targetsOf(
  group: Group,
  before: KubeletPoolStatus | undefined,
  halt: Halt | null,
  now: Millis,
): readonly Targeted[] {
  const { pool } = group;
  const config = pool?.config ?? null;
  const isThrough = halt === null && hasComeThrough(before?.rollout, targetOf(pool));
  const isProven = pool?.classes === undefined ? () => true : provenIn(group, before?.settled);
  const formerly = settledConfigFor(before?.settled, pool);
  const reverts = halt?.action === 'revert';
  const [soakMs, probationMs] = [soakOf(pool), probationIn(pool)];

  return group.members.map((each): Targeted => {
    if (config === null || each.target === null) return { member: each, targetKind: 'local', configName: null };
    if (!reverts && isOneOfThePool(each, pool)) {
      return { member: each, targetKind: 'config', configName: each.payloadClass?.config?.name ?? config.name };
    }
    const settled = formerly(each);
    const former = settled?.target ?? null;
    /** What new nodes get: as soon as the waves of a payload are done, that one; of a template, once a node of their class has proven it. */
    const good = isThrough && isProven(each) ? each.target : former;
    const first = [good, former].find((target) => isOnFirstTrial(each, group, target, now)) ?? null;
    const ownName = each.payloadClass?.config?.name ?? config.name;
    const member = { ...each, joining: first === null ? isNew(each, now) : wasNew(each, now) };
    const startsGood =
      good !== null && (member.joining || !sameTarget(good, each.target)) && isUnassigned(member, group, good);
    const { own, takesBack } = reverts ? revertOf(each, former, before?.settled) : NO_REVERT;
    if (own !== null) return { member: towards(member, own.target), targetKind: 'settled', configName: own.configName };
    const target = takesBack ? former : (first ?? (startsGood ? good : undefined));
    if (target === undefined) return { member, targetKind: 'config', configName: ownName };
    if (target === null) return { member: towards(member, null), targetKind: 'local', configName: null };
    const configName = sameTarget(target, each.target) ? ownName : (settled?.configName ?? null);
    return { member: towards(member, target), targetKind: 'settled', configName };
  });

  function towards(member: Member, target: NodeTarget): Member {
    if (sameTarget(member.target, target)) return member;
    const { node, kubeletNode, payloadClass, joining } = member;
    return { ...memberOf(node, kubeletNode, target, soakMs, now, payloadClass, probationMs), joining };
  }
}

/** Whether a node of its class has proven the payload of a node, or the pool settled on that for the class; looked into once asked. */
function provenIn({ members }: Group, settled: SettledConfig | undefined): (member: Member) => boolean {
  const wordOf = (name = '', sha256 = ''): string => `${sha256} ${name}`;
  let proven: Set<string> | undefined;
  return ({ payloadClass, target }) => {
    proven ??= new Set([
      ...members.flatMap((each) =>
        hasProved(each.kubeletNode, each.target) ? [wordOf(each.payloadClass?.name, each.target?.sha256)] : [],
      ),
      ...(settled?.classes ?? []).map((each) => wordOf(each.name, each.sha256)),
    ]);
    return proven.has(wordOf(payloadClass?.name, target?.sha256));
  };
}

/** Whether a payload has done all of its waves, and was compared where its pool asks for that. */
function hasComeThrough(rollout: RolloutStatus | undefined, target: NodeTarget): boolean {
  return rollout !== undefined && isRecordOfTarget(rollout, target) && rollout.finishedAt !== undefined;
}

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

/** It was told a config of this pool, and has proven one: it is to run what the pool says, whatever others run. */
const isOneOfThePool = ({ kubeletNode }: Member, pool: Group['pool']): boolean =>
  kubeletNode?.spec?.configSource !== undefined && kubeletNode.spec.pool === pool?.name && hasProvedAny(kubeletNode);

/** Has no config of this pool: never had one, or comes from another pool with another one than this, and than the pool's payload. */
function isUnassigned({ kubeletNode, target }: Member, { pool }: Group, good: NodeTarget): boolean {
  const has = assignmentOf(kubeletNode);
  if (has === null) return true;
  return kubeletNode?.spec?.pool !== pool?.name && !sameTarget(has, good) && !sameTarget(has, target);
}
