/** A config that a pool's nodes are to run. */
export interface DesiredConfig {
  readonly name: string;
  readonly sha256: string;
  /** Absent where the bytes are only in the cluster (a kept pool after a restart). */
  readonly payload?: string;
}
