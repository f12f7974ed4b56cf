import type { Condition } from '#shared/contract/api/object.ts';

export type ConditionNow = Omit<Condition, 'lastTransitionTime'>;

/** Conditions as they are to be written: the transition time is kept where the status did not change. */
export function settleConditions(
  now: readonly ConditionNow[],
  before: readonly Condition[] | undefined,
  at: string,
): readonly Condition[] {
  return now.map((condition) => {
    const last = before?.find((other) => other.type === condition.type);
    return { ...condition, lastTransitionTime: last?.status === condition.status ? last.lastTransitionTime : at };
  });
}
