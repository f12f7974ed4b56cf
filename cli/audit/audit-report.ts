import type { SectionId, Severity } from '#shared/contract/audit-summary.ts';

export { SECTION_IDS, SEVERITIES, type SectionId, type Severity } from '#shared/contract/audit-summary.ts';

/**
 * All that an audit found: every output is made from this alone, and `-o json` prints it. `BOUNDS` limits its parts. Texts from nodes and
 * files may hold any character.
 */
export interface AuditReport {
  readonly kind: 'AuditReport';
  readonly version: 1;
  /** RFC 3339. */
  readonly at: string;
  readonly source: AuditSource;
  readonly nodes: {
    /** How many said what they run. */
    readonly seen: number;
    /** How many there are, as far as that is known. */
    readonly of: number;
  };
  /** Nodes of which nothing is said below. */
  readonly unseen: readonly UnseenNodes[];
  /** In the order of `SECTION_IDS`; those that were not asked for are absent. */
  readonly sections: readonly AuditSection[];
  /** With `--since`. */
  readonly since?: AuditChanges;
}

export const BOUNDS = {
  /** Groups of one check; the smallest of those beyond are joined without evidence. */
  groups: 24,
  /** Pieces of evidence in a group. */
  evidence: 12,
  /** Names of nodes that passed, which stand for all. */
  passedNames: 6,
  /** Characters of a value. */
  value: 240,
  /** Classes of machines, and groups of nodes by label. */
  classes: 200,
} as const;

/** Where the facts come from. */
export interface AuditSource {
  /** `cluster`: through the API server's proxy; `direct`: the kubelets' own port. */
  readonly from: 'cluster' | 'direct' | 'files';
  /** The cluster's address, or the words that name the files: for people. */
  readonly of: string;
  /** What the reader should know of the way in, in sentences: what its right can do. */
  readonly notes: readonly string[];
}

/** Nodes that could not be seen, for one reason. */
export interface UnseenNodes {
  /** `not-ready` is as expected; the other reasons count as a failed audit. */
  readonly reason: 'not-ready' | 'forbidden' | 'no-answer' | 'untrusted' | 'unreadable' | 'unsupported';
  /** A sentence without a full stop, for people. */
  readonly because: string;
  /** The right that is missing: `get nodes/configz`. */
  readonly right?: string;
  /** Complete, sorted. Of a file that names no node, the file. */
  readonly nodes: readonly string[];
}

export interface AuditSection {
  readonly id: SectionId;
  readonly title: string;
  /** One line. */
  readonly summary: string;
  /** The worst of its checks, `pass` without any. */
  readonly result: CheckResult;
  /** Failed ones first, the most severe first; then by id. */
  readonly checks: readonly AuditCheck[];
  /** Of `sameness`: the fleet by label, the biggest group first. */
  readonly groups?: readonly FleetGroup[];
  /** Of `room`: the fleet by machine and config, the biggest class first. */
  readonly classes?: readonly RoomClass[];
}

/** `not-visible`: the facts do not show it. `info`: worth knowing, and no fault. */
export type CheckResult = 'fail' | 'not-visible' | 'info' | 'pass';

export interface AuditCheck {
  /** Stable over releases, and over editions of benchmarks: `safety/readOnlyPort`, `room/memory-under-reserved`, `drift/FIELD`. */
  readonly id: string;
  readonly title: string;
  /** Of the fault that it looks for, found or not. */
  readonly severity: Severity;
  /** The worst of its groups. */
  readonly result: CheckResult;
  /** What the fault lets happen: a clause; absent where the title says it. */
  readonly because?: string;
  /** The worst first, then the biggest. */
  readonly groups: readonly CheckedNodes[];
  readonly fix?: Fix;
  /** `CIS 4.2.1`, `NSA/CISA authentication`: where others say the same, in texts that are not ours. */
  readonly references: readonly string[];
}

/** Nodes for which a check gave the same result by the same evidence. */
export interface CheckedNodes {
  readonly result: CheckResult;
  readonly count: number;
  /** Sorted. Complete, but with `pass`: the first `BOUNDS.passedNames`. */
  readonly nodes: readonly string[];
  readonly evidence: readonly Evidence[];
}

export interface Evidence {
  /** A path of the KubeletConfiguration, or another fact: `readOnlyPort`, `certificate`, `memory.used`. */
  readonly field: string;
  /** As YAML in one line, or a quantity: `false`, `1.3Gi`; `unset` for none. */
  readonly value: string;
  /** What gives the value, where that is known. */
  readonly by?: 'config' | 'default' | 'flag' | 'node' | 'kubelet' | 'prometheus' | 'repository';
  /** The file, flag or query; with `repository` the line as well: `pools/general/kubelet.yaml:12`. */
  readonly place?: string;
}

export interface Fix {
  /** Part of a KubeletConfiguration; absent where no field fixes it. */
  readonly yaml?: string;
  /** What to do beside it or instead: a sentence without a full stop. */
  readonly how?: string;
}

/** Nodes that a label puts together. */
export interface FleetGroup {
  /** As `import` would name its pool. */
  readonly name: string;
  /** `node.kubernetes.io/pool in (general)`; empty where no label tells them from others. */
  readonly labels: string;
  readonly count: number;
  /** Minor versions of its kubelets with how many have each, the oldest first. */
  readonly versions: readonly { readonly version: string; readonly count: number }[];
  /** What they run: the most common first. */
  readonly configs: readonly FleetConfig[];
}

export interface FleetConfig {
  readonly count: number;
  /** Complete but for the first config of a group, of which there are `BOUNDS.passedNames`. */
  readonly nodes: readonly string[];
  /** Against the first config of the group, which has none. */
  readonly differences: readonly {
    readonly field: string;
    readonly value: string;
    /** What most of the group have. */
    readonly others: string;
  }[];
}

/** Machines of one size whose kubelets keep back the same. */
export interface RoomClass {
  /** `4 cores, 15.6Gi`. */
  readonly name: string;
  readonly count: number;
  /** The first `BOUNDS.passedNames`. */
  readonly nodes: readonly string[];
  /** The profile that gives just these reservations; absent for none. */
  readonly profile?: string;
  readonly resources: readonly RoomOfResource[];
}

/** In cores or bytes. */
export interface RoomOfResource {
  readonly resource: 'cpu' | 'memory';
  readonly capacity: number;
  readonly kubeReserved: number;
  readonly systemReserved: number;
  /** The hard eviction threshold; 0 for CPU. */
  readonly eviction: number;
  /** What the Node says; absent where that is unknown. */
  readonly allocatable?: number;
  /** What all outside of pods uses; absent where nobody measured it. */
  readonly used?: MeasuredUse;
  /** Parts of `used` that the kubelet tells apart: the most of any node. */
  readonly parts?: readonly { readonly name: string; readonly most: number }[];
  /** What each profile would keep back, kubeReserved and systemReserved together. */
  readonly profiles: readonly { readonly name: string; readonly amount: number }[];
}

export interface MeasuredUse {
  /** Over the nodes of the class. */
  readonly median: number;
  readonly most: number;
  /** `moment`: one look at each kubelet; `p99`: the 99th percentile over `days`. */
  readonly kind: 'moment' | 'p99';
  /** How many nodes were measured. */
  readonly nodes: number;
  readonly days?: number;
  /** RFC 3339: the oldest look. */
  readonly at: string;
}

/** What changed since an earlier report, by the ids of checks and the names of nodes. */
export interface AuditChanges {
  /** When that one was made. */
  readonly at: string;
  /** Failed now, and did not fail then: it passed, or was not seen. */
  readonly fresh: readonly ChangedCheck[];
  /** Failed then, and passes now or the node was deleted. A node that cannot be seen now does not count. */
  readonly gone: readonly ChangedCheck[];
}

export interface ChangedCheck {
  readonly id: string;
  readonly title: string;
  readonly severity: Severity;
  /** Complete, sorted. */
  readonly nodes: readonly string[];
}
