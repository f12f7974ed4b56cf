import { reasonOf } from '#shared/runtime/errors.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { CheckpointStore } from '../checkpoint/store.ts';
import type { Pace } from '../decide/pace.ts';
import { whenUnsaved } from '../decide/unsaved.ts';
import type { Decision } from '../decide/decision.ts';
import { linesFor } from '../report/narrate.ts';
import type { State } from '../decide/state.ts';

/** Writes decisions down, on disk for the next start and in the log for people. */
export interface Keeper {
  /** @returns the decision as far as it may be carried out: not all of it where the disk refuses. Never throws */
  keep(before: State, decision: Decision): Promise<Decision>;
  /** Why the state of the last decision is not on disk; null where it is. */
  problem(): string | null;
}

export function createKeeper(store: Pick<CheckpointStore, 'save'>, log: Log, pace: Pace): Keeper {
  let problem: string | null = null;
  const save = async (before: State, decision: Decision): Promise<Decision> => {
    try {
      await store.save(decision.next);
      problem = null;
      return decision;
    } catch (error) {
      const message = `the node's state cannot be written down: ${reasonOf(error)}`;
      if (problem !== message) log.error({ err: error }, 'state cannot be saved');
      problem = message;
      return whenUnsaved(before, decision, pace);
    }
  };
  return {
    problem: () => problem,
    async keep(before, decision) {
      const kept = await save(before, decision);
      for (const { level, message, fields } of linesFor(before, kept)) log[level](fields, message);
      return kept;
    },
  };
}
