import { isDeepStrictEqual as equal } from 'node:util';
import type { Millis } from '#shared/runtime/clock.ts';
import type { GuardFault } from '../ports/guard.ts';
import type { Remedy } from './decision.ts';
import { driftOf } from './drift.ts';
import type { Fault, Intent, Observation, Rechecked, Staged, StageResult } from './observation.ts';
import { type Config, sameConfig, type State } from './state.ts';

/**
 * What a process remembers of its own actions. It is not on disk: losing it only costs time.
 *
 * `agent/execute` is the only writer. It notes the result of each action, and drops what a look has shown to be over
 * (`memoryAfterLook`). `recall` makes it a part of the next look. Times are monotonic.
 */
export interface ProcessMemory {
  /** The last config that was fetched and checked for an assignment. */
  readonly staged: TriedConfig | null;
  /** The last check of a config that is not assigned yet. */
  readonly candidate: TriedCandidate | null;
  /** The last check of lastKnownGood because of drift. `isNew`: no look has seen its result yet. */
  readonly rechecked: (TriedConfig & { readonly remedy: Remedy; readonly isNew: boolean }) | null;
  /** How the last restart went that this process ordered, and how many it has ordered. */
  readonly restart: 'none' | 'done' | 'failed';
  readonly restarts: number;
  readonly guardFault: (Omit<GuardFault, 'retryInMs'> & { readonly retryAt: Millis }) | null;
  /** When a kubelet that was down at rest was started last; null for never. */
  readonly startedAt: Millis | null;
  /** When drifted files were put back, the oldest first; see `addRepair`. */
  readonly repairs: readonly Millis[];
  /** Everything of ours was taken away. */
  readonly left: boolean;
  /** What of an installation or a restart could not be carried out; null since the last that could. */
  readonly fault: Fault | null;
}

/** The result of fetching and checking a config. */
export interface TriedConfig {
  readonly config: Config;
  readonly result: StageResult;
  /** When an `unavailable` one may be tried again. */
  readonly retryAt: Millis;
  /** How often in a row it was unavailable. */
  readonly faults: number;
}

/** The same for a config that the reconciler asks about. */
export interface TriedCandidate extends TriedConfig {
  readonly retry: string;
}

export const EMPTY_MEMORY: ProcessMemory = {
  staged: null,
  candidate: null,
  rechecked: null,
  restart: 'none',
  restarts: 0,
  guardFault: null,
  startedAt: null,
  repairs: [],
  left: false,
  fault: null,
};

/** The part of a look that comes from memory. */
type Recalled = Pick<
  Observation,
  'staged' | 'rechecked' | 'repairAges' | 'guardFault' | 'leaving' | 'restart' | 'fault' | 'startAgeMs'
>;

/** @param isLeaving this node is to be given up */
export function observationFromMemory(
  memory: ProcessMemory,
  intent: Intent,
  isLeaving: boolean,
  now: Millis,
): Recalled {
  const { staged, rechecked, guardFault, repairs, left, restart, fault, startedAt } = memory;
  return {
    staged: stagedFromMemory(staged, intent, now),
    rechecked: rechecked && recallRechecked(rechecked, now),
    repairAges: repairs.map((at) => now - at),
    guardFault: guardFault && recallGuardFault(guardFault, now),
    leaving: !isLeaving ? 'no' : left ? 'done' : 'asked',
    restart,
    fault,
    startAgeMs: startedAt === null ? null : now - startedAt,
  };
}

/** A staged config counts only for the assignment that it was staged for. @param now monotonic */
export function stagedFromMemory(staged: ProcessMemory['staged'], intent: Intent, now: Millis): Staged | null {
  if (staged === null || !isFor(staged, intent)) return null;
  const { config, result, retryAt } = staged;
  switch (result.outcome) {
    case 'ready':
      return { config, ...result };
    case 'refused':
      return { config, outcome: 'refused', failure: result.failure };
    case 'unavailable':
      return { config, outcome: 'unavailable', failure: result.failure, retryInMs: retryAt - now };
  }
}

/** The same bytes in another ConfigMap are another assignment: that one has to be fetched and verified as well. */
const isFor = ({ config }: TriedConfig, intent: Intent): boolean =>
  intent.intent === 'config' && sameConfig(config, intent.config) && equal(config.source, intent.config.source);

const recallRechecked = (
  { config, remedy, result, isNew, retryAt }: NonNullable<ProcessMemory['rechecked']>,
  now: Millis,
): Rechecked => ({ config, remedy, result, isNew, retryInMs: retryAt - now });

const recallGuardFault = (
  { retryAt, ...fault }: NonNullable<ProcessMemory['guardFault']>,
  now: Millis,
): GuardFault => ({
  ...fault,
  retryInMs: retryAt - now,
});

/**
 * What to keep in memory after a decision.
 *
 * - A staged config is kept as long as its assignment, and while the API server is silent. Assigned again later, it is
 *   fetched and checked again.
 * - A check because of drift is dropped with the drift. One that passed is dropped by the look that saw it, so that it never
 *   speaks for later drift. One that failed is kept for its back-off and for the status.
 *
 * @param state where the node stands after the decision
 */
export function memoryAfterLook(
  { staged, rechecked, fault }: ProcessMemory,
  state: State,
  seen: Observation,
): Pick<ProcessMemory, 'staged' | 'rechecked' | 'fault'> {
  const isOver = staged !== null && seen.intent.intent !== 'unknown' && !isFor(staged, seen.intent);
  const isAtRest = state.doing.phase === 'idle' && driftOf(state, seen).drift === 'none';
  return {
    staged: isOver ? null : staged,
    rechecked: rechecked && afterDrift(rechecked, state, seen),
    fault: isAtRest ? null : fault,
  };
}

function afterDrift(
  rechecked: NonNullable<ProcessMemory['rechecked']>,
  state: State,
  seen: Observation,
): ProcessMemory['rechecked'] {
  if (rechecked.result.outcome === 'ready') return null;
  switch (driftOf(state, seen).drift) {
    case 'none':
    case 'reported':
    case 'awaits-turn':
    case 'base-refused':
    case 'paused':
    case 'checked':
      return null;
    case 'unchecked':
    case 'uncheckable':
    case 'refused':
      return rechecked.isNew ? { ...rechecked, isNew: false } : rechecked;
  }
}
