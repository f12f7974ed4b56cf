import type { Clock, Millis } from '#shared/runtime/clock.ts';
import { withLifetime, within } from '#shared/runtime/lifetime.ts';
import { GitopsError } from '#shared/runtime/errors.ts';

/**
 * Runs work with a signal that aborts when the parent's does, or when the time is up. It is over then, also where the work
 * does not heed its signal and goes on unheard.
 */
export function withDeadline<T>(
  clock: Clock,
  ms: Millis,
  parent: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const reason = (): GitopsError => new GitopsError('DEADLINE', `not done within ${ms / 1000} s`);
  return withLifetime({ clock, parent, onParent: () => parent.reason as unknown, ms, reason }, ({ signal }) =>
    within(signal, work(signal)),
  );
}
