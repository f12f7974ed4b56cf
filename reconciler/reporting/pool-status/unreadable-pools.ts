import type { Condition } from '#shared/contract/api/object.ts';
import { type Clock, type Millis, toTimestamp } from '#shared/runtime/clock.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import { sanitizeText } from '#shared/runtime/sanitize.ts';
import type { UnreadableObject } from '../../policy/fleet.ts';
import type { Step } from '../../policy/steps.ts';

/**
 * Says on pools that nothing can be decided about them. Whether one says so already cannot be seen, so that it is said once, and
 * again after a while: another writer may have changed it.
 */
interface UnreadablePools {
  /** What is to be said now. Once a pool can be read, its status is written as ever. */
  due(held: readonly UnreadableObject[]): readonly Step[];
  /** Hears of a step that went through. */
  answered(step: Step): void;
}

export const CANNOT_BE_READ = 'CannotBeRead';

/** A reason that changes all the time is not worth a write each time. */
const AGAIN_MS: Millis = 10 * 60_000;
const LONGEST = 1_000;

export function createUnreadablePools(clock: Clock): UnreadablePools {
  const said = new Map<string, { readonly since: string; readonly at: Millis | null }>();
  return {
    due(held) {
      const pools = new Map(held.flatMap((left) => (left.of === 'pool' ? [[left.name, left] as const] : [])));
      for (const name of said.keys()) if (!pools.has(name)) said.delete(name);
      return [...pools].flatMap(([pool, left]): readonly Step[] => {
        const before = said.get(pool) ?? { since: toTimestamp(clock.now()), at: null };
        said.set(pool, before);
        if (before.at !== null && clock.monotonic() - before.at < AGAIN_MS) return [];
        return [{ step: 'hold-pool', pool, conditions: conditionsOf(left, before.since) }];
      });
    },
    answered(step) {
      const before = step.step === 'hold-pool' ? said.get(step.pool) : undefined;
      if (step.step === 'hold-pool' && before !== undefined) said.set(step.pool, { ...before, at: clock.monotonic() });
    },
  };
}

/** In words for people: what kind of object is held, and why. */
export const describeUnreadable = ({ of, error }: Pick<UnreadableObject, 'of' | 'error'>): string =>
  sanitizeText(`nothing is decided about this ${of}, because it cannot be read: ${reasonOf(error)}`).slice(0, LONGEST);

function conditionsOf(left: UnreadableObject, since: string): readonly Condition[] {
  const message = describeUnreadable(left);
  const is = (type: string, status: Condition['status']): Condition => ({
    type,
    status,
    reason: CANNOT_BE_READ,
    message,
    lastTransitionTime: since,
  });
  return [is('Ready', 'False'), is('Reconciling', 'False'), is('Stalled', 'True')];
}
