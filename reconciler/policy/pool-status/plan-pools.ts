import { isDeepStrictEqual as equal } from 'node:util';
import type { FailedWrite, KubeletPool, KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import { type Millis, toTimestamp } from '#shared/runtime/clock.ts';
import type { DesiredPool } from '../desired.ts';
import type { Fleet } from '../fleet.ts';
import type { GroupPlan, NodesPlan } from '../plan-nodes.ts';
import type { Signals } from '../signals.ts';
import type { Step } from '../steps.ts';
import { poolStatus } from './pool-status.ts';

interface PoolsPlan {
  /** The status of every pool as it is to be. */
  readonly statuses: ReadonlyMap<string, KubeletPoolStatus>;
  /** Statuses last: writes of one kind that follow each other go side by side. */
  readonly steps: readonly Step[];
}

/**
 * KubeletPools as git and the rollout want them: spec, status, and no longer there once a retired pool is empty.
 *
 * @param refused why the newest commit was not let into force, where it was not
 */
export function planPools(
  fleet: Fleet,
  nodes: NodesPlan,
  now: Millis,
  refused?: string,
  awaited: Signals['awaited'] = new Map(),
): PoolsPlan {
  const statuses = new Map<string, KubeletPoolStatus>();
  const specs: Step[] = [];
  const reports: Step[] = [];
  for (const planned of nodes.groups) {
    const { pool } = planned.group;
    if (pool === null) continue;
    const present = fleet.pools.get(pool.name);
    const source = fleet.unreadable?.find(({ of, name }) => of === 'config-source' && name === pool.config?.name);
    const unwritten = (nodes.unwritten ?? []).filter(isAbout(planned));
    const status = poolStatus(
      pool,
      planned,
      { present, source, refused, unwritten, awaits: awaited.get(pool.name) },
      toTimestamp(now),
    );
    statuses.set(pool.name, status);
    const isAsked = pool.origin === 'retiring' && isStillAsked(present, nodes, fleet);
    const isGone = isOver(pool, planned) && !isAsked;
    specs.push(...specSteps(pool, isGone, fleet));
    if (present !== undefined && !isGone && !isAsked && !equal(present.status, status)) {
      reports.push({ step: 'write-pool-status', pool: present, status });
    }
  }
  return { statuses, steps: [...specs, ...reports] };
}

const isAbout = ({ group: { pool, members } }: GroupPlan): ((write: FailedWrite) => boolean) => {
  const names = new Set(members.map(({ node }) => node.name));
  return (write) => (write.node === undefined ? write.pool === pool?.name : names.has(write.node));
};

function specSteps(pool: DesiredPool, isGone: boolean, fleet: Fleet): readonly Step[] {
  const present = fleet.pools.get(pool.name);
  if (present === undefined) return [{ step: 'create-pool', pool: pool.name, spec: pool.spec }];
  if (isGone) return [{ step: 'delete-pool', pool: pool.name, uid: present.metadata.uid ?? '' }];
  const same = equal(present.spec, pool.spec);
  return pool.origin !== 'rendered' || same ? [] : [{ step: 'write-pool', pool: present, spec: pool.spec }];
}

/** What stopped it is to be found here until every pool that its nodes may be in has it in a status of its own. */
const isStillAsked = (present: KubeletPool | undefined, { groups }: NodesPlan, { pools }: Fleet): boolean =>
  present?.status?.halt !== undefined &&
  groups.some(({ group: { pool } }) => pool !== null && pools.get(pool.name)?.status === undefined);

/** A pool that left git and has no node left that remembers it. */
function isOver({ origin }: DesiredPool, { group }: GroupPlan): boolean {
  return origin === 'retiring' && group.members.length === 0;
}
