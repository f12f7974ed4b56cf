import type { Halt, KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import type { Fleet } from '../fleet.ts';
import { type Group, targetOf } from './membership.ts';
import { isRecordOfTarget } from './node-progress.ts';

type Seen = Pick<Fleet, 'pools' | 'configSources'>;

/**
 * The status of a pool as decisions take it. A payload that stopped the pool which its nodes come from stops this one: under another name
 * it is the same payload.
 */
export function withInheritedStatus(
  group: Group,
  before: KubeletPoolStatus | undefined,
  seen: Seen,
): KubeletPoolStatus | undefined {
  const hasHistory = before?.settled !== undefined || before?.rollout !== undefined;
  if (hasHistory || (group.pool?.config ?? null) === null) return before;
  const halt = before?.halt ?? haltBroughtAlong(group, seen);
  return halt === undefined ? before : { ...before, halt };
}

/** Of the pools that the nodes were in, or whose config they still have: a node may be in its new pool before that has a status. */
function haltBroughtAlong({ pool, members }: Group, { pools, configSources }: Seen): Halt | undefined {
  const target = targetOf(pool);
  const origins = new Set(
    members.flatMap(({ kubeletNode }) => {
      const { pool: own, configSource } = kubeletNode?.spec ?? {};
      return [own, configSources.get(configSource?.name ?? '')?.pool];
    }),
  );
  origins.delete(pool?.name);
  const halts = [...origins].flatMap((name) => pools.get(name ?? '')?.status?.halt ?? []);
  return target === null ? undefined : halts.find((halt) => isRecordOfTarget(halt, target));
}
