import { setTimeout as sleep } from 'node:timers/promises';
import { reasonOf } from '#shared/runtime/errors.ts';

export interface Bound {
  /** Milliseconds until the wait is given up: it ends a hang, and measures nothing. Five minutes by default. */
  readonly withinMs?: number;
  /** Milliseconds between two looks. By default 2 where a look is at this process, and 200 where it asks somebody. */
  readonly everyMs?: number;
  /** Text for the error when the wait is given up, a log's tail for instance. */
  readonly evidence?: () => string;
  /** Says why waiting further is pointless, for instance that a process has ended. */
  readonly hopeless?: () => string | undefined;
}

const PATIENCE_MS = 300_000;

/**
 * Waits for what real sockets and processes bring about: looks again and again until `look` gives something else than
 * undefined or false, and returns that. A promise that is rejected counts as "not yet", and the last reason is in the error;
 * what a look throws at once ends the wait.
 *
 * @param what is waited for: `the watch is open`, `node a to be Ready`
 */
export async function until<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  bound: Bound = {},
): Promise<T> {
  const { withinMs = PATIENCE_MS } = bound;
  const started = performance.now();
  let last = '';
  for (;;) {
    const pointless = bound.hopeless?.();
    if (pointless !== undefined) throw new Error(message(`waiting in vain: ${what}: ${pointless}`, bound));
    const looked = look();
    try {
      const seen = await looked;
      if (seen !== undefined && seen !== false) return seen;
      last = '';
    } catch (error) {
      last = ` (last try: ${reasonOf(error)})`;
    }
    if (performance.now() - started > withinMs) {
      throw new Error(message(`waited ${withinMs} ms in vain: ${what}${last}`, bound));
    }
    await sleep(bound.everyMs ?? (looked instanceof Promise ? 200 : 2));
  }
}

function message(text: string, bound: Bound): string {
  const evidence = bound.evidence?.() ?? '';
  return evidence === '' ? text : `${text}\n${evidence}`;
}
