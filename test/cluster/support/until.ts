import { setTimeout as sleep } from 'node:timers/promises';
import { reasonOf } from '#shared/runtime/errors.ts';

export interface Bound {
  /** Milliseconds until the wait is given up: it ends a hang, and measures nothing. Five minutes by default. */
  readonly withinMs?: number;
  /** Milliseconds between two looks; a fifth of a second by default. */
  readonly everyMs?: number;
  /** Text for the error when the wait is given up, a log's tail for instance. */
  readonly evidence?: () => string;
  /** Says why waiting further is pointless, for instance that a process has ended. */
  readonly hopeless?: () => string | undefined;
}

const PATIENCE_MS = 300_000;

/**
 * Looks again and again until `look` gives something else than undefined or false, and returns that. A look that throws
 * counts as "not yet"; the last reason is in the error.
 *
 * @param what completes the sentence "waited for …"
 */
export async function until<T>(
  what: string,
  look: () => Promise<T | undefined | false>,
  bound: Bound = {},
): Promise<T> {
  const { withinMs = PATIENCE_MS } = bound;
  const started = performance.now();
  let last = '';
  for (;;) {
    const pointless = bound.hopeless?.();
    if (pointless !== undefined) throw new Error(message(`waiting for ${what}: ${pointless}`, bound));
    try {
      const seen = await look();
      if (seen !== undefined && seen !== false) return seen;
      last = '';
    } catch (error) {
      last = ` (last try: ${reasonOf(error)})`;
    }
    if (performance.now() - started > withinMs) {
      throw new Error(message(`waited ${withinMs} ms in vain for ${what}${last}`, bound));
    }
    await sleep(bound.everyMs ?? 200);
  }
}

function message(text: string, bound: Bound): string {
  const evidence = bound.evidence?.() ?? '';
  return evidence === '' ? text : `${text}\n${evidence}`;
}
