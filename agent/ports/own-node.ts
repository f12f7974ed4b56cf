import type { Millis } from '#shared/runtime/clock.ts';

/** What the agent wants to know of its Node. */
export interface NodeFacts {
  /** `v1.34.2`; undefined until it was read once, by this process or by one before it. */
  readonly kubeletVersion: string | undefined;
  readonly ready: 'yes' | 'no' | 'unknown';
  /** Why it is not Ready, in the words of its condition. */
  readonly notReady?: string;
  /** Its pressures that are True: `MemoryPressure`, `DiskPressure`, `PIDPressure`; null if the last reading failed. */
  readonly pressures: readonly string[] | null;
  /** Share of its memory that pods cannot have: capacity without allocatable; null where the last reading did not tell. */
  readonly reserved: number | null;
  /** Why the last reading failed; absent if it succeeded. */
  readonly problem?: string;
  /** It failed without an answer of an API server; absent for no. */
  readonly isAway?: boolean;
}

export interface OwnNode {
  /** Reads the Node unless the last reading is young enough. Never throws: what cannot be read is `unknown`. */
  look(maxAgeMs: Millis, signal: AbortSignal): Promise<NodeFacts>;
  /** The kubelet's version as it was known last: a node has to find its way back while the API server is away. */
  kubeletVersion(): Promise<string | undefined>;
}
