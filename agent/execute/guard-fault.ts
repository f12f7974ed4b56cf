import { type BackoffOptions, backoffDelay } from '#shared/runtime/backoff.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import type { GuardedTrial } from '../decide/decision.ts';
import { trialIdOf } from '../decide/trial-guard.ts';
import { isDiskFull } from '../host/disk/disk-full.ts';
import type { ProcessMemory } from '../decide/process-memory.ts';

/** A dozen tries in three quarters of a minute: a mount that comes late is there by then. */
const BACKOFF: BackoffOptions = { firstMs: 1_000, maxMs: 5_000, jitter: 0.2 };
/** Each try has systemd read its units again, and room may not come for days. */
const FULL_BACKOFF: BackoffOptions = { ...BACKOFF, maxMs: 60_000 };

/**
 * What is remembered of a guard that could not be made ready for a trial. Pure.
 *
 * @param now monotonic
 */
export function guardFaultAfter(
  before: ProcessMemory['guardFault'],
  trial: GuardedTrial,
  error: unknown,
  now: Millis,
  random: number,
): NonNullable<ProcessMemory['guardFault']> {
  const id = trialIdOf(trial);
  const tries = (before?.trial === id ? before.tries : 0) + 1;
  const isFull = isDiskFull(error);
  const retryAt = now + backoffDelay(tries, isFull ? FULL_BACKOFF : BACKOFF, random);
  return { trial: id, message: reasonOf(error), tries, isFull, retryAt };
}
