import type { Clock } from '#shared/runtime/clock.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { CheckpointStore } from '../checkpoint/store.ts';
import type { Failure } from '../decide/failure.ts';
import type { Pace } from '../decide/pace.ts';
import { whenUnsaved } from '../decide/unsaved.ts';
import type { Decision } from '../decide/decision.ts';
import { mayPass } from '../host/disk/passing.ts';
import { FETCHING, linesFor } from '../report/narrate.ts';
import { seldomIn } from '../report/seldom.ts';
import type { State } from '../decide/state.ts';

/** Writes decisions down, on disk for the next start and in the log for people. */
export interface Keeper {
  /** @returns the decision as far as it may be carried out: not all of it where the disk refuses. Never throws */
  keep(before: State, decision: Decision): Promise<Decision>;
  /** Why the state of the last decision is not on disk; null where it is. */
  problem(): Failure | null;
}

export function createKeeper(
  store: Pick<CheckpointStore, 'save'>,
  log: Log,
  pace: Pace,
  clock: Pick<Clock, 'monotonic'>,
): Keeper {
  const seldom = seldomIn(log, clock);
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
      problem = { reason: 'CheckpointFailed', message, ...(mayPass(error) ? { mayPass: true } : {}) };
      return whenUnsaved(before, decision, pace, faults);
    }
  };
  return {
    problem: () => problem,
    async keep(before, decision) {
      const kept = await save(before, decision);
      for (const { level, message, fields } of linesFor(before, kept)) {
        if (message !== FETCHING || seldom.isNews(message, fields)) log[level](fields, message);
      }
      return kept;
    },
  };
}
