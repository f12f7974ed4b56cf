import type { ApplyMode, DriftPolicy, TrialSpec } from './kubelet-node.ts';
import type { Condition, ObjectMeta } from './object.ts';

/** `metav1.LabelSelector`: all requirements must hold. */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly LabelRequirement[];
}

export interface LabelRequirement {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  readonly values?: readonly string[];
}

export interface RolloutSpec {
  /** Count (`2`) or percentage of the pool's nodes (`"10%"`, rounded down, at least 1 unless it is `"0%"`). Default 1. */
  readonly maxUnavailable: number | string;
  /** How long after its promotion a node still holds its place in the budget. Default `0s`. */
  readonly soak: string;
  readonly onFailure: {
    /** Count or percentage (rounded up) of the pool's nodes whose failure stops the rollout. Default 1. */
    readonly threshold: number | string;
    /** `halt` keeps what is updated and starts nothing new until another payload is committed. */
    readonly action: 'halt';
  };
}

/** A pool as `pools/<name>/pool.yaml` declares it, with every default filled in; the name is the folder's. */
export interface KubeletPoolSpec {
  readonly nodeSelector: LabelSelector;
  /** The highest wins on a node; equal priorities on one node are a conflict that leaves it as it is. Default 0. */
  readonly priority: number;
  /** Paths of KubeletConfiguration files from the root of the repository, in merge order. */
  readonly layers: readonly string[];
  readonly apply: ApplyMode;
  readonly rollout: RolloutSpec;
  readonly trial: TrialSpec;
  /** Default `repair`, which is also what an object of an older release means. */
  readonly drift?: DriftPolicy;
  /** Fields that the pool may set although they are denied by default; absent for none. Denied ones are refused in git. */
  readonly allowFields?: readonly string[];
}

/**
 * Settled: every node of the pool runs the payload and has proved it. Progressing: nodes are being changed or wait
 * for their turn. Halted: failures reached the threshold. Waiting: nothing can be done now (see the conditions).
 * Empty: no node matches.
 */
export type PoolPhase = 'Settled' | 'Progressing' | 'Halted' | 'Waiting' | 'Empty';

/** Counts of nodes; each node is in exactly one of updated, updating, pending, failed and noAgent. */
export interface PoolCounts {
  readonly nodes: number;
  readonly updated: number;
  readonly updating: number;
  readonly pending: number;
  readonly failed: number;
  readonly noAgent: number;
  readonly drifted: number;
}

export interface PoolFailure {
  readonly node: string;
  readonly config: string;
  readonly reason: string;
  readonly message: string;
  readonly at: string;
}

/** What stopped a rollout; kept until another payload is committed. */
export interface Halt {
  readonly config: string;
  readonly sha256: string;
  readonly at: string;
  readonly message: string;
}

export interface KubeletPoolStatus {
  readonly observedGeneration?: number;
  /** The commit that the pool was last rendered from. */
  readonly commit?: string;
  readonly configName?: string;
  /** Hex SHA-256 of the payload that the pool's nodes are to run. */
  readonly sha256?: string;
  readonly phase?: PoolPhase;
  readonly message?: string;
  readonly counts?: PoolCounts;
  readonly halt?: Halt;
  readonly failures?: readonly PoolFailure[];
  readonly conditions?: readonly Condition[];
}

/** Cluster-scoped; the reconciler writes all of it. Short name `kpool`. */
export interface KubeletPool {
  readonly apiVersion?: string;
  readonly kind?: 'KubeletPool';
  readonly metadata: ObjectMeta;
  readonly spec?: KubeletPoolSpec;
  readonly status?: KubeletPoolStatus;
}
