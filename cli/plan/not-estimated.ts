import type { Disruption } from '#reconciler/policy/disruption/field-disruption.ts';
import { asksAnybody } from '#reconciler/policy/rollout/pause.ts';
import type { ClusterConfig, ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';

/** What a rollout may wait for beside trials and soaks. For how long is unknown before: no time of a plan includes it. */
export const NOT_ESTIMATED = [
  'closed windows',
  'blockers',
  'drains',
  'reboots',
  'the comparison of canaries',
  'approvals',
] as const;
export type NotEstimated = (typeof NOT_ESTIMATED)[number];

/** @param classes what the change does to its nodes, one by one */
export function notEstimatedIn(
  { spec: { rollout, blockers, disruption } }: ValidPool,
  { windows }: Pick<ClusterConfig, 'windows'>,
  classes: readonly Disruption['class'][],
): readonly NotEstimated[] {
  const isReboot = classes.includes('reboot');
  const waits: Readonly<Record<NotEstimated, boolean>> = {
    'closed windows': (rollout.windows !== undefined || windows !== null) && rollout.emergency === undefined,
    blockers: blockers !== undefined,
    drains: classes.includes('drain') || (isReboot && disruption?.allow.includes('drain') === true),
    reboots: isReboot,
    'the comparison of canaries': rollout.analysis !== undefined,
    approvals: asksAnybody(rollout),
  };
  return NOT_ESTIMATED.filter((each) => waits[each]);
}
