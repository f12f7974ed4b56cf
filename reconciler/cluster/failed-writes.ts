import type { FailedWrite } from '#shared/contract/api/kubelet-pool.ts';
import { isKubeError } from '#shared/kube/kube-error.ts';
import { backoffDelay } from '#shared/runtime/backoff.ts';
import { type Clock, type Millis, toTimestamp } from '#shared/runtime/clock.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import { setNewest } from '#shared/runtime/set-newest.ts';
import type { UnreadableObject } from '../policy/fleet.ts';
import { type Step, subjectOf } from '../policy/steps.ts';

/** What became of writes that failed: which are not tried just now, which people hear of, and which show that an object is unreadable. */
export interface FailedWrites {
  /**
   * The steps without those that were refused for what they say a moment ago: passes may come several times a second, and an admission
   * policy, a quota or a limit on size says no again. The other writes have their turn meanwhile.
   */
  due(steps: readonly Step[]): readonly Step[];
  failed(step: Step, error: unknown): void;
  done(step: Step): void;
  /** Hears of all that is planned: what is not wanted any more neither fails nor is unreadable any more. */
  planned(steps: readonly Step[]): void;
  /** What could not be looked at while it was to be written, until that succeeds or is not wanted any more. Uids are not known. */
  unreadable(): readonly UnreadableObject[];
  /**
   * What fails again and again, for whatever reason, so that people hear of it who see nothing change: by the pool that it is about; a
   * step without one is about its node's. The oldest first.
   */
  failing(): readonly FailedWrite[];
}

const BACKOFF = { firstMs: 5_000, maxMs: 60_000, jitter: 0 };
const MOST_STEPS = 25_000;
/** One or two may be a hiccup. */
const TOLD_AFTER = 3;
/** Of what the API server says, in characters. */
const LONGEST_MESSAGE = 400;

interface Failure {
  readonly told: FailedWrite;
  /** How often it failed while it was wanted; 0 for a write that is not, of which the refusals are remembered for a minute. */
  readonly times: number;
  /** How often it was refused for what it says, and until when it is not tried for that. */
  readonly refusals: number;
  readonly untilMs: Millis;
  /** What the step was about, if an exception of ours ended it. */
  readonly left: UnreadableObject | null;
}

export function createFailedWrites(clock: Clock): FailedWrites {
  const failures = new Map<string, Failure>();
  return {
    due(steps) {
      if (failures.size === 0) return steps;
      const now = clock.monotonic();
      // A minute later than its turn it counts as new.
      for (const [key, failure] of failures)
        if (failure.refusals > 0 && now - failure.untilMs >= BACKOFF.maxMs)
          failures.set(key, { ...failure, refusals: 0, left: null });
      return steps.filter((step) => now >= (failures.get(keyOf(step))?.untilMs ?? 0));
    },
    failed(step, error) {
      // The world moved on: the next pass decides again.
      if (isKubeError(error, 'KUBE_CONFLICT', 'KUBE_NOT_FOUND', 'KUBE_ABORTED')) return;
      const key = keyOf(step);
      const before = failures.get(key);
      const { times = 0, refusals = 0, untilMs = 0, left = null } = before ?? {};
      const { node, pool } = subjectOf(step);
      const about = { ...(node === undefined ? {} : { node }), ...(pool === undefined ? {} : { pool }) };
      const since = before === undefined || times === 0 ? toTimestamp(clock.now()) : before.told.since;
      const message = reasonOf(error).slice(0, LONGEST_MESSAGE).toWellFormed();
      const failure = { told: { write: step.step, ...about, since, message }, times: times + 1 };
      const refusal = isAboutTheObject(error)
        ? {
            refusals: refusals + 1,
            untilMs: clock.monotonic() + backoffDelay(refusals + 1, BACKOFF, 0),
            left: isKubeError(error) ? null : leftOutBy(step, error),
          }
        : { refusals, untilMs, left };
      setNewest(failures, key, { ...failure, ...refusal }, MOST_STEPS);
    },
    done: (step) => void (failures.size > 0 && failures.delete(keyOf(step))),
    planned(steps) {
      if (failures.size === 0) return;
      const wanted = new Set(steps.map(keyOf));
      for (const [key, failure] of failures) {
        if (wanted.has(key)) continue;
        if (failure.refusals === 0) failures.delete(key);
        else failures.set(key, { ...failure, times: 0, left: null });
      }
    },
    unreadable() {
      const left = [...failures.values()].flatMap((failure) => failure.left ?? []);
      return [...new Map(left.map((each) => [`${each.of} ${each.name}`, each])).values()];
    },
    failing: () =>
      [...failures.values()]
        .filter(({ times }) => times >= TOLD_AFTER)
        .map(({ told }) => told)
        .toSorted((a, b) => (a.since < b.since ? -1 : a.since > b.since ? 1 : 0)),
  };
}
/** Another config or commit is another write, which has its turn at once. */
const keyOf = (step: Step): string => JSON.stringify([step.step, subjectOf(step)]);

/** What was thrown by us, too: an object that cannot be read cannot be written. */
const isAboutTheObject = (error: unknown): boolean =>
  !isKubeError(error) || isKubeError(error, 'KUBE_INVALID', 'KUBE_FORBIDDEN');

/** A config source that cannot be written says nothing about its pool. */
function leftOutBy(step: Step, error: unknown): UnreadableObject {
  const { node, pool = '', config } = subjectOf(step);
  if (node !== undefined) return { of: 'node', name: node, uid: '', error };
  return config === undefined
    ? { of: 'pool', name: pool, uid: '', error }
    : { of: 'config-source', name: config, uid: '', error };
}
