import type { JudgePool } from './config-repo/judge-pool.ts';
import type { LoadedPool } from './config-repo/loaded-repo.ts';
import type { Fleet } from './fleet.ts';
import { minorsOf } from './judge-nodes.ts';

/**
 * Judges a pool for every version in the fleet, one at a time, for a judge that remembers what it said.
 *
 * @param fleet null: not seen yet
 */
export function* judgeForFleet(pool: LoadedPool, fleet: Fleet | null, judge: JudgePool): Generator<void> {
  if (pool.status === 'invalid' || pool.template !== undefined || fleet === null) return;
  const ofNodes = [...fleet.nodes.values()].map(({ kubeletVersion }) => kubeletVersion);
  const reported = [...fleet.kubeletNodes.values()].map(({ status }) => status?.kubeletVersion);
  for (const minor of minorsOf([...ofNodes, ...reported])) {
    judge(pool, [minor]);
    yield;
  }
}
