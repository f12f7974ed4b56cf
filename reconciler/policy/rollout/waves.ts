import type { RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';
import { parseDuration } from '#shared/runtime/duration.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { shareOf } from './amount.ts';
import { chooseCanaries, type WaveNodes } from './canaries.ts';
import type { Member } from './membership.ts';

/** A set of nodes that a rollout changes together; the next wave begins after this one has soaked. */
export interface Wave extends WaveNodes {
  readonly name: string;
  /** How long its nodes have to be healthy with the payload before the wave is done. */
  readonly soakMs: Millis;
  /** When it is done, a person has to let the others begin. */
  readonly pause?: boolean;
}

/**
 * The waves of a pool: the canaries, the steps, and what is left. Percentages are of the pool's nodes and rounded up; a
 * wave is never smaller than the one before it.
 */
export function wavesOf(rollout: RolloutSpec, members: readonly Member[]): readonly Wave[] {
  const total = members.length;
  const soak = (own: string | undefined): Millis => parseDuration(own ?? rollout.soak) ?? 0;
  const waves: Wave[] = [];
  const { canary } = rollout;
  const canaries = chooseCanaries(canary, members);
  if (canaries !== null)
    waves.push({ name: 'canary', soakMs: soak(canary?.soak), pause: canary?.pause === true, ...canaries });
  for (const [index, step] of stepsFor(rollout, total).entries()) {
    const nodes = Math.max(waves.at(-1)?.nodes ?? 0, step.nodes);
    waves.push({ name: `step ${index + 1}`, nodes, soakMs: soak(step.soak), pause: step.pause });
  }
  return [...waves, { name: 'rest', nodes: total, soakMs: soak(undefined) }];
}

/** The steps of a pool of so many nodes, in ascending order: which of a count and a percentage is more depends on that. */
export const stepsFor = (
  { steps = [] }: RolloutSpec,
  total: number,
): readonly { readonly nodes: number; readonly soak: string | undefined; readonly pause: boolean }[] =>
  steps
    .map(({ nodes, soak, pause = false }) => ({ nodes: shareOf(nodes, total), soak, pause }))
    .toSorted((a, b) => a.nodes - b.nodes);

/**
 * Since when a node has run its target in health without a break, or null where it does not: it has to be promoted, Ready,
 * and neither may have begun later. A node that was away in between begins again.
 */
export const healthySince = ({ lifecycle, node, promotedAt }: Member): Millis | null =>
  lifecycle.updated && node.ready ? Math.max(promotedAt ?? 0, node.readySince) : null;
