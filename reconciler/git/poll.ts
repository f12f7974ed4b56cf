import { schedule } from 'node-cron';
import type { Clock, Millis } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import { cronEvery } from './cron-every.ts';

export interface PollingOptions {
  /** Default: a minute. */
  readonly everyMs?: Millis;
  /** A cron pattern of six fields (seconds first) or five, in UTC, instead of `everyMs`. */
  readonly schedule?: string;
  /** How far a span between two ticks may be off, as a part of it. Default 0.2. */
  readonly jitter?: number;
  /** Wakes whoever reads the repository. While it has not ended, further ticks are left out. */
  readonly onTick: () => Promise<void> | void;
  /** Numbers in [0, 1). */
  readonly random: () => number;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Polling {
  /** The pattern that is followed. */
  readonly pattern: string;
  /** No tick begins after this. */
  stop(): void;
}

const QUIET = { info: () => undefined, warn: () => undefined, error: () => undefined, debug: () => undefined };

/**
 * Ticks at once and then on a schedule, never two at a time. A tick carries nothing and may be missed: the next one
 * brings the same.
 */
export function startPolling(options: PollingOptions): Polling {
  const { everyMs = 60_000, jitter = 0.2, onTick, random, clock, log } = options;
  const every = cronEvery(everyMs, [random(), random()]);
  const pattern = options.schedule ?? every.pattern;
  if (options.schedule === undefined && every.everyMs !== everyMs) {
    log.info({ askedMs: everyMs, everyMs: every.everyMs }, 'poll interval shortened to one that divides the clock');
  }
  const stopped = new AbortController();
  let busy = false;

  async function tick(delayMs: Millis): Promise<void> {
    if (busy || stopped.signal.aborted) return;
    busy = true;
    try {
      if (delayMs > 0) await clock.sleep(delayMs, stopped.signal);
      if (!stopped.signal.aborted) await onTick();
    } catch (error) {
      log.error({ err: error }, 'poll ended with an error');
    } finally {
      busy = false;
    }
  }

  /** Two delays of up to a fifth of the span make the distance between two ticks a fifth shorter or longer at most. */
  const later = (): Promise<void> => tick(Math.floor(random() * jitter * spanOf(task)));
  const task = schedule(pattern, later, { timezone: 'Etc/UTC', noOverlap: true, logger: QUIET });
  // Whatever kept the process busy at that second, this tick is only late.
  task.on('execution:missed', later);
  void tick(0);
  return {
    pattern,
    stop() {
      stopped.abort();
      void task.destroy();
    },
  };
}

function spanOf(task: { getNextRuns(count: number): Date[] }): Millis {
  const [next, afterNext] = task.getNextRuns(2);
  return next === undefined || afterNext === undefined ? 0 : afterNext.getTime() - next.getTime();
}
