import { isKubeError } from '#shared/kube/kube-error.ts';
import { backoffDelay } from '#shared/runtime/backoff.ts';
import type { Clock, Millis } from '#shared/runtime/clock.ts';
import { type Step, subjectOf } from '../policy/steps.ts';

/**
 * Keeps a write that is refused for what it says from being tried in every pass, which may come four times a second: an admission
 * policy, a quota or a limit on size says no again. The other writes have their turn meanwhile.
 */
export interface StandBack {
  /** The steps without those that were refused a moment ago. */
  due(steps: readonly Step[]): readonly Step[];
  /** Hears of a step that failed. */
  failed(step: Step, error: unknown): void;
  done(step: Step): void;
}

const BACKOFF = { firstMs: 5_000, maxMs: 60_000, jitter: 0 };
const MOST_STEPS = 25_000;

interface Refusal {
  readonly times: number;
  readonly untilMs: Millis;
}

export function createStandBack(clock: Clock): StandBack {
  const refusals = new Map<string, Refusal>();
  return {
    due(steps) {
      if (refusals.size === 0) return steps;
      const now = clock.monotonic();
      // What is not planned any more is of no interest: a minute later than its turn it counts as new.
      for (const [key, { untilMs }] of refusals) if (now - untilMs >= BACKOFF.maxMs) refusals.delete(key);
      return steps.filter((step) => now >= (refusals.get(keyOf(step))?.untilMs ?? 0));
    },
    failed(step, error) {
      if (!isAboutTheObject(error)) return;
      const key = keyOf(step);
      const times = (refusals.get(key)?.times ?? 0) + 1;
      refusals.delete(key);
      refusals.set(key, { times, untilMs: clock.monotonic() + backoffDelay(times, BACKOFF, 0) });
      const oldest = refusals.keys().next().value;
      if (refusals.size > MOST_STEPS && oldest !== undefined) refusals.delete(oldest);
    },
    done: (step) => void (refusals.size > 0 && refusals.delete(keyOf(step))),
  };
}

/** Another config or commit is another write, which has its turn at once. */
const keyOf = (step: Step): string => JSON.stringify([step.step, subjectOf(step)]);

/** What was thrown by us, too: an object that cannot be read cannot be written. */
const isAboutTheObject = (error: unknown): boolean =>
  !isKubeError(error) || isKubeError(error, 'KUBE_INVALID', 'KUBE_FORBIDDEN');
