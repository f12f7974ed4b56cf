import type { Measures } from './measures.ts';
import type { Condition, ObjectMeta } from './object.ts';

/** How a payload meets the node's own local config: over it, or instead of it (as Dynamic Kubelet Configuration did). */
export type ApplyMode = 'overlay' | 'replace';

/**
 * The config source that a node is to run. `uid` and `resourceVersion` only say where the bytes are;
 * what identifies a config is its `ConfigIdentity`.
 */
export interface ConfigSource {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** Key of the ConfigMap's `data`. */
  readonly key: string;
  /** Hex SHA-256 of the payload, UTF-8. */
  readonly sha256: string;
}

/** In which time, and how patiently, a node proves a new config. Durations as `10m`, `90s`. */
export interface TrialSpec {
  /** Healthy time (not wall-clock time) after which a config becomes lastKnownGood. Default 10m, as the kubelet had it. */
  readonly duration: string;
  /** How long a kubelet may take from its start to healthy before it counts as failed. Default 2m. */
  readonly startTimeout: string;
  /** How many unplanned restarts of the kubelet a trial forgives; each begins its healthy time again. Default 2. */
  readonly maxRestarts: number;
}

/** What a node does about files or a running config that are not as assigned: put them back, or only say so. */
export type DriftPolicy = 'repair' | 'report';

export const DEFAULT_DRIFT: DriftPolicy = 'repair';

export const DEFAULT_TRIAL: TrialSpec = { duration: '10m', startTimeout: '2m', maxRestarts: 2 };

/** What reboots the machine: systemd, on the agent's order; or a reboot daemon on the host, by a sentinel file. */
export type RebootBy = 'systemd' | 'sentinel';

/** A change that takes effect with a boot only: the kubelet is started with it by the machine, not by a restart. */
export interface RebootOrder {
  readonly by: RebootBy;
  /** The boot that is to end (`/proc/sys/kernel/random/boot_id`). In any other one it has ended, and nothing is rebooted. */
  readonly boot: string;
  /** How long the reboot may take to come before the change counts as failed. */
  readonly timeout: string;
}

/**
 * Written by the reconciler only. Without `configSource` the node is to run its own local config. A KubeletNode without any
 * spec says nothing: its node stays as it is.
 */
export interface KubeletNodeSpec {
  /**
   * Number of this order. One that is not above `status.obeyedOrder` and wants something else is no order: the cluster went back in
   * time, as after a restore of etcd. Absent before the first order.
   */
  readonly order?: number;
  readonly pool?: string;
  /** The commit that led to this assignment; for people, never compared. */
  readonly commit?: string;
  readonly configSource?: ConfigSource;
  readonly apply?: ApplyMode;
  readonly trial?: TrialSpec;
  /** Default `repair`. */
  readonly drift?: DriftPolicy;
  /** Fields that may be set although they are denied by default. */
  readonly allowFields?: readonly string[];
  /**
   * With `replace`, fields, or branches of them, that keep the value of the node's own config unless the payload sets them. There, too,
   * for none: agents refuse `replace` without it (`saysWhatStays`).
   */
  readonly keepFields?: readonly string[];
  /**
   * `at` of a rejection of this config that a person forgave: it is forgotten, and the config tried once more. Another
   * rejection has another time and stands.
   */
  readonly forgive?: string;
  /** Codes of what this kubelet would silently drop and may: `unknown-field`. See `TOLERABLE_CODES`. */
  readonly tolerate?: readonly string[];
  /** Absent where a restart of the kubelet is enough. */
  readonly reboot?: RebootOrder;
  /**
   * The turn that the node asked for in `status.awaitsTurn`: it may restart its kubelet once, with the config that it has
   * already. A new `configSource` needs none, because the assignment itself is the turn.
   */
  readonly turn?: Turn;
  /** A config that the node is to check before its pods are evicted for it. Nothing of it is installed. */
  readonly preflight?: PreflightOrder;
}

/** The parts of an assignment that a check needs. */
export interface PreflightOrder extends Pick<KubeletNodeSpec, 'apply' | 'allowFields' | 'keepFields' | 'tolerate'> {
  readonly configSource: ConfigSource;
  /** `at` of a refusal that a person forgave: it is checked once more. */
  readonly retry?: string;
}

/**
 * What came of the check of `spec.preflight`. `ready`: nothing is asked, and this agent can be asked. `unavailable`: it could
 * not be checked yet, and is tried again.
 */
export interface PreflightAnswer {
  readonly outcome: 'ready' | 'passed' | 'refused' | 'unavailable';
  /** Of the config that is asked about; absent where none is. */
  readonly sha256?: string;
  readonly apply?: ApplyMode;
  readonly keepFields?: readonly string[];
  /** The order's; absent if the order has none. */
  readonly retry?: string;
  /** As in `error`; absent with `ready` and `passed`. */
  readonly reason?: string;
  readonly message?: string;
  readonly at?: string;
}

/** Leave to restart a kubelet, bound to what the agent saw when it asked. It is void once the agent sees anything else. */
export interface Turn {
  /** The request's `seen`. */
  readonly seen: string;
}

/**
 * Why a node needs a restart although its assignment did not change. NewBase: its own config file changed under ours.
 * RunningOther: the kubelet does not run what its files say. StateLost: its agent lost its state, and the assignment was
 * carried out before that; or the cluster lost its state, and the assignment is not newer than what the agent obeyed.
 */
export type TurnReason = 'NewBase' | 'RunningOther' | 'StateLost';

/** A restart that the kubelet needs, and that has to wait for its turn. The proven files are in place meanwhile. */
export interface TurnRequest {
  readonly reason: TurnReason;
  /** Hex SHA-256 of what the agent saw: the files that it would install, the kubelet's run and the boot. */
  readonly seen: string;
  readonly message: string;
  /** With NewBase: hex SHA-256 of the node's own config file. */
  readonly base?: string;
  /** With StateLost: hex SHA-256 of the payload that is to be installed again; absent for the local config. */
  readonly config?: string;
}

/** A config file of the node's own with which the assigned config failed: the node keeps the one that it had before. */
export interface RefusedBase {
  /** Hex SHA-256 of that file. */
  readonly sha256: string;
  readonly message: string;
  readonly at: string;
}

/** The phases of design section 5. */
export type NodePhase = 'Idle' | 'Staging' | 'Trial' | 'FallingBack' | 'Drifted' | 'Broken';

/** The name under which status shows the node's own local config; no config source can have it (no hash). */
export const LOCAL = 'local';

/**
 * The name for a config that the agent cannot tell, because its state is lost or another node's: neither local, nor proven, nor what
 * is assigned. Also to programs that do not know this word, which compare `name` with `local` and `sha256` with what they want.
 */
export const UNKNOWN_CONFIG = 'unknown';

/** The agent's word (`status.error.reason`) for a config that was proven, and with which the kubelet keeps ending at rest. */
export const PROVEN_CONFIG_FAILS = 'ProvenConfigFails';

/** A config as status names it. `name` is `local` or `unknown` (and nothing else is set) for what is none of ours. */
export interface ConfigReference {
  readonly name: string;
  readonly sha256?: string;
  readonly apply?: ApplyMode;
  readonly keepFields?: readonly string[];
  readonly uid?: string;
  readonly resourceVersion?: string;
}

/** Why an assignment did not come to run. `reason` is a stable CamelCase word, `message` is for people. */
export interface NodeError {
  readonly reason: string;
  readonly message: string;
  readonly at: string;
  /** Name of the config that it is about. */
  readonly config?: string;
}

/** A config that failed on this node and is not tried again until another is assigned or a person asks. */
export interface RejectedConfig {
  readonly name: string;
  readonly sha256: string;
  readonly apply: ApplyMode;
  readonly keepFields?: readonly string[];
  readonly reason: string;
  readonly message: string;
  readonly at: string;
}

/** Written by the node's agent only, through the status subresource. */
export interface KubeletNodeStatus {
  /** `metadata.generation` of the spec that the rest of the status speaks of. */
  readonly observedGeneration?: number;
  /** The highest `spec.order` that the agent obeyed, also under another KubeletNode. */
  readonly obeyedOrder?: number;
  readonly phase?: NodePhase;
  readonly assigned?: ConfigReference;
  readonly active?: ConfigReference;
  readonly lastKnownGood?: ConfigReference;
  readonly error?: NodeError | null;
  readonly rejected?: readonly RejectedConfig[];
  /** Present while the node waits for a turn, and until the restart that it was granted begins. */
  readonly awaitsTurn?: TurnRequest | null;
  readonly refusedBase?: RefusedBase | null;
  /** Absent before the agent's first look. */
  readonly preflight?: PreflightAnswer | null;
  /** Present during a trial only. */
  readonly trial?: {
    readonly config: string;
    readonly since: string;
    /** Healthy seconds so far, of `durationSeconds`. 0 while the kubelet is not in order. */
    readonly healthySeconds: number;
    readonly durationSeconds: number;
    readonly restarts: number;
    /** Set while the machine has to reboot before anything can be judged: who has it do so. */
    readonly awaitsReboot?: RebootBy;
    /**
     * What the look at the machine found that does not speak against a trial, in sentences; at most `MAX_WARNINGS` of
     * at most `MAX_WARNING_LENGTH` characters.
     */
    readonly warnings?: readonly string[];
  } | null;
  /** Present where its pool asks for it. */
  readonly measures?: Measures | null;
  /** When the active config became lastKnownGood. */
  readonly promotedAt?: string | null;
  readonly kubeletVersion?: string;
  /**
   * Names of the flags on the kubelet's command line that a newer kubelet does not know (`REMOVED_FLAGS` of the agent), sorted.
   * Absent where the command line was not seen.
   */
  readonly kubeletFlags?: readonly string[];
  /**
   * Where the kubelet's flags were seen: its own process, what the program logged that it is a part of, or what that program's settings say.
   * `unseen`: nowhere, and preflight checks nothing that depends on them.
   */
  readonly commandLine?: 'process' | 'journal' | 'files' | 'unseen';
  /** How many NUMA nodes the machine has; absent where that cannot be seen. */
  readonly numaNodes?: number;
  /** The systemd unit that the kubelet runs in: `kubelet.service`, `k3s.service`. Absent where it is restarted by a command. */
  readonly kubeletUnit?: string;
  readonly bootID?: string;
  readonly agentVersion?: string;
  /** Last sign of life of the agent, refreshed at least every `HEARTBEAT_MS`. */
  readonly heartbeat?: string;
  readonly conditions?: readonly Condition[];
}

/** Cluster-scoped; named like its Node and owned by it. Short name `knode`. */
export interface KubeletNode {
  readonly apiVersion?: string;
  readonly kind?: 'KubeletNode';
  readonly metadata: ObjectMeta;
  readonly spec?: KubeletNodeSpec;
  readonly status?: KubeletNodeStatus;
}

/** Bounds of `status.trial.warnings`: the API server refuses a status that is beyond them, and all of it. */
export const MAX_WARNINGS = 32;
export const MAX_WARNING_LENGTH = 4096;

/** The condition that says whether a kubelet does well with its config: the agent's on the KubeletNode, and copied to the Node. */
export const CONFIG_HEALTH = 'KubeletConfigHealthy';
