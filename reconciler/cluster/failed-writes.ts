import type { FailedWrite } from '#shared/contract/api/kubelet-pool.ts';
import { isKubeError } from '#shared/kube/kube-error.ts';
import { type Clock, toTimestamp } from '#shared/runtime/clock.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import { setNewest } from '#shared/runtime/set-newest.ts';
import { type Step, subjectOf } from '../policy/steps.ts';

/** Which writes fail again and again, so that people hear of it who see nothing change. */
export interface FailedWrites {
  failed(step: Step, error: unknown): void;
  done(step: Step): void;
  /** Hears of all that is planned: what is not wanted any more does not fail any more. */
  planned(steps: readonly Step[]): void;
  /** By the pool that they are about; a step without one is about its node's. The oldest first. */
  list(): readonly FailedWrite[];
}

/** One or two may be a hiccup. */
const TOLD_AFTER = 3;
const MOST_STEPS = 25_000;
/** Of what the API server says, in characters. */
const LONGEST_MESSAGE = 400;

interface Failing {
  readonly told: FailedWrite;
  readonly times: number;
}

export function createFailedWrites(clock: Clock): FailedWrites {
  const failing = new Map<string, Failing>();
  return {
    failed(step, error) {
      // The world moved on: the next pass decides again.
      if (isKubeError(error, 'KUBE_CONFLICT', 'KUBE_NOT_FOUND', 'KUBE_ABORTED')) return;
      const key = keyOf(step);
      const { told: before, times = 0 } = failing.get(key) ?? {};
      const since = before?.since ?? toTimestamp(clock.now());
      const { node, pool } = subjectOf(step);
      const about = { ...(node === undefined ? {} : { node }), ...(pool === undefined ? {} : { pool }) };
      const message = reasonOf(error).slice(0, LONGEST_MESSAGE).toWellFormed();
      const told = { write: step.step, ...about, since, message };
      setNewest(failing, key, { told, times: times + 1 }, MOST_STEPS);
    },
    done: (step) => void (failing.size > 0 && failing.delete(keyOf(step))),
    planned(steps) {
      if (failing.size === 0) return;
      const wanted = new Set(steps.map(keyOf));
      for (const key of failing.keys()) if (!wanted.has(key)) failing.delete(key);
    },
    list: () =>
      [...failing.values()]
        .filter(({ times }) => times >= TOLD_AFTER)
        .map(({ told }) => told)
        .toSorted((a, b) => (a.since < b.since ? -1 : a.since > b.since ? 1 : 0)),
  };
}

const keyOf = (step: Step): string => JSON.stringify([step.step, subjectOf(step)]);
