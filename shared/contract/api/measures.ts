/**
 * What agents measure of their kubelets for `rollout.analysis`. Each of them gets worse by growing.
 *
 * evictions, oomKills, runtimeErrors: how many in ten minutes. podStart, relist: seconds, on average. cpu: cores that the kubelet
 * uses. reserved: share of the machine's memory that pods cannot have.
 */
export const MEASURES = ['evictions', 'oomKills', 'runtimeErrors', 'podStart', 'relist', 'cpu', 'reserved'] as const;

export type MeasureName = (typeof MEASURES)[number];

/** What one kubelet was like for some minutes without a restart. */
export interface MeasuredWindow {
  /** Hex SHA-256 of the payload that it ran; absent for the node's own local config. */
  readonly sha256?: string;
  /** How long it was measured. */
  readonly seconds: number;
  /** What could not be seen is absent: nothing happened that could be measured, or this kubelet does not say. */
  readonly values: Readonly<Partial<Record<MeasureName, number>>>;
}

/** What an agent tells of its kubelet, while the KubeletNode has `MEASURE_ANNOTATION`. */
export interface Measures {
  /** The annotation's value. The reconciler gives all nodes that are compared the same one at the same time. */
  readonly mark: string;
  /** The last minutes before the mark or the config last changed; absent where the agent was not there to measure them. */
  readonly before?: MeasuredWindow;
  /** The last minutes since then, and since the kubelet's last start. */
  readonly now?: MeasuredWindow;
}
