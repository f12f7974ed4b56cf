import type { Clock } from '#shared/runtime/clock.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { CheckpointStore } from '../checkpoint/checkpoint-store.ts';
import type { Failure } from '../decide/failure.ts';
import type { AgentTiming } from '../decide/timing.ts';
import { afterFailedSave } from '../decide/save-failed.ts';
import type { Decision } from '../decide/decision.ts';
import { isTransientDiskError } from '../host/disk/transient-errors.ts';
import { FETCHING, transitionLines } from '../report/log-transitions.ts';
import { createLogLimiter } from '../report/log-limiter.ts';
import type { State } from '../decide/state.ts';

/** Writes decisions down, on disk for the next start and in the log for people. */
interface StateSaver {
  /** @returns the decision as far as it may be carried out: not all of it where the disk refuses. Never throws */
  save(before: State, decision: Decision): Promise<Decision>;
  /** Why the state of the last decision is not on disk; null once it is. */
  problem(): Failure | null;
}

export function createStateSaver(
  store: Pick<CheckpointStore, 'save'>,
  log: Log,
  pace: AgentTiming,
  clock: Pick<Clock, 'monotonic'>,
): StateSaver {
  const seldom = createLogLimiter(log, clock);
  let problem: Failure | null = null;
  /** In a row. */
  let faults = 0;
  const save = async (before: State, decision: Decision): Promise<Decision> => {
    try {
      await store.save(decision.next);
      problem = null;
      faults = 0;
      return decision;
    } catch (error) {
      faults += 1;
      seldom.error({ err: error }, 'state cannot be saved');
      const message = `the node's state cannot be written down: ${reasonOf(error)}`;
      problem = { reason: 'CheckpointFailed', message, ...(isTransientDiskError(error) ? { mayPass: true } : {}) };
      return afterFailedSave(before, decision, pace, faults);
    }
  };
  return {
    problem: () => problem,
    async save(before, decision) {
      const kept = await save(before, decision);
      for (const { level, message, fields } of transitionLines(before, kept)) {
        if (message !== FETCHING || seldom.isNews(message, fields)) log[level](fields, message);
      }
      return kept;
    },
  };
}
