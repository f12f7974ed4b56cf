import type { Lease } from '#reconciler/cluster/leader/lease.ts';
import type { SourceState } from '#reconciler/reporting/notes/source-state.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import type { AuditSummary } from '#shared/contract/audit-summary.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import type { Right } from './rights.ts';

/** A part of what was looked at, or why it could not be. */
export type Part<T> =
  | { readonly read: true; readonly value: T }
  | { readonly read: false; readonly code: string; readonly why: string };

export interface CrdFact {
  readonly name: string;
  readonly established: boolean;
  /** Everything that its schemas know below `spec` and `status`, as `status.trial.since`. */
  readonly fields: readonly string[];
}

/** The Deployment or the DaemonSet. */
export interface WorkloadFact {
  readonly wanted: number;
  readonly ready: number;
  /** Pods of the present template. */
  readonly updated: number;
  readonly image: string;
  /** Variables of the container that have a value in the manifest, those of its settings ConfigMap included. */
  readonly settings: Readonly<Record<string, string>>;
}

export interface PodFact {
  readonly name: string;
  readonly component: string;
  readonly node: string;
  readonly ready: boolean;
  /** Why a container does not run: `CrashLoopBackOff`; '' if it does. */
  readonly waiting: string;
  readonly restarts: number;
}

export interface NodeFact {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** It has the taint of a virtual node. */
  readonly virtual?: true;
  readonly kubeletVersion: string;
  /** Without, a Node is too young to be judged. */
  readonly createdAt: Millis | undefined;
}

/** When an object was last written by the clock of the API server, and by the clock of its writer. */
export interface Stamp {
  /** Whose clock: `node worker-1`, `the leading reconciler`. */
  readonly of: string;
  readonly said: Millis;
  /** Undefined where the API server does not tell. */
  readonly stamped: Millis | undefined;
}

/** Everything that the judgement looks at, read once. */
export interface Facts {
  readonly now: Millis;
  readonly namespace: string;
  readonly crds: Part<readonly CrdFact[]>;
  readonly reconciler: Part<WorkloadFact | null>;
  readonly agents: Part<WorkloadFact | null>;
  readonly pods: Part<readonly PodFact[]>;
  readonly lease: Part<Lease | null>;
  readonly source: Part<SourceState | null>;
  /** The last one that was published; null for none. */
  readonly audit: Part<AuditSummary | null>;
  readonly webhookService: Part<boolean>;
  /** Of those that the manifests grant. */
  readonly missingRights: Part<readonly Right[]>;
  readonly nodes: Part<readonly NodeFact[]>;
  readonly kubeletNodes: Part<readonly KubeletNode[]>;
  readonly pools: Part<readonly KubeletPool[]>;
  readonly stamps: readonly Stamp[];
}

/** The value of a part, or the given value if it could not be read: its own diagnosis says so. */
export const valueOr = <T>(part: Part<T>, otherwise: T): T => (part.read ? part.value : otherwise);
