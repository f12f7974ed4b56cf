import type { Clock, Millis } from '#shared/runtime/clock.ts';
import { type Lifetime, type Limit, withLifetime } from '#shared/runtime/lifetime.ts';
import { GitError } from './errors.ts';
import type { GitLimits } from './git-limits.ts';

/** How long one request may take. The reason of every cut is a GitError: `GIT_TIMEOUT`, or `GIT_ABORTED` by the caller. */
export interface RequestDeadlines {
  /** Cut when the whole call takes too long, or the caller gives up. */
  readonly life: Lifetime;
  readonly connect: Limit;
  /** For each wait for a part of the answer, the first one included. */
  readonly idle: Limit;
}

interface RequestDeadlineOptions {
  readonly clock: Clock;
  readonly limits: GitLimits;
  /** Monotonic time at which the whole call has to be over. */
  readonly deadline: Millis;
  /** What is waited for, for messages: `https://host/path.git`. */
  readonly what: string;
  readonly signal: AbortSignal;
}

/** Runs one request within the limits of its call. */
export function withRequestDeadlines<Result>(
  { clock, limits, deadline, what, signal }: RequestDeadlineOptions,
  work: (patience: RequestDeadlines) => Promise<Result>,
): Promise<Result> {
  const lost = (why: string, ms: Millis) => () =>
    new GitError('GIT_TIMEOUT', `gave up on ${what}: ${why} ${ms / 1000} s`);
  const connect = { ms: limits.connectMs, reason: lost('no connection within', limits.connectMs) };
  const silence = { ms: limits.idleMs, reason: lost('silence for', limits.idleMs) };
  const term = {
    clock,
    parent: signal,
    onParent: () => abortedError(what, signal),
    ms: deadline - clock.monotonic(),
    reason: lost('the whole call took longer than', limits.totalMs),
  };
  return withLifetime(term, (life) => work({ life, connect, idle: silence }));
}

/** The error for a call that its caller gave up. */
export function abortedError(what: string, signal: AbortSignal): GitError {
  return new GitError('GIT_ABORTED', `reading or writing ${what} was broken off`, { cause: signal.reason });
}
