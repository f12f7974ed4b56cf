import type { KubeletSource } from '#shared/contract/api/kubelet-source.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import type { Applied } from '../cluster/apply.ts';
import type { DroppedField } from '../cluster/write-cache/ineffective-writes.ts';
import type { Desired } from '../policy/desired.ts';
import type { Fleet, UnreadableObject } from '../policy/fleet.ts';
import type { Commit, CommitOid } from '../policy/commit-snapshot.ts';
import type { Plan } from '../policy/plan.ts';
import type { SourceState } from './notes/source-state.ts';

/** What one pass saw, decided and did: all that there is to tell of it, for metrics, Events and conditions. */
export interface PassResult {
  readonly fleet: Fleet;
  readonly desired: Desired;
  readonly planned: Plan;
  readonly applied: Applied;
  /** The record as it is after the pass. */
  readonly source: SourceState;
  /** The object that has it, as it stands after the pass. Absent or null if the pass did not write it. */
  readonly kubeletSource?: KubeletSource | null;
  /** The tip of the branch, once read. It need not be in force. */
  readonly tip: Commit | null;
  /** The commit at which the branch stood then. Absent or null if not read. */
  readonly readAt?: CommitOid | null;
  readonly at: Millis;
  /** What nothing was decided about. */
  readonly unreadable: readonly UnreadableObject[];
  /** Fields that the API server does not keep. Absent where nothing was written. */
  readonly lost?: readonly DroppedField[];
}

/** An observer that only reports what the reconciler does. Never throws, never takes long, and changes nothing. */
export interface PassObserver {
  /** Something may have changed. */
  woken(): void;
  /** A pass of the acting process ended; `made` for one that went through. */
  passed(outcome: 'made' | 'broken-off', tookMs: Millis): void;
  round(round: PassResult): void;
}
