import type { Clock, Millis } from '#shared/runtime/clock.ts';
import { createLifetime } from '#shared/runtime/lifetime.ts';
import { GitopsError } from '#shared/runtime/errors.ts';

/** Runs work with a signal that aborts when the parent's does, or when the time is up. */
export async function withDeadline<T>(
  clock: Clock,
  ms: Millis,
  parent: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const life = createLifetime(clock, parent, () => parent.reason as unknown);
  life.cutAfter(ms, () => new GitopsError('DEADLINE', `not done within ${ms / 1000} s`));
  try {
    return await work(life.signal);
  } finally {
    life.end();
  }
}
