import { MACHINE_ANNOTATION } from '#shared/contract/api/group.ts';
import { DEFAULT_MAX_ON_TRIAL } from '#shared/contract/api/probation.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { ReducedBound, RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';
import { fromTimestamp, type Millis } from '#shared/runtime/clock.ts';
import { NO_CONFIG, targetWith } from '../payload-classes.ts';
import type { DesiredPool } from '../desired.ts';
import type { Fleet, NodeView } from '../fleet.ts';
import { poolOfNode } from '../config-repo/pool-of-class.ts';
import { limitOf } from './amount.ts';
import { canaryCount, classCanaries, membersByClass, replacedMembers } from './canaries.ts';
import { failedMembers, haltThreshold } from './halt.ts';
import { type Group, isConfigurable, isOnTarget, type Member, soakOf, targetOf } from './membership.ts';
import { ONLY_CLASS } from '../proof/record.ts';
import { probationOf } from './trial-terms.ts';
import { assignmentOf, hasProved, type NodeTarget, provenConfigOf, sameTarget, takenBackAt } from './node-progress.ts';

/** How many nodes of a pool run its payload unproven, and how many may. */
export interface OnTrial {
  /** Names of nodes that were told the payload and have neither promoted it, soak included, nor taken it back. */
  readonly names: readonly string[];
  /** Names of nodes that end the trial of a config before, which others may not crowd. */
  readonly superseded: readonly string[];
  /** How many may be now; Infinity where the pool settled on the payload. */
  readonly allowed: number;
  /** Which key of `pool.yaml` says so. */
  readonly by: 'maxOnTrial' | 'maxUnavailable';
  /** How often the bound has doubled. */
  readonly generation: number;
  /** As many nodes as there are canaries have promoted it: the others get a shorter trial. */
  readonly isProven: boolean;
  /** Names of the nodes that took it back, so that the bound is narrower. */
  readonly failed: readonly string[];
  readonly reduced?: ReducedBound | undefined;
  /** By name, what each class of machines may try that its own nodes have not proven; absent until the canaries have proven the payload, and without classes. */
  readonly classes?: ReadonlyMap<string, ClassOnTrial>;
}

/** What the nodes of one class have shown of its config bounds this class alone. */
interface ClassOnTrial {
  /** How many of its nodes may run it unproven now. */
  readonly allowed: number;
  readonly isProven: boolean;
}

/**
 * What is on trial in each pool, wherever its nodes belong by now. A payload begins with the canaries, or one node where none are
 * asked for, and nobody else until as many have promoted it. From then on the bound doubles whenever as many nodes as it allows are
 * past their probation, up to `maxOnTrial`. A node that takes the payload back halves the bound, and only nodes that begin afterwards
 * widen it again. Where values are computed, each class begins by itself after the canaries, with one node or its own canaries: what large machines have proven says
 * nothing of small ones. With `probation: full` the bound is `maxUnavailable`, and who soaks or took it back is among those unavailable.
 */
export function onTrialIn(groups: readonly Group[], fleet: Fleet, now: Millis): ReadonlyMap<Group, OnTrial> {
  const ofPools = groups.filter(isOfPool);
  const names = namesOnTrial(ofPools, fleet, now);
  return new Map(
    ofPools.map((group) => {
      const replaced = new Set(
        replacedMembers(group.members, haltThreshold(group) - 1, now).map(({ node }) => node.name),
      );
      const own = (names.get(group) ?? []).filter((name) => !replaced.has(name));
      return [group, { ...boundOf(group), names: own, superseded: supersededOnTrial(group) }];
    }),
  );
}

interface PoolGroup extends Group {
  readonly pool: DesiredPool;
}

const isOfPool = (group: Group): group is PoolGroup => group.pool !== null;

/** One that is away holds its place in `maxUnavailable`, and is told the newest as soon as it is back. */
const supersededOnTrial = (group: PoolGroup): readonly string[] =>
  group.members.flatMap(({ node, kubeletNode, lifecycle, target }) => {
    const has = assignmentOf(kubeletNode);
    const isOnTrial = lifecycle.shown === 'outdated' && lifecycle.inChange && target !== null && has !== null;
    if (!isOnTrial || !node.ready || node.leaving !== undefined) return [];
    return hasProved(kubeletNode, has) || isProven(group, node.name, has) ? [] : [node.name];
  });

function boundOf(group: PoolGroup): Omit<OnTrial, 'names' | 'superseded'> {
  const { pool, members } = group;
  const { rollout } = pool.spec;
  const by = probationOf(rollout) === null ? 'maxUnavailable' : 'maxOnTrial';
  if (pool.classes === undefined && isProven(group, ONLY_CLASS, targetOf(pool))) {
    return { allowed: Number.POSITIVE_INFINITY, by, generation: 0, isProven: true, failed: [] };
  }
  if (by === 'maxUnavailable') {
    return { allowed: limitOf(rollout.maxUnavailable, members.length), by, generation: 0, isProven: false, failed: [] };
  }
  // Canaries of classes that have nothing to try prove nothing, and make room for nobody.
  const trying = members.filter((each) => isConfigurable(each) && !isProven(group, each.node.name, each.target));
  const evidence = evidenceOf(trying, group);
  const most = mostOnTrial(rollout, members.length);
  const bound = allowedOnTrial(most, canaryCount(rollout, trying), evidence, group.proof?.rollout?.reduced);
  const failed = failedMembers(trying).map(({ node }) => node.name);
  if (!bound.isProven || pool.classes === undefined) return { ...bound, by, failed };
  const classes = new Map<string, ReturnType<typeof allowedOnTrial>>();
  for (const [{ name }, own] of membersByClass(trying)) {
    classes.set(name, allowedOnTrial(most, classCanaries(rollout.canary, own.length), evidenceOf(own, group)));
  }
  const each = [...classes.values()];
  const sum = each.reduce((all, next) => all + next.allowed, 0);
  const allowed = Math.min(most, sum, bound.reduced === undefined ? sum : Math.max(bound.allowed, 1));
  return {
    ...bound,
    allowed,
    generation: Math.max(0, ...each.map(({ generation }) => generation)),
    by,
    failed,
    classes,
  };
}

/** The bound at its widest, of so many nodes. */
export function mostOnTrial({ maxOnTrial, maxUnavailable }: RolloutSpec, nodes: number): number {
  if (maxOnTrial !== undefined) return limitOf(maxOnTrial, nodes);
  return Math.max(limitOf(DEFAULT_MAX_ON_TRIAL, nodes), limitOf(maxUnavailable, nodes));
}

/**
 * The bound as it is with this evidence.
 *
 * @param last what earlier failures have made of it
 */
export function allowedOnTrial(
  most: number,
  canaries: number,
  counts: TrialCounts,
  last?: ReducedBound,
): Pick<OnTrial, 'allowed' | 'generation' | 'isProven' | 'reduced'> {
  const { promoted, passed, failed } = counts;
  const isProven = promoted >= canaries;
  const generation = isProven ? Math.floor(Math.log2(passed / canaries)) + 1 : 0;
  const widest = Math.min(most, canaries * 2 ** generation);
  const known = last && withinReason(last, Math.min(canaries, most), counts);
  const isWhole = failed === 0 && known === undefined;
  if (isWhole || !isProven) return { allowed: widest, generation, isProven, reduced: known };
  const before = known === undefined ? widest : Math.min(widest, widened(known, passed));
  const more = failed - (known?.failed ?? 0);
  if (more === 0) return { allowed: before, generation: doublings(before / canaries), isProven, reduced: known };
  const allowed = Math.max(Math.min(canaries, before), Math.floor(before / 2 ** more));
  const reduced = { failed, maxOnTrial: allowed, begun: counts.begun };
  return { allowed, generation: doublings(allowed / canaries), isProven, reduced };
}

/** Whoever wrote it: a bound by which nobody begins, or since more nodes than are left of those that had begun, would never widen. */
const withinReason = (last: ReducedBound, least: number, { failed, begun }: TrialCounts): ReducedBound => ({
  failed: Math.min(last.failed, failed),
  maxOnTrial: Math.max(last.maxOnTrial, least),
  begun: Math.min(last.begun, begun),
});

/** The bound doubles whenever as many nodes as it allowed have begun since the failure and passed. */
const widened = ({ maxOnTrial, begun }: ReducedBound, passed: number): number =>
  maxOnTrial * 2 ** doublings(1 + Math.max(0, passed - begun) / Math.max(1, maxOnTrial));

const doublings = (times: number): number => Math.max(0, Math.floor(Math.log2(times)));

/** How many nodes of a pool have shown what of its payload. */
export interface TrialCounts {
  readonly promoted: number;
  /** Promoted it, or are past their probation with it. */
  readonly passed: number;
  /** Were told it and have not failed. */
  readonly begun: number;
  readonly failed: number;
}

/** What these nodes say of the payload of the pool, or of their class. */
function evidenceOf(members: readonly Member[], group: PoolGroup): TrialCounts {
  let [promoted, passed] = [0, 0];
  for (const { kubeletNode, lifecycle, target } of members) {
    const isTried = (config: NodeTarget): boolean =>
      group.pool.classes === undefined ? isPayload(config, group) : sameTarget(config, target);
    if (isTried(provenConfigOf(kubeletNode))) promoted += 1;
    else if (lifecycle.inChange && !lifecycle.takesPlace && isTried(assignmentOf(kubeletNode))) passed += 1;
  }
  const begun = members.filter((member) => isOnTarget(member) && !member.lifecycle.failed).length;
  return { promoted, passed: promoted + passed, begun, failed: failedMembers(members).length };
}

/**
 * By group, the names of the nodes that were told the payload of its pool and are not through with it. Who took a later payload back runs
 * this one already, and is told for nothing: it soaks from then on.
 */
function namesOnTrial(groups: readonly PoolGroup[], fleet: Fleet, now: Millis): ReadonlyMap<Group, readonly string[]> {
  const { nodes, kubeletNodes } = fleet;
  const byPool = new Map(groups.map((group) => [group.pool.name, group]));
  const found = new Map<Group, Set<string>>();
  const note = (group: PoolGroup, name: string, node: KubeletNode, target: NodeTarget): void => {
    if (isProven(group, name, target) || isThrough(node, target, group, now)) return;
    found.set(group, (found.get(group) ?? new Set()).add(name));
  };
  for (const [name, node] of kubeletNodes) {
    const group = byPool.get(node.spec?.pool ?? '');
    const view = nodes.get(name);
    if (group === undefined || view === undefined) continue;
    const target = assignmentOf(node);
    if (isPayload(target, group) || isOfLostClass(target, group, view, node)) note(group, name, node, target);
  }
  for (const group of groups) {
    for (const { node, kubeletNode, runsTarget, isAssigned, target } of group.members) {
      // A pool that was renamed, split or merged has nodes that another one told; those that it told itself are noted by now.
      const hasIt = isAssigned ? kubeletNode?.spec?.pool !== group.pool.name && isPayload(target, group) : runsTarget;
      if (hasIt && kubeletNode !== undefined) note(group, node.name, kubeletNode, target);
    }
  }
  return new Map([...found].map(([group, names]) => [group, [...names]]));
}

function isThrough(node: KubeletNode, target: NodeTarget, { pool }: PoolGroup, now: Millis): boolean {
  const isFull = (): boolean => probationOf(pool.spec.rollout) === null;
  if (!hasProved(node, target)) return takenBackAt(node, target) !== undefined && !isFull();
  const promotedAt = fromTimestamp(node.status?.promotedAt);
  return promotedAt === undefined || now - promotedAt >= soakOf(pool) || isFull();
}

/** That of the pool or, where values are computed, of one of its classes. */
export function isPayload(target: NodeTarget, { pool }: Group): boolean {
  if (target === null || pool === null) return false;
  if (pool.classes === undefined) return sameTarget(target, targetOf(pool));
  return pool.classes.configs.has(target.sha256) && sameTarget(target, targetWith(target.sha256, pool.spec));
}

/** A node that left the pool may have been the last one of its class: what it was told is the pool's payload all the same. */
function isOfLostClass(target: NodeTarget, { pool }: PoolGroup, view: NodeView, node: KubeletNode): boolean {
  const { classes, inGit, spec } = pool;
  if (inGit === undefined || classes?.byNode.has(view.name) !== false) return false;
  const machine = { ...view, numaNodes: node.status?.numaNodes };
  const sorted = poolOfNode(inGit, machine, node.metadata.annotations?.[MACHINE_ANNOTATION]);
  return sameTarget(target, targetWith(sorted.class.pool?.sha256 ?? NO_CONFIG, spec));
}

/** The class of this node has proven the config for all of its nodes. */
export const isProven = ({ proof }: Group, node: string, target: NodeTarget): boolean =>
  proof?.isProven(node, target) === true;
