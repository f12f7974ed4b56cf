/** What a plan wants to know of a node. */
export interface InventoryNode {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** `v1.34.2`; empty where it is not known. */
  readonly kubeletVersion: string;
  readonly ready: boolean;
  /** Quantities as Kubernetes writes them: `cpu`, `memory`, `pods`, `ephemeral-storage`. */
  readonly capacity: Readonly<Record<string, string>>;
  readonly allocatable: Readonly<Record<string, string>>;
  /** Pods that run there; undefined where nobody counted them. */
  readonly pods: number | undefined;
}
