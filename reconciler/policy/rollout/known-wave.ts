import type { RolloutStatus, WaveStatus } from '#shared/contract/api/kubelet-pool.ts';
import type { Wave } from './waves.ts';

const isStep = ({ name }: Pick<Wave, 'name'>): boolean => name.startsWith('step ');

/**
 * What is remembered of a wave. Steps are numbered in the order of their sizes, and a commit may bring others for the same payload: then
 * one is known again by its size. What fewer nodes have done, or was approved after them, says nothing of more.
 *
 * @param waves  all of them, as they are now
 * @param before the way of the same payload so far; undefined for a new one
 */
export function knownWave(
  wave: Pick<Wave, 'name' | 'nodes'>,
  waves: readonly Pick<Wave, 'name'>[],
  before: RolloutStatus | undefined,
): WaveStatus | undefined {
  const known = before?.waves ?? [];
  const named = known.find(({ name }) => name === wave.name);
  // The others are what they were, whoever comes or goes.
  if (!isStep(wave)) return named;
  const isOver = before?.finishedAt !== undefined;
  const steps = known.filter(isStep);
  if (steps.length !== waves.filter(isStep).length)
    return steps.findLast(({ nodes }) => nodes === wave.nodes) ?? (isOver ? named : undefined);
  return isOver || (named !== undefined && named.nodes >= wave.nodes) ? named : undefined;
}
