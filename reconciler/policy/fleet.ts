import type { ConfigIdentity } from '#shared/contract/api/config-identity.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import type { Condition } from '#shared/contract/api/object.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import type { FeatureNeeds } from './allocatable/feature-needs.ts';
import type { NodeSize } from './allocatable/allocatable.ts';
import type { VitalPods } from './allocatable/vital-pods.ts';

/** What a node is drained for, and since when. */
export interface DrainMark {
  /** Name of a config source, or `local`. */
  readonly config: string;
  readonly at: Millis;
}

/** The drain of a node that was given up last. */
export interface FailedDrain extends DrainMark {
  /** How many were given up since one that succeeded, whatever they were for. */
  readonly times: number;
}

/** How the drain of one node stands, as of the last look. */
export interface DrainView {
  /** Since when it is drained, as its annotation says; a view of an earlier drain does not count. */
  readonly since: Millis;
  readonly drained: boolean;
  /** Which pods are there still, and what keeps them. */
  readonly because: string;
}

/** How many pods run on a node, as of one moment; null where the reconciler has no right to see pods. */
export interface PodCount {
  readonly at: Millis;
  readonly pods: number | null;
  /** Of these, those that the node cannot do without; absent where they cannot be seen. */
  readonly vital?: VitalPods;
  /** Which features they need; absent where they need none, or cannot be seen. */
  readonly needs?: FeatureNeeds;
}

/** A node that no pool selects. */
export interface Unselected {
  /** When the reconciler first saw that, on its own clock. */
  readonly since: Millis;
  /** Why: its labels changed or are not there yet, or a commit changed the pool. */
  readonly by: 'labels' | 'commit';
}

/** Since when, and why, a node belongs to another pool than the one that assigned its config, or to another class of it. */
export interface PoolChange extends Unselected {
  /** The pool that it belongs to. */
  readonly to: string;
}

/** What the reconciler keeps of a Node; everything else is dropped at the door. */
export interface NodeView {
  readonly name: string;
  readonly uid: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The Ready condition is True. */
  readonly ready: boolean;
  /** When the Ready condition last changed; 0 without a time. */
  readonly readySince: Millis;
  /** For how long at least it is Ready, by the kubelet's own clock; absent for a node that is not Ready, or reports no time. */
  readonly readyForMs?: Millis;
  /** `spec.unschedulable`. */
  readonly cordoned: boolean;
  /** Set where we cordoned it to drain it. */
  readonly drain?: DrainMark;
  /** Set where its pods did not leave in time, until they do. */
  readonly drainFailed?: FailedDrain;
  /** It has the taint that it was registered with, and pods are to wait for its config. */
  readonly gated?: true;
  /** It has the taint of a virtual node. */
  readonly virtual?: true;
  /** Why it is about to be removed, as a clause for people; absent for a node that stays. */
  readonly leaving?: string;
  /** An autoscaler may remove it. */
  readonly deletionCandidate?: true;
  /** `v1.34.2`. */
  readonly kubeletVersion: string;
  /** Features that it declares (KEP-5328), of those that pods can need; absent for a Node that declares no features. */
  readonly declares?: readonly string[];
  /** Absent where the Node does not say. Of the resources only those that a kubelet's config keeps back, and huge pages. */
  readonly size?: NodeSize;
  /** Our own condition on the Node; absent without it. */
  readonly configHealth?: Pick<Condition, 'status' | 'reason' | 'message' | 'lastTransitionTime'>;
  /** On the clock of the API server: for comparing with other objects, never with the reconciler's own time. */
  readonly createdAt: Millis;
  /** When the reconciler first saw the Node, on its own clock; absent in a single look at the fleet. */
  readonly firstSeen?: Millis;
  /** Since when it has had an assignment, at the latest, on the same clock; absent without one, and in a single look. */
  readonly assignedSince?: Millis;
  /** Since when it has had its present assignment; absent without one, and in a single look. */
  readonly toldSince?: Millis;
  /** Absent while a pool selects the node, and in a single look at the fleet. */
  readonly unselected?: Unselected;
  /** Absent while the node's assignment is of its own pool, and in a single look at the fleet. */
  readonly poolChange?: PoolChange;
  /** The status of its KubeletNode may be from the past: the cluster may have been restored, and its agent has not reported since. */
  readonly doubted?: true;
  /** Since when it could take part in no rollout, without a break, on the reconciler's clock; absent while it can. */
  readonly unableSince?: Millis;
}

/** A node that was removed while it was not Ready, or its agent silent, with what it was told and had not proven. */
export interface LostNode {
  readonly name: string;
  readonly target: ConfigIdentity;
}

/** One of our ConfigMaps. */
export interface ConfigSourceView {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** The pool it was rendered for. */
  readonly pool: string;
  /** What it carries; undefined where the key is missing. */
  readonly payload: string | undefined;
  /** Hex SHA-256 of the payload, '' where there is none. */
  readonly sha256: string;
  /** It is not immutable, or is being deleted and held by a finalizer: nothing that we make is. */
  readonly defect?: 'editable' | 'leaving';
  /** Version of the canonical form that rendered it. */
  readonly canonicalForm: number;
  readonly createdAt: Millis;
}

/** An object that nothing could be decided about: it is left as it is. */
export interface UnreadableObject {
  readonly of: 'node' | 'pool' | 'config-source';
  readonly name: string;
  /** '' if unknown. */
  readonly uid: string;
  /** What was thrown while it was looked at. */
  readonly error: unknown;
}

/** The whole cluster as far as the reconciler cares, at one moment. Keys are names. */
export interface Fleet {
  readonly nodes: ReadonlyMap<string, NodeView>;
  readonly kubeletNodes: ReadonlyMap<string, KubeletNode>;
  readonly configSources: ReadonlyMap<string, ConfigSourceView>;
  readonly pools: ReadonlyMap<string, KubeletPool>;
  /** By the pool that told them, nodes that were lost since the start; absent in a single look, and for none. */
  readonly lost?: ReadonlyMap<string, readonly LostNode[]>;
  /** Objects that are in none of the above because they are unreadable. Absent for none. */
  readonly unreadable?: readonly UnreadableObject[];
}
