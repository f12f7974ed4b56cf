import type { Template } from '../templates/template.ts';
import type { Amount, KubeletPoolSpec, WindowsSpec } from '#shared/contract/api/kubelet-pool.ts';
import type { Finding } from '#shared/contract/finding.ts';
import type { FieldPolicy } from '#shared/contract/kubelet-config/field-policy.ts';
import type { TolerableCode } from '#shared/contract/kubelet-config/tolerance.ts';
import type { PositionOf } from '#shared/contract/kubelet-config/position.ts';

/** A pool that can be rendered; its findings are warnings only. */
export interface ValidPool {
  readonly status: 'valid';
  readonly name: string;
  readonly spec: KubeletPoolSpec;
  /** The merged layers, before they became bytes. */
  readonly value: Readonly<Record<string, unknown>>;
  /** Canonical JSON of `value`. */
  readonly payload: string;
  readonly sha256: string;
  readonly configName: string;
  readonly findings: readonly Finding[];
  /** Where a field of `value` was written: file, line and column of the layer that set it. */
  readonly positionOf?: PositionOf;
  /** Its pool.yaml as people see it in the repository. Default: `pools/<name>/pool.yaml`. */
  readonly file?: string;
  /** Versions whose verdict is among the findings already. */
  readonly judgedFor?: readonly string[];
  /**
   * Of a pool with computed values: no node ever gets its `value` and `payload`, which hold marks where those belong; they tell one
   * rollout from another. `poolOfClass` makes what nodes get. Absent for a pool whose nodes all get the same.
   */
  readonly template?: Template;
}

/** A pool with at least one error; what it had before stays in force. */
export interface InvalidPool {
  readonly status: 'invalid';
  readonly name: string;
  readonly findings: readonly Finding[];
}

export type LoadedPool = ValidPool | InvalidPool;

/** Whose notes decide what comes into force. */
export interface Follows {
  /** Each named once. */
  readonly clusters: readonly string[];
  /** How long they have to call a commit settled: `24h`. */
  readonly settledFor: string;
  /** By cluster, the public keys that its notes have to be signed with; those of others need not be signed. */
  readonly signers?: Readonly<Record<string, readonly string[]>>;
  /** What a commit changes has to be proven there, payload by payload, or a person lets it through. */
  readonly require?: 'payloads';
}

/** Durations as `90s`. */
export interface TrialLimits {
  /** The shortest trial, also of nodes that begin after the canaries. */
  readonly minDuration: string;
  readonly maxStartTimeout: string;
}

/** What the commit before lets pools say; absent limits of trials where there was none. */
export type PoolBounds = Pick<ClusterConfig, 'fields'> & Partial<Pick<ClusterConfig, 'trial'>>;

/** `clusters/<cluster>.yaml`, defaults filled in. */
export interface ClusterConfig {
  /** The file as people see it in the repository, whether it is there or not: `infra/kubelet/clusters/prod.yaml`. */
  readonly file?: string;
  /** Minor versions (`1.34`) that every pool's payload is judged against besides those of its nodes. */
  readonly kubeletVersions: readonly string[];
  /** How many nodes (count, or percentage of the assigned ones) one commit may send back to their local config. */
  readonly maxUnassign: Amount;
  /**
   * How many nodes (count, or percentage of all nodes in pools) one commit may give another config; null if not set: all
   * nodes of a single pool, or `DEFAULT_MAX_CHANGE` of several.
   */
  readonly maxChange: Amount | null;
  /** How many nodes of all pools together may be unavailable; null: no bound besides the pools' own. */
  readonly maxUnavailable: Amount | null;
  /** Nothing new is started in any pool while it is true. */
  readonly suspend: boolean;
  /** null where the newest commit comes into force. */
  readonly follows: Follows | null;
  /**
   * The first error of a file that may say anything, as `file:line:column: …`: nothing new is started before it can be read.
   * Absent where the file could be read, and where its errors hide nothing that would hold changes up.
   */
  readonly unreadable?: string;
  /** There is no such file; absent where there is one. */
  readonly missing?: true;
  /** Hold for every pool besides its own; null for none. */
  readonly windows: WindowsSpec | null;
  /** Which fields pools may set. */
  readonly fields: FieldPolicy;
  /** How little a pool may let a config prove. */
  readonly trial: TrialLimits;
  /** Codes of what kubelets silently drop that are only warnings in every pool. */
  readonly tolerate: readonly TolerableCode[];
}

/** A commit's tree, read: pure function of the files. */
export interface LoadedRepo {
  readonly cluster: ClusterConfig;
  /** Sorted by name. */
  readonly pools: readonly LoadedPool[];
  /** What is wrong with the repository beyond a single pool. */
  readonly findings: readonly Finding[];
  /** Why it is not read at all, as a clause: it goes beyond the limits, and nothing is known of its pools. Absent for any other. */
  readonly tooLarge?: string;
}
