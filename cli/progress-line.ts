import type { Millis } from '#shared/runtime/clock.ts';
import type { Io } from './io.ts';

/** One line on a terminal that says how far a long command is, and is gone when it ends. */
export interface ProgressLine {
  /** Shown only in a long run: not before the command has taken a while, and not too often. */
  say(text: string): void;
  /** Takes the line away. */
  end(): void;
}

/** A wait this long needs an explanation. */
const AFTER_MS = 500;
const EVERY_MS = 100;

const CLEAR_LINE = '\r\u001b[K';

export const silent: ProgressLine = { say: () => undefined, end: () => undefined };

/** @param now milliseconds that only go up */
export function progressFor(err: Io['err'], now: () => Millis): ProgressLine {
  if (err.isTTY !== true) return silent;
  let next = now() + AFTER_MS;
  let isShown = false;
  return {
    say(text) {
      const at = now();
      if (at < next) return;
      next = at + EVERY_MS;
      isShown = true;
      err.write(`${CLEAR_LINE}${text}`);
    },
    end() {
      if (isShown) err.write(CLEAR_LINE);
      isShown = false;
    },
  };
}
