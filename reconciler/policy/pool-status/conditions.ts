import type { KubeObject, Condition } from '#shared/contract/api/object.ts';

export type ConditionNow = Omit<Condition, 'lastTransitionTime' | 'observedGeneration'>;

/** An object as far as its conditions go. */
interface Present extends KubeObject {
  readonly status?: { readonly conditions?: readonly Condition[] };
}

/** Conditions as they are to be written, of this generation: the transition time is kept where the status did not change. */
export function settleConditions(
  now: readonly ConditionNow[],
  present: Present | undefined,
  at: string,
): readonly Condition[] {
  const generation = present?.metadata.generation;
  return now.map((condition) => {
    const last = present?.status?.conditions?.find((other) => other.type === condition.type);
    return {
      ...condition,
      lastTransitionTime: last?.status === condition.status ? last.lastTransitionTime : at,
      ...(generation === undefined ? {} : { observedGeneration: generation }),
    };
  });
}
