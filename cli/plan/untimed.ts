import type { Disruption } from '#reconciler/policy/disruption/disruption-of.ts';
import type { ClusterConfig, ValidPool } from '#reconciler/policy/repo/loaded.ts';

/** What a rollout may wait for beside trials and soaks. For how long, nobody can say before: no time of a plan holds it. */
export const UNTIMED = ['closed windows', 'blockers', 'drains', 'reboots', 'the comparison of canaries'] as const;
export type Untimed = (typeof UNTIMED)[number];

/** @param classes what the change does to its nodes, one by one */
export function untimedIn(
  { spec: { rollout, blockers, disruption } }: ValidPool,
  { windows }: Pick<ClusterConfig, 'windows'>,
  classes: readonly Disruption['class'][],
): readonly Untimed[] {
  const isReboot = classes.includes('reboot');
  const waits: Readonly<Record<Untimed, boolean>> = {
    'closed windows': (rollout.windows !== undefined || windows !== null) && rollout.emergency === undefined,
    blockers: blockers !== undefined,
    drains: classes.includes('drain') || (isReboot && disruption?.allow.includes('drain') === true),
    reboots: isReboot,
    'the comparison of canaries': rollout.analysis !== undefined,
  };
  return UNTIMED.filter((each) => waits[each]);
}
