import type { FeatureNeeds } from '#reconciler/policy/allocatable/feature-needs.ts';
import type { VitalPods } from '#reconciler/policy/allocatable/vital-pods.ts';

/** What a plan wants to know of a node. */
export interface InventoryNode {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** `v1.34.2`; empty where it is not known. */
  readonly kubeletVersion: string;
  readonly ready: boolean;
  /** Somebody keeps pods off it (`spec.unschedulable`); absent where nobody does. */
  readonly cordoned?: true;
  /** Quantities as Kubernetes writes them: `cpu`, `memory`, `pods`, `ephemeral-storage`. */
  readonly capacity: Readonly<Record<string, string>>;
  readonly allocatable: Readonly<Record<string, string>>;
  /** As its agent says it; absent where the inventory has no KubeletNodes. */
  readonly numaNodes?: number;
  /** Addresses that its `podCIDRs` have for pods; absent where the Node has no such range. */
  readonly podAddresses?: number;
  /** Milliseconds since 1970; absent where it is not known. */
  readonly createdAt?: number;
  /** What its kubelet says that it runs, where somebody asked. */
  readonly running?: Readonly<Record<string, unknown>>;
  /** Pods that run there; undefined where nobody counted them. */
  readonly pods: number | undefined;
  /** Of these, those that a node cannot do without; absent where nobody counted. */
  readonly vital?: VitalPods;
  /** Which features they need; absent where nobody counted. */
  readonly needs?: FeatureNeeds;
  /** Features that the Node declares; absent where it says nothing of features. */
  readonly declares?: readonly string[];
}
