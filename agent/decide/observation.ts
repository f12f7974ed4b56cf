import type { KubeletNodeStatus } from '#shared/contract/api/kubelet-node.ts';
import type { Measures } from '#shared/contract/api/measures.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import type { Remedy } from './decision.ts';
import type { Failure } from './failure.ts';
import type { Health } from '../ports/kubelet-probe.ts';
import type { GuardFault, GuardSeen } from '../ports/guard.ts';
import type { NewerBase } from '../ports/installer.ts';
import type { ServiceStatus } from '../ports/kubelet-service.ts';
import type { KubeletStarter } from '../ports/kubelet-start.ts';
import type { Config, NodePressure } from './state.ts';

/** What the API server wants of this node. */
export type Intent =
  /** The API server was not heard yet, or there is no KubeletNode. Absence is not an order: everything stays. */
  | { readonly intent: 'unknown' }
  /** There is a KubeletNode, and it assigns nothing. */
  | { readonly intent: 'local' }
  | {
      readonly intent: 'config';
      readonly config: Config;
      readonly forgive?: string;
      /** The turn that was granted; see `TurnRequest.seen`. */
      readonly turn?: string;
      /** The KubeletNode says that this assignment was carried out before: it does not allow another restart. */
      readonly isSpent?: boolean;
    }
  /** There is an assignment that cannot be read. */
  | { readonly intent: 'invalid'; readonly failure: Failure };

/** What tells the present order from others. */
export interface SeenOrder {
  /** Of the KubeletNode. */
  readonly uid: string;
  /** `spec.order`; 0 where there is none. */
  readonly number: number;
}

/** What came of fetching and checking a config, before the kubelet has heard of it. */
export type StageResult =
  /** `warnings`: what preflight found that does not speak against a trial, in sentences. */
  | { readonly outcome: 'ready'; readonly warnings: readonly string[] }
  /** `refused`: its content is wrong for this node; trying again cannot help. `unavailable`: something was in the way. */
  | { readonly outcome: 'refused' | 'unavailable'; readonly failure: Failure };

/** The result of staging the wanted config, as a look shows it. */
export type Staged = { readonly config: Config } & (
  | Extract<StageResult, { readonly outcome: 'ready' }>
  | { readonly outcome: 'refused'; readonly failure: Failure }
  /** `retryInMs`: from now; zero or less when it may be tried again. */
  | { readonly outcome: 'unavailable'; readonly failure: Failure; readonly retryInMs: Millis }
);

/** How the managed files compare with what the active config needs. */
export type Files =
  | { readonly files: 'installed' }
  /**
   * `path`: the first file that differs; absent if it is unknown. `differences`: what a kubelet would read otherwise, in phrases; absent
   * where nothing, or where that cannot be said. `areOurs`: files of ours, where local is active.
   */
  | {
      readonly files: 'differ';
      readonly path?: string;
      readonly differences?: readonly string[];
      readonly areOurs?: boolean;
    }
  /** The checkpoint is gone or damaged. `isTransientDiskError`: or it cannot be read for now. */
  | { readonly files: 'lost'; readonly message: string; readonly mayPass?: boolean }
  /** It cannot be installed here; `forGood` where trying again cannot help. `isLocalLost`: the way back to local is. */
  | {
      readonly files: 'blocked';
      readonly message: string;
      readonly forGood: boolean;
      readonly isLocalLost?: boolean;
      readonly mayPass?: boolean;
    };

/** How the running config compares with the active one. */
export type Running =
  | { readonly running: 'as-meant' }
  | { readonly running: 'contradicts'; readonly differences: readonly string[] }
  | { readonly running: 'unseen'; readonly why: string };

/** Whether the agent knows what the kubelet runs, whatever that is. `unreachable`: not for now. */
export type ConfigVisibility =
  | { readonly sight: 'seen' }
  | { readonly sight: 'forbidden' | 'untrusted' | 'off' | 'not-yet' | 'unreachable'; readonly why: string };

/** The node's own config, where a config of ours is laid over it in one file. */
export interface SeenBase {
  /** Hex SHA-256 of the one that a config put on trial now is laid over; null where there is none. */
  readonly under: string | null;
  /** Another one that the node's owner put in its place since. `changes`: the kubelet would see a difference. */
  readonly newer: NewerBase | null;
}

/** The result of checking lastKnownGood again because of drift; see `driftOf`. */
export interface Rechecked {
  readonly config: Config;
  /** How the drift was to be repaired then. A check for one remedy does not count for another. */
  readonly remedy: Remedy;
  readonly result: StageResult;
  /** This look is the first to see the result. */
  readonly isNew: boolean;
  /** From now; zero or less when the check may be made again. */
  readonly retryInMs: Millis;
}

/** What of an installation or a restart this process could not carry out lately. */
export interface Fault extends Failure {
  /** The disk is full, which is not the config's fault. */
  readonly isFull: boolean;
}

/** A config that the reconciler asks about before the node's pods have to leave for it. */
export interface Candidate {
  readonly config: Config;
  /** Tells one request from another about the same config. */
  readonly retry: string;
  /** Null until it was checked. */
  readonly result: StageResult | null;
  /** From now; zero or less when a check that could not be made may be tried again. */
  readonly retryInMs: Millis;
}

/** One look at everything, taken for one state. No decision can ask for more. */
export interface Observation {
  readonly intent: Intent;
  /** `metadata.generation` of the KubeletNode that the intent was read from; undefined where there is none. */
  readonly generation: number | undefined;
  /** Of the same KubeletNode; absent where there is none, and where the intent is not the API server's. */
  readonly order?: SeenOrder;
  /** For the config of the intent; null where nothing was tried. */
  readonly staged: Staged | null;
  readonly candidate: Candidate | null;
  readonly files: Files;
  readonly service: ServiceStatus;
  /** Who is still to start the kubelet in this run of its unit; absent where it began, and where nobody can tell. */
  readonly starter?: KubeletStarter;
  /** No API server answered the last reading of the Node. */
  readonly isApiAway?: boolean;
  /** `off`: the kubelet has no health endpoint. */
  readonly health: Health | { readonly health: 'off' };
  readonly running: Running;
  readonly sight: ConfigVisibility;
  /** Whether the present run of the kubelet was started while the managed files were as they have to be. */
  readonly startedAsInstalled: boolean;
  /** The kubelet began a moment ago: its Node may soon tell another version. Absent for no. */
  readonly isRegistering?: boolean;
  /** This process saw the present run begin. Of another run it can only suppose what files it read. */
  readonly startWasSeen: boolean;
  readonly base: SeenBase;
  /** The present run of the kubelet has every value of the staged config, as /configz proves. */
  readonly runsStaged: boolean;
  /** Hex SHA-256 of what a restart would start the kubelet with, of the kubelet's run, and of the boot. */
  readonly fingerprint: string;
  /** How long ago this process put drifted files back, the oldest first. Only the last few are remembered. */
  readonly repairAges: readonly Millis[];
  /** Null where lastKnownGood was not checked again since the node drifted. */
  readonly rechecked: Rechecked | null;
  readonly guard: GuardSeen;
  /** Why the guard could not be made ready lately. */
  readonly guardFault: GuardFault | null;
  /** `asked`: this node is to be given up; `done`: everything of ours is gone. */
  readonly leaving: 'no' | 'asked' | 'done';
  /** The Node's Ready condition; `unknown` while the Node is unreadable. */
  readonly nodeReady: 'yes' | 'no' | 'unknown';
  /** Why the Node is not Ready, if its condition has a reason. */
  readonly notReady?: string;
  /** What the machine suffers. */
  readonly strain: NodePressure;
  /** For the analysis of canaries; absent unless the pool asks for it. */
  readonly measures?: Measures;
  /** `v1.34.2`; undefined if no look has found it. */
  readonly kubeletVersion: string | undefined;
  /** See `KubeletNodeStatus`; undefined where its command line was never seen. */
  readonly kubeletFlags?: readonly string[] | undefined;
  /** See `KubeletNodeStatus`; absent where nobody looks. */
  readonly commandLine?: NonNullable<KubeletNodeStatus['commandLine']>;
  /** See `KubeletNodeStatus`. */
  readonly numaNodes?: number | undefined;
  /** Result of the last restart that this process ordered; `none` before the first. */
  readonly restart: 'none' | 'done' | 'failed';
  /** How long the service manager has had the kubelet as down for good, from look to look; 0 while it is not down. */
  readonly downMs: Millis;
  /** How often the kubelet ended by itself since it was last healthy for a while, as this process saw it; absent for never. */
  readonly ends?: number;
  /** How long ago this process started a kubelet that was down at rest; null for never. */
  readonly startAgeMs: Millis | null;
  /** Null since the last installation or restart that went well. */
  readonly fault: Fault | null;
  readonly bootId: string;
  /** Time since the look before this one by the monotonic clock; 0 for the first of this process. */
  readonly elapsedMs: Millis;
  /** The first look of this process. */
  readonly first: boolean;
  /** Wall-clock time, RFC 3339, for display. */
  readonly at: string;
  /** How long the service manager may be left unwatched while it matters. */
  readonly pollMs: Millis;
}
