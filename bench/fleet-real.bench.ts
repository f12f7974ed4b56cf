import { measureFleets } from './fleet.bench.ts';
import type { BenchOptions } from './bench-options.ts';
import type { Measurement } from './render-measurements.ts';
import { realSite } from './support/fleet-site-real.ts';

/** The same over a real kube-apiserver with etcd, on the same machine as all else. */
export function measure({ fleetSizes, idleMs }: BenchOptions): Promise<readonly Measurement[]> {
  return measureFleets(fleetSizes, idleMs, realSite);
}
