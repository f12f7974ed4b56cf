import type { RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';
import { parseDuration } from '#shared/runtime/duration.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { selectorMatches } from '../pool-selection/selector.ts';
import type { PayloadClass } from '../payload-classes.ts';
import { shareOf } from './amount.ts';
import { canariesOf } from './class-canaries.ts';
import { isProvenAndAwaitsTurn, type Member } from './membership.ts';

/** A set of nodes that a rollout changes together; the next wave begins after this one has soaked. */
export interface Wave {
  readonly name: string;
  /** How many of the pool's nodes run the payload when the wave is done. */
  readonly nodes: number;
  /** How long its nodes have to be healthy with the payload before the wave is done. */
  readonly soakMs: Millis;
  /** Only these nodes; everybody where it is absent. */
  readonly only?: (member: Member) => boolean;
  /** So many of each class, where canaries are asked of each. */
  readonly ofClasses?: ReadonlyMap<PayloadClass, number>;
  /** Why it can never be done as things stand. */
  readonly missing?: string;
}

export const NO_CANARIES = 'no node of the pool matches the selector of its canaries';

/**
 * The waves of a pool: the canaries, the steps, and what is left. Percentages are of the pool's nodes and rounded up; a
 * wave is never smaller than the one before it. Canaries by selector that match no node give a wave that is never done:
 * whoever asked for canaries does not want to go without.
 */
export function wavesOf(rollout: RolloutSpec, members: readonly Member[]): readonly Wave[] {
  const total = members.length;
  const soak = (own: string | undefined): Millis => parseDuration(own ?? rollout.soak) ?? 0;
  const waves: Wave[] = [];
  const { canary, steps = [] } = rollout;
  if (canary?.selector !== undefined) {
    const { selector } = canary;
    const only = ({ node }: Member): boolean => selectorMatches(selector, node.labels);
    const nodes = members.filter(only).length;
    const missing = nodes > 0 ? {} : { missing: NO_CANARIES };
    waves.push({ name: 'canary', nodes: Math.max(1, nodes), soakMs: soak(canary.soak), only, ...missing });
  } else if (canary?.nodes !== undefined) {
    const ofClasses = canary.perClass === true ? canariesOf(canary.nodes, members) : NO_CLASSES;
    const nodes = [...ofClasses.values()].reduce((sum, each) => sum + each, 0);
    const soakMs = soak(canary.soak);
    if (nodes > 0) waves.push({ name: 'canary', nodes, soakMs, ofClasses });
    else waves.push({ name: 'canary', nodes: shareOf(canary.nodes, total), soakMs });
  }
  for (const [index, step] of steps.entries()) {
    const nodes = Math.max(waves.at(-1)?.nodes ?? 0, shareOf(step.nodes, total));
    waves.push({ name: `step ${index + 1}`, nodes, soakMs: soak(step.soak) });
  }
  return [...waves, { name: 'rest', nodes: total, soakMs: soak(undefined) }];
}

const NO_CLASSES: ReadonlyMap<PayloadClass, number> = new Map();

/**
 * Since when a node has run its target in health without a break, or null where it does not: it has to be promoted, Ready,
 * and neither may have begun later. A node that was away in between begins again.
 */
export function healthySince(member: Member): Millis | null {
  const { progress, node, promotedAt } = member;
  const runs = progress === 'settled' || progress === 'soaking' || isProvenAndAwaitsTurn(member);
  if (!runs || !node.ready) return null;
  return Math.max(promotedAt ?? 0, node.readySince);
}
