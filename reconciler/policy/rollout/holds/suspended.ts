import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import type { ClusterPolicy } from '../../cluster-policy.ts';
import type { DesiredPool } from '../../desired.ts';
import { suspensionAt } from '../../suspension.ts';
import { type Hold, hold } from './hold.ts';
import type { HoldCheck } from './hold-question.ts';

export const suspended: HoldCheck = ({ facts: { group, present, policy, now } }) =>
  suspensionOf(group.pool, present, policy, now);

/**
 * Who stopped a pool: a person by annotation, its own file, or that of the cluster. A file of the cluster that cannot be read may
 * say anything, so it stops all pools.
 *
 * @param present the pool as the cluster has it
 */
export function suspensionOf(
  pool: DesiredPool | null,
  present: KubeletPool | undefined,
  policy: ClusterPolicy,
  now: Millis,
): Hold | null {
  const annotated = present === undefined ? null : suspensionAt(present, now);
  if (annotated !== null) {
    const because = annotated.says === '' ? '' : ` (${annotated.says})`;
    const earlier = annotated.until === null ? '' : ' earlier';
    return hold('suspended', `the pool is suspended${because}; kubelet-gitops resume ends it${earlier}`);
  }
  if (pool?.spec.suspend === true) return hold('suspended', 'pool.yaml says suspend: true');
  if (policy.suspend) return hold('suspended', "the cluster's file says suspend: true");
  if (policy.unreadable === undefined) return null;
  const because = 'nobody suspended it, but nothing starts until the cluster’s file can be read again';
  return hold('cluster-file', `${because}: ${policy.unreadable}`);
}
