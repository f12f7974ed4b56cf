import { createMetrics } from '#reconciler/reporting/metrics/metrics.ts';
import { DEFAULT_CLUSTER } from '#reconciler/policy/config-repo/read-cluster.ts';
import { SUSPEND_ANNOTATION } from '#shared/contract/api/group.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { passResultOf } from '../reconciler/reporting/status-page/pass-results.ts';
import { commit, COMMIT_A, fleetOf, nodeView, poolInCluster, validPool } from './fleet.ts';

/** Who suspends the pool `web`. */
export type Suspender = 'nobody' | 'command' | 'command without a reason' | 'pool.yaml' | 'cluster file';

const POOL = validPool('web', 120);

/** What a scrape shows of a cluster whose one pool waits, after a pass for each of these. */
export async function scrapeOfWaiting(...passes: readonly Suspender[]): Promise<string> {
  const metrics = createMetrics({ clock: systemClock, ofProcess: false });
  for (const by of passes) {
    const fleet = fleetOf({ nodes: [nodeView('a', 'web')], pools: [poolSuspendedBy(by)] });
    metrics.watch({ isLeader: () => true, fleet: () => fleet, pageListeners: () => 0 });
    const { oid, repo } = commit(COMMIT_A, POOL);
    const inForce = { oid, repo: { ...repo, cluster: { ...DEFAULT_CLUSTER, suspend: by === 'cluster file' } } };
    metrics.round(passResultOf({ fleet, inForce }));
  }
  return metrics.text();
}

function poolSuspendedBy(by: Suspender): KubeletPool {
  const pool = poolInCluster(POOL, { phase: 'Waiting' });
  const because = { command: 'incident 4711', 'command without a reason': '' }[by as string];
  if (because !== undefined) {
    return { ...pool, metadata: { ...pool.metadata, annotations: { [SUSPEND_ANNOTATION]: because } } };
  }
  return by === 'pool.yaml' ? { ...pool, spec: { ...POOL.spec, suspend: true } } : pool;
}
