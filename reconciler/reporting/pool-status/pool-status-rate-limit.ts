import { isDeepStrictEqual } from 'node:util';
import type { KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import type { Clock, Millis } from '#shared/runtime/clock.ts';
import type { Step } from '../../policy/steps.ts';

/**
 * Keeps pools' statuses from being written for every node that came one step further: in a rollout over thousands of nodes
 * that would be more writes than the rollout itself. What is remembered in a status (waves, halts, what the pool settled
 * on), its phase and its failures are written at once.
 */
interface PoolStatusRateLimit {
  /** The steps without those that can wait; a later pass plans them again. */
  due(steps: readonly Step[]): readonly Step[];
}

/** @param everyMs how old counts and messages may become while something goes on */
export function createPoolStatusRateLimit(clock: Clock, everyMs: Millis): PoolStatusRateLimit {
  const writtenAt = new Map<string, Millis>();
  return {
    due(steps) {
      const now = clock.monotonic();
      for (const [name, at] of writtenAt) if (now - at >= everyMs) writtenAt.delete(name);
      return steps.filter((step) => {
        if (step.step !== 'write-pool-status') return true;
        const { name } = step.pool.metadata;
        if (writtenAt.has(name) && isKnownAsProgress(step)) return false;
        writtenAt.set(name, now);
        return true;
      });
    },
  };
}

/** A status that cannot be read is not taken for one: the write finds out why. */
function isKnownAsProgress({ pool, status }: Extract<Step, { readonly step: 'write-pool-status' }>): boolean {
  try {
    return isOnlyProgress(pool.status, status);
  } catch {
    return false;
  }
}

/** Whether two statuses differ in nothing but how far things are, in numbers and words. */
function isOnlyProgress(before: KubeletPoolStatus | undefined, after: KubeletPoolStatus): boolean {
  return before !== undefined && isDeepStrictEqual(essenceOf(before), essenceOf(after));
}

function essenceOf({ conditions = [], ...status }: KubeletPoolStatus): unknown {
  const { counts: _, message: __, holds: ___, classes = [], rollout, impact, ...rest } = status;
  const named = classes.map(({ name, sha256, message }) => [name, sha256, message]);
  const { generation: ____, maxOnTrial: _____, onTrial: ______, ...way } = rollout ?? {};
  return {
    ...rest,
    way,
    risk: impact?.risk,
    classes: named,
    conditions: conditions.map((condition) => [condition.type, condition.status, condition.reason]),
  };
}
