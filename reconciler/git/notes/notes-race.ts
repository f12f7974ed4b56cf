import { backoffDelay } from '#shared/runtime/backoff.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { isGitError } from '../errors.ts';

const TRIES = 5;
/** Between tries, so that writers who met once do not meet again. */
const RACE_BACKOFF = { firstMs: 100, maxMs: 2_000, jitter: 0.9 };

interface RaceOptions {
  readonly clock: Clock;
  /** Numbers in [0, 1). */
  readonly random: () => number;
  readonly signal: AbortSignal;
}

/**
 * Tries a push of notes again where another writer of the same ref, such as another cluster, pushed first: each try reads what the ref
 * has by then and writes on top of it, so neither writer loses a note.
 *
 * @throws GitError `GIT_PUSH_RACE` after five tries; any other error of a try at once
 */
export async function retryRaces<T>(attempt: () => Promise<T>, { clock, random, signal }: RaceOptions): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!isGitError(error, 'GIT_PUSH_RACE') || tries === TRIES || signal.aborted) throw error;
      await clock.sleep(backoffDelay(tries, RACE_BACKOFF, random()), signal);
    }
  }
}
