import { isKubeError } from '#shared/kube/kube-error.ts';
import { backoffDelay } from '#shared/runtime/backoff.ts';
import type { Clock, Millis } from '#shared/runtime/clock.ts';
import { setNewest } from '#shared/runtime/set-newest.ts';
import type { UnreadableObject } from '../policy/fleet.ts';
import { type Step, subjectOf } from '../policy/steps.ts';
import { createFailedWrites, type FailedWrites } from './failed-writes.ts';

/**
 * Keeps a write that is refused for what it says from being tried in every pass, which may come several times a second: an admission
 * policy, a quota or a limit on size says no again. The other writes have their turn meanwhile.
 */
export interface RefusedWriteBackoff {
  /** The steps without those that were refused a moment ago. */
  due(steps: readonly Step[]): readonly Step[];
  /** Hears of a step that failed. */
  failed(step: Step, error: unknown): void;
  done(step: Step): void;
  /** Hears of all that is planned: what is not wanted any more is not unreadable any more. */
  planned(steps: readonly Step[]): void;
  /** What could not be looked at while it was to be written, until that succeeds or is not wanted any more. Uids are not known. */
  unreadable(): readonly UnreadableObject[];
  /** What fails again and again, for whatever reason. */
  failing: FailedWrites['list'];
}

const BACKOFF = { firstMs: 5_000, maxMs: 60_000, jitter: 0 };
const MOST_STEPS = 25_000;

interface Refusal {
  readonly times: number;
  readonly untilMs: Millis;
  /** What the step was about, if an exception of ours ended it. */
  readonly left: UnreadableObject | null;
}

export function createRefusedWriteBackoff(clock: Clock): RefusedWriteBackoff {
  const refusals = new Map<string, Refusal>();
  const failures = createFailedWrites(clock);
  return {
    due(steps) {
      if (refusals.size === 0) return steps;
      const now = clock.monotonic();
      // What is not planned any more is of no interest: a minute later than its turn it counts as new.
      for (const [key, { untilMs }] of refusals) if (now - untilMs >= BACKOFF.maxMs) refusals.delete(key);
      return steps.filter((step) => now >= (refusals.get(keyOf(step))?.untilMs ?? 0));
    },
    failed(step, error) {
      failures.failed(step, error);
      if (!isAboutTheObject(error)) return;
      const key = keyOf(step);
      const times = (refusals.get(key)?.times ?? 0) + 1;
      const left = isKubeError(error) ? null : leftOutBy(step, error);
      const untilMs = clock.monotonic() + backoffDelay(times, BACKOFF, 0);
      setNewest(refusals, key, { times, untilMs, left }, MOST_STEPS);
    },
    done(step) {
      failures.done(step);
      if (refusals.size > 0) refusals.delete(keyOf(step));
    },
    planned(steps) {
      failures.planned(steps);
      if (refusals.size === 0) return;
      const wanted = new Set(steps.map(keyOf));
      for (const [key, refusal] of refusals) if (!wanted.has(key)) refusals.set(key, { ...refusal, left: null });
    },
    failing: failures.list,
    unreadable() {
      const left = [...refusals.values()].flatMap((refusal) => refusal.left ?? []);
      return [...new Map(left.map((each) => [`${each.of} ${each.name}`, each])).values()];
    },
  };
}

/** Another config or commit is another write, which has its turn at once. */
const keyOf = (step: Step): string => JSON.stringify([step.step, subjectOf(step)]);

/** What was thrown by us, too: an object that cannot be read cannot be written. */
const isAboutTheObject = (error: unknown): boolean =>
  !isKubeError(error) || isKubeError(error, 'KUBE_INVALID', 'KUBE_FORBIDDEN');

/** A config source that is made for a pool is no fault of the pool's. */
function leftOutBy(step: Step, error: unknown): UnreadableObject {
  const { node, pool = '', config } = subjectOf(step);
  if (node !== undefined) return { of: 'node', name: node, uid: '', error };
  return config === undefined
    ? { of: 'pool', name: pool, uid: '', error }
    : { of: 'config-source', name: config, uid: '', error };
}
