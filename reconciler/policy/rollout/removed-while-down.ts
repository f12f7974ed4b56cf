import type { KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import type { Fleet } from '../fleet.ts';
import { type Group, targetOf } from './membership.ts';
import { hasProved, isRecordOfTarget } from './node-progress.ts';
import { isPayload } from './on-trial.ts';

/** Of the names that are kept; the first of them stop the pool. */
const MOST_NAMES = 20;

/**
 * Names of the nodes that were removed while their machines were down, after they were told the payload and before any node of the
 * pool had proven it. Where machines that die are replaced, nothing else is left of them.
 */
export function removedWhileDown(group: Group, before: KubeletPoolStatus | undefined, fleet: Fleet): readonly string[] {
  const { pool, members } = group;
  if (pool === null || members.some(({ kubeletNode, target }) => hasProved(kubeletNode, target))) return [];
  const { rollout } = before ?? {};
  const known = rollout !== undefined && isRecordOfTarget(rollout, targetOf(pool)) ? (rollout.lost ?? []) : [];
  const seen = fleet.lost?.get(pool.name) ?? [];
  const names = [...known, ...seen.filter(({ target }) => isPayload(target, group)).map(({ name }) => name)];
  return [...new Set(names)].slice(0, MOST_NAMES);
}
