/** How thorough a run is. */
export interface BenchOptions {
  /** How long something is looked at that does nothing, in milliseconds. */
  readonly idleMs: number;
  /** How long it is let be before that: what a start leaves behind is not idleness. */
  readonly settleMs: number;
  /** Nodes of the simulated fleets, the smallest first: growth is measured by it. */
  readonly fleetSizes: readonly number[];
}

export const QUICK: BenchOptions = { idleMs: 60_000, settleMs: 15_000, fleetSizes: [1_000, 5_000] };

/** Long enough for two heartbeats. The agent looks at its Node every minute for three minutes after a start. */
export const FULL: BenchOptions = { idleMs: 600_000, settleMs: 200_000, fleetSizes: [1_000, 5_000, 10_000] };
