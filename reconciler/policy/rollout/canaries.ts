import type { Amount, RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import type { PayloadClass } from '../payload-classes.ts';
import { selectorMatches } from '../pool-selection/selector.ts';
import { shareOf } from './amount.ts';
import { isOnTarget, type Member } from './membership.ts';
import { hasProved } from './node-progress.ts';

/** Which nodes a wave changes. */
export interface WaveNodes {
  /** How many of the pool's nodes run the payload when the wave is done. */
  readonly nodes: number;
  /** Only these nodes; all where it is absent. */
  readonly only?: (member: Member) => boolean;
  /** So many of each class, where canaries are asked of each. */
  readonly ofClasses?: ReadonlyMap<PayloadClass, number>;
  /** Why the wave can never be done as things stand. */
  readonly missing?: string;
}

export const NO_CANARIES = 'no node of the pool matches the selector of its canaries';

/**
 * The canaries: the nodes that a selector matches, so many nodes, or so many of each class of machines; null where the pool asks for
 * none. A selector that matches no node gives a wave that is never done: a pool that asks for canaries does not go without. Both, where a
 * pool is held to two specs, are so many of those.
 */
export function chooseCanaries(canary: RolloutSpec['canary'], members: readonly Member[]): WaveNodes | null {
  if (canary?.selector !== undefined) {
    const { selector } = canary;
    const only = ({ node }: Member): boolean => selectorMatches(selector, node.labels);
    const nodes = members.filter(only).length;
    const most = canary.nodes === undefined ? nodes : Math.min(nodes, shareOf(canary.nodes, members.length));
    return { nodes: Math.max(1, most), only, ...(nodes > 0 ? {} : { missing: NO_CANARIES }) };
  }
  if (canary?.nodes === undefined) return null;
  const ofClasses = canary.perClass === true ? canariesOf(canary.nodes, members) : NO_CLASSES;
  const nodes = [...ofClasses.values()].reduce((sum, each) => sum + each, 0);
  return nodes > 0 ? { nodes, ofClasses } : { nodes: shareOf(canary.nodes, members.length) };
}

const NO_CLASSES: ReadonlyMap<PayloadClass, number> = new Map();

/** How many nodes begin: the canaries, or one where none are asked for. A pool without nodes has none, and doubles from one as well. */
export const canaryCount = ({ canary }: RolloutSpec, members: readonly Member[]): number =>
  Math.max(1, chooseCanaries(canary, members)?.nodes ?? 1);

/** Who would be a canary if its turn came: everybody in the wave of canaries, and later who is of a class that has shown nothing. */
export function canaryCandidates(members: readonly Member[], isCanaryWave: boolean): (member: Member) => boolean {
  const shown = new Set(
    members.flatMap(({ kubeletNode, target, payloadClass }) =>
      hasProved(kubeletNode, target) ? [payloadClass?.name] : [],
    ),
  );
  return ({ payloadClass }) => isCanaryWave || !shown.has(payloadClass?.name);
}

/** A node that has not been Ready with the payload for so long is dead, as one whose agent is silent: another one is tried in its place. */
const DEAD_AFTER_MS: Millis = 15 * 60_000;

/**
 * Those of these nodes in whose place others are tried: they were told the payload, and are dead or leaving before they could prove or
 * refuse it. One machine may die of itself; where more do than the pool puts up with, they may have died of the payload.
 *
 * @param spared how many nodes may fail without stopping the rollout
 */
export function replacedMembers(members: readonly Member[], spared: number, now: Millis): readonly Member[] {
  const isGone = ({ node, lifecycle }: Member): boolean =>
    node.leaving !== undefined ||
    lifecycle.shown === 'no-agent' ||
    (!node.ready && now - Math.max(node.readySince, node.toldSince ?? now) >= DEAD_AFTER_MS);
  const isUnproven = (member: Member): boolean =>
    member.isAssigned && !member.lifecycle.failed && !hasProved(member.kubeletNode, member.target);
  return members.filter((member) => isUnproven(member) && isGone(member)).slice(0, Math.max(1, spared));
}

/** What a class of machines lets begin that no node of it has proven its config for. */
export interface ClassLimit {
  readonly payloadClass: PayloadClass;
  /** How many more of its nodes may begin. */
  readonly room: number;
  /** Why no others may. */
  readonly because: string;
}

/** By class, how many canaries it is asked for; a class without a config has none. Empty where nothing is computed. */
function canariesOf(nodes: Amount, members: readonly Member[]): ReadonlyMap<PayloadClass, number> {
  return new Map([...membersByClass(members)].map(([each, own]) => [each, shareOf(nodes, own.length)]));
}

/** The nodes of each class that has a config. */
export function membersByClass(members: readonly Member[]): ReadonlyMap<PayloadClass, readonly Member[]> {
  const byClass = new Map<PayloadClass, Member[]>();
  for (const member of members) {
    const { payloadClass } = member;
    if (payloadClass === undefined || payloadClass.config === null) continue;
    const known = byClass.get(payloadClass);
    if (known === undefined) byClass.set(payloadClass, [member]);
    else known.push(member);
  }
  return byClass;
}

/** With how many nodes a class of so many begins that has proven nothing: its own canaries where each class has some, or one. */
export const classCanaries = (canary: RolloutSpec['canary'], nodes: number): number =>
  canary?.perClass === true && canary.nodes !== undefined ? shareOf(canary.nodes, nodes) : 1;

/**
 * The classes of which no node has proven its config yet, after the wave of canaries as well: these may all have been of another class,
 * all nodes of a class may have been away then, and a node may come into a class that nobody was in.
 *
 * @param spared   how many nodes may fail without stopping the rollout: another of their class takes the place of each
 * @param isProven whether the class of a node has proven its config before
 */
export function unprovenClasses(
  canary: RolloutSpec['canary'],
  members: readonly Member[],
  spared: number,
  isProven: (member: Member) => boolean,
  now: Millis,
): readonly ClassLimit[] {
  return [...membersByClass(members)]
    .filter(([, own]) => !own.some((each) => hasProved(each.kubeletNode, each.target) || isProven(each)))
    .map(([payloadClass, own]) => {
      const failed = Math.min(spared, own.filter(({ lifecycle }) => lifecycle.failed).length);
      const replaced = failed + replacedMembers(own, spared, now).length;
      return {
        payloadClass,
        room: Math.max(0, classCanaries(canary, own.length) + replaced - own.filter(isOnTarget).length),
        because: `no node with ${payloadClass.name} has proven the config of its class yet`,
      };
    });
}
