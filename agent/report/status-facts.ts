import type { Decision } from '../decide/decision.ts';
import type { Failure } from '../decide/failure.ts';
import type { Observation } from '../decide/observation.ts';
import type { State } from '../decide/state.ts';

/** All that a status speaks of. */
export interface StatusFacts {
  /** After the decision, and so before its actions. */
  readonly state: State;
  readonly seen: Observation;
  readonly actions: Decision['actions'];
  readonly agentVersion: string;
  /** See `KubeletNodeStatus`. */
  readonly kubeletUnit?: string | undefined;
  /** What could not be carried out lately. */
  readonly fault: Failure | null;
  /** What is wrong with the agent's own files, in sentences. */
  readonly diskProblems: readonly string[];
  /** Why the state of this decision is not on disk, and so nothing of it happens; absent or null once it is saved. */
  readonly unsaved?: Failure | null;
}
