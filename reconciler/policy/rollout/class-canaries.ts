import type { Amount } from '#shared/contract/api/kubelet-pool.ts';
import type { PayloadClass } from '../payload-classes.ts';
import { shareOf } from './amount.ts';
import { isOnTarget, type Member } from './membership.ts';
import { hasProved } from './node-progress.ts';

/** What a class of machines lets begin that no node of it has proven its config for. */
export interface ClassLimit {
  readonly payloadClass: PayloadClass;
  /** How many more of its nodes may begin. */
  readonly room: number;
  /** Why no others may. */
  readonly because: string;
}

/** By class, how many canaries it is asked for; a class without a config has none. Empty where nothing is computed. */
export function canariesOf(nodes: Amount, members: readonly Member[]): ReadonlyMap<PayloadClass, number> {
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

/**
 * The classes of which no node has proven its config yet, after the wave of canaries as well: all nodes of a class may have been away then,
 * and a node may come into a class that nobody was in.
 */
export function unprovenClasses(nodes: Amount, members: readonly Member[]): readonly ClassLimit[] {
  return [...membersByClass(members)]
    .filter(([, own]) => !own.some(({ kubeletNode, target }) => hasProved(kubeletNode, target)))
    .map(([payloadClass, own]) => ({
      payloadClass,
      room: Math.max(0, shareOf(nodes, own.length) - own.filter(isOnTarget).length),
      because: `no node with ${payloadClass.name} has proven the config of its class yet`,
    }));
}
