import type { BenchOptions } from './bench-options.ts';
import type { Measurement } from './render-measurements.ts';
import { type FleetFigures, runFleet } from './support/fleet-run.ts';
import { fleetRows } from './support/fleet-rows.ts';
import { type FleetSite, sandboxSite } from './support/fleet-site.ts';
import { withReconcilerBundle } from './support/reconciler-bundle.ts';

/** The reconciler over simulated fleets: what a commit that touches every node takes, a restart, and doing nothing. */
export function measure({ fleetSizes, idleMs }: BenchOptions): Promise<readonly Measurement[]> {
  return measureFleets(fleetSizes, idleMs, sandboxSite);
}

export function measureFleets(
  sizes: readonly number[],
  idleMs: number,
  begin: (nodes: number, directory: string) => Promise<FleetSite>,
): Promise<readonly Measurement[]> {
  return withReconcilerBundle(async (directory) => {
    const figures: FleetFigures[] = [];
    for (const nodes of sizes) {
      const site = await begin(nodes, directory);
      try {
        figures.push(await runFleet(nodes, site, directory, idleMs));
      } finally {
        await site.stop();
      }
    }
    return figures.flatMap((of) => fleetRows(of, figures[0] ?? of));
  });
}
