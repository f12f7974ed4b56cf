import assert from 'node:assert/strict';
import type { Clock, Millis } from '#shared/runtime/clock.ts';

/**
 * A clock that goes on to the next sleeper when everything awake has come to rest: hours pass in seconds, and how long anything
 * real takes is no part of them. For programs of this process that wait for nothing but this clock and files.
 */
export interface IdleClock extends Clock {
  /**
   * Lets time pass until it holds; both are looked at whenever all is at rest.
   *
   * @param each called at every such moment, before `holds`
   * @throws AssertionError where it does not hold within `withinMs`
   */
  until(what: string, holds: () => boolean, withinMs: Millis, each?: () => void): Promise<void>;
  /** Lets that much time pass. */
  pass(ms: Millis, each?: () => void): Promise<void>;
  /** Lets time pass until the promise settles, for what needs time to end. */
  outlast<T>(promise: Promise<T>): Promise<T>;
}

interface Sleeper {
  readonly dueMs: Millis;
  readonly wake: () => void;
}

/** Longer than anything here takes to end. */
const HOUR_MS = 3_600_000;

export function createIdleClock(startMs: Millis = Date.UTC(2026, 0, 1)): IdleClock {
  let elapsed = 0;
  const sleepers = new Set<Sleeper>();

  const nextDue = (): Millis => {
    let due = Infinity;
    for (const { dueMs } of sleepers) due = Math.min(due, dueMs);
    return due;
  };
  const wakeDue = (): void => {
    for (const sleeper of sleepers) if (sleeper.dueMs <= elapsed) sleeper.wake();
  };
  const until: IdleClock['until'] = async (what, holds, withinMs, each = () => undefined) => {
    const end = elapsed + withinMs;
    for (;;) {
      await rest();
      each();
      if (holds()) return;
      const due = nextDue();
      assert.ok(due <= end, `${what}: not within ${withinMs / 60_000} min`);
      elapsed = Math.max(elapsed, due);
      wakeDue();
    }
  };

  return {
    now: () => startMs + elapsed,
    monotonic: () => elapsed,
    sleep(ms, signal) {
      return new Promise((resolve) => {
        if (signal?.aborted === true) return resolve();
        const wake = (): void => {
          sleepers.delete(sleeper);
          signal?.removeEventListener('abort', wake);
          resolve();
        };
        const sleeper = { dueMs: elapsed + Math.max(0, ms), wake };
        sleepers.add(sleeper);
        signal?.addEventListener('abort', wake);
      });
    },
    until,
    async pass(ms, each) {
      const end = elapsed + ms;
      void this.sleep(ms);
      await until('time to pass', () => elapsed >= end, ms, each);
    },
    async outlast(promise) {
      let isOver = false;
      const end = (): void => void (isOver = true);
      promise.then(end, end);
      await until('the end', () => isOver, HOUR_MS);
      return promise;
    },
  };
}

/** Files that are read or written, as Node names them among its resources. */
const BUSY = /^(?:FSReq|CloseReq)/;

/** Lets everything run that waits for its turn, or for a file. */
async function rest(): Promise<void> {
  for (let calm = 0; calm < 2; calm += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    if (process.getActiveResourcesInfo().some((resource) => BUSY.test(resource))) calm = -1;
  }
}
