import type { ApplyMode, DriftPolicy, RebootBy, TrialSpec } from './kubelet-node.ts';
import type { MeasureName } from './measures.ts';
import type { Condition, ObjectMeta } from './object.ts';
import type { MeasuresSource } from './prometheus-queries.ts';

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

/** Count (`2`) or percentage (`"10%"`) of nodes. */
export type Amount = number | string;

/** The first nodes of a rollout: those that a selector names, or as many as `nodes` says. Exactly one of the two. */
export interface CanarySpec {
  readonly nodes?: Amount;
  /** Of each class of machines so many, where values are computed; percentages are of the nodes of the class. Goes with `nodes`. */
  readonly perClass?: boolean;
  readonly selector?: LabelSelector;
  /** How long the canaries prove themselves before anybody else is changed; default: the rollout's `soak`. */
  readonly soak?: string;
  /** When they have proven the payload, the others wait until a person approves it. */
  readonly pause?: boolean;
}

/** The measures of the canaries are compared before anybody else begins: see `MEASURES`. */
export interface AnalysisSpec {
  /** Which measures of agents are judged; absent for all. Empty only beside `prometheus`. */
  readonly measures?: readonly MeasureName[];
  /** Measures that a Prometheus keeps are judged as well. */
  readonly prometheus?: MeasuresSource;
  /** How much more than before counts: `least` in the unit of the measure, `percent` of what it was, whichever is more. */
  readonly thresholds?: Readonly<Partial<Record<MeasureName, { readonly least?: number; readonly percent?: number }>>>;
  /** For how long canaries that cannot be compared hold the rollout up. */
  readonly timeout: string;
}

/** One step of a rollout after the canaries. */
export interface RolloutStep {
  /** How many of the pool's nodes are to run the payload at the end of the step, canaries included; percentages are rounded up. */
  readonly nodes: Amount;
  /** How long its nodes prove themselves before the next step; default: the rollout's `soak`. */
  readonly soak?: string;
  /** When it is done, the rest waits until a person approves it. */
  readonly pause?: boolean;
}

/** A span of time that comes again: it begins whenever the cron expression says, and lasts for `duration`. */
export interface WindowSpec {
  /** Five fields: minute, hour, day of month, month, day of week. */
  readonly cron: string;
  readonly duration: string;
  /** IANA name, such as `Europe/Berlin`. Default `UTC`. */
  readonly timeZone?: string;
}

export interface WindowsSpec {
  /** Changes begin only in one of these; none means always. */
  readonly allow: readonly WindowSpec[];
  /** Changes never begin in one of these, whatever is allowed. */
  readonly deny: readonly WindowSpec[];
  /** When a window ends in the middle of a wave: start nothing more (`stop`, the default), or finish the wave that began. */
  readonly overrun: 'stop' | 'finish-wave';
}

export interface RolloutSpec {
  /** Count (`2`) or percentage of the pool's nodes (`"10%"`, rounded down, at least 1 unless it is `"0%"`). Default 1. */
  readonly maxUnavailable: Amount;
  /** The same within each zone (`topology.kubernetes.io/zone`), of the pool's nodes there; absent: no bound of its own. */
  readonly maxUnavailablePerZone?: Amount;
  /**
   * How many nodes may run a payload that they have not proven, at most. It begins with the canaries (one where none are asked
   * for), doubles with what they prove, and begins again when a node takes the payload back. Absent: `"20%"`, or `maxUnavailable`
   * where that is more.
   */
  readonly maxOnTrial?: Amount;
  /**
   * How long a node on trial has to be Ready and healthy before its place in `maxUnavailable` is another's, while its trial goes
   * on; `full`: it holds the place until it has promoted and soaked, and `maxUnavailable` bounds who is on trial. Absent: `50s`.
   */
  readonly probation?: string;
  /**
   * Nodes that are not Ready: `wait` (the default) leaves them alone until they are; `change` gives them the config all the same, after
   * the Ready ones and as many at a time as `maxUnavailable` allows. They count as unavailable already, so that nobody else gives way.
   */
  readonly notReadyNodes?: 'wait' | 'change';
  /** How long after its promotion a node still holds its place in the budget, healthy. Default `0s`. */
  readonly soak: string;
  readonly canary?: CanarySpec;
  /** Absent: canaries are judged by their trials alone. Needs `canary`. */
  readonly analysis?: AnalysisSpec;
  /** Ascending; what is left after the last one is a step of its own. */
  readonly steps?: readonly RolloutStep[];
  readonly windows?: WindowsSpec;
  /** Why the windows do not count for this pool now, in words for the history. Absent: they count. */
  readonly emergency?: string;
  readonly onFailure: {
    /** Count or percentage (rounded up) of the pool's nodes whose failure stops the rollout. Default 1. */
    readonly threshold: Amount;
    /**
     * `halt` keeps what is updated and starts nothing new until another payload is committed or a person releases this one;
     * `revert` takes the updated nodes back to the payload that the pool settled on before, within the same budgets.
     */
    readonly action: 'halt' | 'revert';
  };
}

/** Trials of a pool's nodes. */
export interface PoolTrialSpec extends TrialSpec {
  /**
   * `duration` for nodes that begin after the canaries have proven the payload; never longer than `duration`. Absent: three
   * times the probation of the rollout.
   */
  readonly durationAfterCanary?: string;
}

/** What a change may do to a node, from the mildest. A change that needs more than is allowed waits, and says so. */
export type DisruptionClass = 'restart' | 'drain' | 'reboot';

export interface DisruptionSpec {
  /** Default: `restart` alone. */
  readonly allow: readonly DisruptionClass[];
  /** How long pods may take to leave a node before the attempt is given up and the node uncordoned. Default `10m`. */
  readonly drainTimeout: string;
  /** Who reboots machines, and how long that may take to come (default `1h`); needed where `reboot` is allowed. */
  readonly reboot?: { readonly by: RebootBy; readonly timeout: string };
}

/** What must be quiet before the next node is changed. What cannot be asked blocks. */
export interface BlockersSpec {
  readonly prometheus?: {
    /** `http://prometheus.monitoring:9090`. */
    readonly url: string;
    /** A query that must have no result. Either this or `alerts`. */
    readonly query?: string;
    /** Names of alerts that must not fire. */
    readonly alerts?: readonly string[];
  };
  /** Pods that must not run (Pending or Running) on a node when it is changed. */
  readonly pods?: { readonly namespace?: string; readonly selector: LabelSelector };
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
  readonly trial: PoolTrialSpec;
  readonly drift: DriftPolicy;
  /** Fields that the pool may set although they are denied by default; absent for none. Denied ones are refused in git. */
  readonly allowFields?: readonly string[];
  /** With `replace`, the fields of the nodes' own configs that stay, because policy denies them; absent for none. */
  readonly keepFields?: readonly string[];
  /** Codes of what kubelets silently drop that are only warnings here; absent for none. Sorted. */
  readonly tolerate?: readonly string[];
  /** Nothing new is started while it is true. Default false. */
  readonly suspend?: boolean;
  /** Default: restarts alone. */
  readonly disruption?: DisruptionSpec;
  readonly blockers?: BlockersSpec;
}

/**
 * Settled: every node of the pool runs the payload and has proven it. Progressing: nodes are being changed or wait
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

/** A write to the cluster that fails again and again. */
export interface FailedWrite {
  /** What it is to do, in a word: `assign`. */
  readonly write: string;
  /** Absent for one that is about a whole pool. */
  readonly node?: string;
  readonly pool?: string;
  readonly since: string;
  /** What the API server answers. */
  readonly message: string;
}

/** What stopped a rollout; kept until another payload is committed or a person releases it. */
export interface Halt {
  readonly config: string;
  readonly sha256: string;
  /** How the payload was applied; absent for `overlay`. */
  readonly apply?: ApplyMode;
  readonly keepFields?: readonly string[];
  readonly at: string;
  readonly message: string;
  /** What is done about it. */
  readonly action: 'halt' | 'revert';
  /** What the payload changed, and who committed it. */
  readonly cause?: HaltCause;
}

/** A commit as people know it. */
export interface CommitReference {
  readonly commit: string;
  readonly subject?: string;
  /** As the commit names its author; never an address. */
  readonly author?: string;
}

/** One field that a payload changes, with its values as they are shown: JSON, cut short. */
export interface ChangedField {
  readonly field: string;
  readonly before: string;
  readonly after: string;
}

/** What stopped a pool, as it was when it stopped. */
export interface HaltCause {
  /** What it is compared with: name of a config, or `local`. Absent where that cannot be read any more. */
  readonly since?: string;
  /** When the pool had settled on that; absent where it has not. */
  readonly settledAt?: string;
  /** A few of the fields that it changes. */
  readonly changed: readonly ChangedField[];
  /** How many more there are; absent for none. */
  readonly more?: number;
  /** The commit that brought the payload; absent where it is unknown. */
  readonly by?: CommitReference;
  /** Findings of the commit about these fields, a line each; absent for none. */
  readonly warnings?: readonly string[];
}

/** What a halt means for what runs on the pool's nodes, now. */
export interface HaltImpact {
  /**
   * users: nodes that were given the config are not Ready, or their kubelets run with no config. changing: nodes are still being changed or
   * taken back. none: nothing gets worse while nobody acts.
   */
  readonly risk: 'none' | 'changing' | 'users';
  /** For people: what runs where, and whether it can wait. */
  readonly message: string;
}

/** A halted payload that a person let go on, with the failures that are forgiven by it. */
export interface Released {
  readonly sha256: string;
  /** Time of the halt that was released; another halt of the same payload needs another release. */
  readonly haltedAt: string;
  readonly failures: readonly { readonly node: string; readonly at: string }[];
}

/** What a pool last proved, or its template where values are computed. */
export interface SettledConfig {
  readonly configName: string;
  readonly sha256: string;
  readonly apply: ApplyMode;
  readonly keepFields?: readonly string[];
  readonly at: string;
}

/**
 * What the nodes of one class of machines have shown of what they are to run.
 *
 * unproven: none was told it. canaries: canaries try it. soaking: those of the present wave have promoted it, and soak. analysing: the
 * canaries are compared. paused: a person is asked before others begin. rolling: more nodes begin. proven: its waves are done and others may be given it. refuted: it failed, and the pool
 * is halted.
 */
export type ProofState =
  | 'unproven'
  | 'canaries'
  | 'soaking'
  | 'analysing'
  | 'paused'
  | 'rolling'
  | 'proven'
  | 'refuted';

/** What the classes of a pool have proven; it is written when a state changes, and its counts are of that moment. */
export interface ProofRecord {
  /**
   * Hex SHA-256 of payloads, which classes name by position; with `replace:` before it where it replaces the local config, or
   * `replace:0:` where it keeps the fields at that position of `keepFields`.
   */
  readonly payloads: readonly string[];
  /** Lists of fields, each joined by commas; absent for none. */
  readonly keepFields?: readonly string[];
  /** Commits, which classes name by position. */
  readonly commits: readonly string[];
  /** Timestamps, which classes name by position. */
  readonly times: readonly string[];
  /** By name; of a pool that computes nothing the one with the name ''. */
  readonly classes: readonly ClassProof[];
  /** For how many classes there was no room: they count as unproven. Absent for none. */
  readonly unrecorded?: number;
}

export interface ClassProof {
  /** `cpu=4,memory=15872Mi`. */
  readonly name: string;
  readonly state: ProofState;
  /** Position of the time since when. */
  readonly since: number;
  /** Position of the config that its nodes are to run; absent where the class has none. */
  readonly current?: number;
  /** Position of what it proved last; absent for nothing. */
  readonly proven?: number;
  /** The same where no node of it has that any more and another leader wrote it: for a revert alone, once its commit was rendered again. */
  readonly former?: number;
  /** Position of the commit that `proven` or `former` was rendered from. */
  readonly commit?: number;
  readonly nodes: number;
  /** How many of them have proven `current`. */
  readonly proved: number;
  /** Up to three of the others. */
  readonly missing?: readonly string[];
}

/** A class of machines in a pool with computed values. */
export interface ClassStatus {
  /** `cpu=4,memory=15872Mi`. */
  readonly name: string;
  readonly nodes: number;
  /** How many of them are up to date; absent where there is no config. */
  readonly updated?: number;
  /** What its nodes are to run; absent where there is no config for it. */
  readonly configName?: string;
  readonly sha256?: string;
  /** Why there is none. */
  readonly message?: string;
}

/** One wave of a rollout, in order. */
export interface WaveStatus {
  /** `canary`, `step 1`, …, `rest`. */
  readonly name: string;
  /** How many of the pool's nodes are to run the payload when it is done. */
  readonly nodes: number;
  /** `stopped`: more of its nodes failed or are not Ready than may. It goes on when they are well, or with another payload. */
  readonly state: 'done' | 'rolling' | 'soaking' | 'waiting' | 'stopped';
  /** When its first node was started, and when it had soaked. */
  readonly startedAt?: string;
  readonly doneAt?: string;
  /** Since when a person is asked to let the rollout go on after it, and when that was approved. Absent where nobody was asked. */
  readonly pausedAt?: string;
  readonly approvedAt?: string;
  /** Who says to have approved it; absent where the object does not say. */
  readonly approvedBy?: string;
}

/** What the measures of the canaries said of the payload. */
export interface AnalysisStatus {
  /**
   * waiting: there is not enough to compare yet. suspect: a measure got worse, and is looked at again. pass, fail. unknown: there was not
   * enough to compare in time, and the rollout went on.
   */
  readonly verdict: 'waiting' | 'suspect' | 'pass' | 'fail' | 'unknown';
  /** Since when it says so, by the reconciler's clock. */
  readonly since: string;
  /** The measures, or what is missing. */
  readonly message: string;
}

/** The way of one payload, applied in one way, through the pool; the last one stays when it is over. */
export interface ReducedBound {
  /** How many nodes have failed. */
  readonly failed: number;
  /** What `maxOnTrial` was when the last of them was seen; nodes that begin afterwards widen it again. */
  readonly maxOnTrial: number;
  /** How many had begun by then. */
  readonly begun: number;
}

export interface RolloutStatus {
  readonly configName: string;
  readonly sha256: string;
  /** How the payload is applied; absent for `overlay`. */
  readonly apply?: ApplyMode;
  readonly keepFields?: readonly string[];
  readonly startedAt: string;
  readonly finishedAt?: string;
  /** The commit in force when it began, which brought the payload. Absent where it is unknown. */
  readonly by?: CommitReference;
  /** When the newest of the nodes that were there at its beginning was created; later ones follow when the waves are done. */
  readonly newest?: string;
  /** How often `maxOnTrial` has doubled; this and the next two are absent where nothing is on trial any more, and with `probation: full`. */
  readonly generation?: number;
  /** How many nodes may run the payload unproven now. */
  readonly maxOnTrial?: number;
  /** How many do. */
  readonly onTrial?: number;
  /** What failures have made of that bound; absent where there were none. */
  readonly reduced?: ReducedBound;
  /** Names of nodes that were removed while they were down with it, before any had proven it; absent for none. */
  readonly lost?: readonly string[];
  /** How many payloads before this one were replaced before any was proven; absent for none. */
  readonly superseded?: number;
  readonly waves: readonly WaveStatus[];
  readonly analysis?: AnalysisStatus;
}

/** Why nodes are not changed now: one reason, how many nodes it holds, and a few of their names. */
export interface HoldSummary {
  readonly reason: string;
  readonly nodes: number;
  readonly examples: readonly string[];
  readonly message: string;
}

export interface AwaitedPayload {
  readonly configName: string;
  /** Of the payload or, where values are computed, of the template. */
  readonly sha256: string;
  readonly since: string;
}

export interface KubeletPoolStatus {
  readonly observedGeneration?: number;
  /** The commit that the pool was last rendered from. */
  readonly commit?: string;
  readonly configName?: string;
  /** Hex SHA-256 of the payload that the pool's nodes are to run. Of a pool with computed values, both are the template's. */
  readonly sha256?: string;
  /** Of a pool with computed values: its largest classes of machines, with what their nodes are to run. */
  readonly classes?: readonly ClassStatus[];
  readonly phase?: PoolPhase;
  readonly message?: string;
  readonly counts?: PoolCounts;
  readonly halt?: Halt;
  /** Absent where the pool is not halted. */
  readonly impact?: HaltImpact;
  readonly released?: Released;
  /** What all of its nodes last ran and had proven: what new nodes get in mid-rollout, and what a revert goes back to. */
  readonly settled?: SettledConfig;
  /** What each class of its machines has proven. */
  readonly proof?: ProofRecord;
  readonly rollout?: RolloutStatus;
  /** What a commit that is not in force yet would give its nodes, and waits for a person. Absent for none. */
  readonly awaits?: AwaitedPayload;
  /** Why nodes wait, by reason. */
  readonly holds?: readonly HoldSummary[];
  readonly failures?: readonly PoolFailure[];
  /** Writes about the pool and its nodes that fail again and again; absent for none. */
  readonly unwritten?: readonly FailedWrite[];
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
