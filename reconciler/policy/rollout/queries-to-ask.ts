import { fromTimestamp, type Millis } from '#shared/runtime/clock.ts';
import type { QueriedPool } from '../analysis/query-answer.ts';
import type { Desired } from '../desired.ts';
import type { Fleet } from '../fleet.ts';
import { targetOf } from './membership.ts';
import { isRecordOfTarget } from './node-progress.ts';

/** Where canaries wait for a window, the pool of an hour before they began is a fairer likeness than that of days ago. */
const LONGEST_BEFORE_MS: Millis = 60 * 60_000;

/** The clocks of Prometheus and ours may differ so much. */
const APART_MS: Millis = 60_000;

/**
 * The pools whose canaries have yet to be judged by what Prometheus keeps: their canaries are done, by the status, and no verdict stands.
 * All others ask nothing. What was before is looked up at the beginning of the rollout, not of the canaries' wave: a reconciler that was
 * away meanwhile sees the wave late.
 */
export function queriesToAsk(desired: Desired, fleet: Fleet): readonly QueriedPool[] {
  return [...desired.pools.values()].flatMap((pool) => {
    const source = pool.spec.rollout.analysis?.prometheus;
    const target = targetOf(pool);
    const { rollout, halt, released, holds, settled } = fleet.pools.get(pool.name)?.status ?? {};
    if (source === undefined || target === null || rollout === undefined || !isRecordOfTarget(rollout, target))
      return [];
    const isReleased = released?.sha256 === target.sha256;
    const isHalted = halt !== undefined && isRecordOfTarget(halt, target);
    const { verdict = settled !== undefined && isRecordOfTarget(settled, target) ? 'pass' : 'waiting' } =
      rollout.analysis ?? {};
    const isAwaited = rollout.finishedAt === undefined || holds?.some(({ reason }) => reason === 'analysis') === true;
    const isOpen = isAwaited && (verdict === 'waiting' || verdict === 'suspect');
    const canary = rollout.waves.find(({ name }) => name === 'canary');
    if (!isOpen || isHalted || isReleased || canary?.state !== 'done') return [];
    const since = fromTimestamp(rollout.startedAt);
    if (since === undefined) return [];
    const began = fromTimestamp(canary.startedAt) ?? since;
    return [{ name: pool.name, source, before: Math.max(since, began - LONGEST_BEFORE_MS) - APART_MS }];
  });
}
