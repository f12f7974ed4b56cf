import type { NodeView } from '#reconciler/policy/fleet.ts';
import type { FeatureNeeds } from '#reconciler/policy/allocatable/feature-needs.ts';
import type { VitalPods } from '#reconciler/policy/allocatable/vital-pods.ts';

/** What a plan wants to know of a node. */
export interface InventoryNode extends Pick<NodeView, 'virtual' | 'leaving' | 'deletionCandidate'> {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** `v1.34.2`; empty if unknown. */
  readonly kubeletVersion: string;
  /** `Amazon Linux 2023.9.20260101`; empty if unknown. */
  readonly osImage: string;
  readonly ready: boolean;
  /** Pods are kept off it (`spec.unschedulable`), and not by our own drain; absent if not. */
  readonly cordoned?: true;
  /** No agent has reported from it lately; absent where one has, or the inventory has no KubeletNodes. */
  readonly silent?: true;
  /** Quantities as Kubernetes writes them: `cpu`, `memory`, `pods`, `ephemeral-storage`. */
  readonly capacity: Readonly<Record<string, string>>;
  readonly allocatable: Readonly<Record<string, string>>;
  /** As its agent says it; absent where the inventory has no KubeletNodes. */
  readonly numaNodes?: number;
  /** Addresses that its `podCIDRs` have for pods; absent where the Node has no such range. */
  readonly podAddresses?: number;
  /** Milliseconds since 1970; absent if unknown. */
  readonly createdAt?: number;
  /** What its kubelet says that it runs, if asked. */
  readonly running?: Readonly<Record<string, unknown>>;
  /** Pods that run there; undefined if not counted. */
  readonly pods: number | undefined;
  /** Of these, those that a node cannot do without; absent if not counted. */
  readonly vital?: VitalPods;
  /** Which features they need; absent if not counted. */
  readonly needs?: FeatureNeeds;
  /** Features that the Node declares; absent for a Node that declares no features. */
  readonly declares?: readonly string[];
}
