import type { GuardCause } from '#agent/ports/guard.ts';
import type { Millis } from '#shared/runtime/clock.ts';

/** Between two ticks of the timer that `guard.sh` makes for itself. */
export const TICK_MS: Millis = 15_000;
/** `short_silence` of `guard.sh`. */
const SHORT_SILENCE_SECONDS = 60;

/** `settled` of `guard.sh`. */
export const SETTLED_SECONDS = 120;

/** What `guard.sh` knows when it decides. */
export interface GuardQuestion {
  readonly maxStarts: number;
  readonly silenceSeconds: number;
  /** How long the agent has been silent in this boot. */
  readonly quietSeconds: number;
}

/** What stand-ins for `guard.sh` do at a start of the kubelet, this one counted; undefined where it may start as it is. */
export function causeAtStart(
  { maxStarts, silenceSeconds, quietSeconds }: GuardQuestion,
  starts: number,
): Extract<GuardCause, 'starts' | 'silence'> | undefined {
  if (starts > maxStarts) return 'starts';
  return quietSeconds >= silenceSeconds ? 'silence' : undefined;
}

/** What two ticks in a row have to find. */
export function causeAtTick(
  { silenceSeconds, quietSeconds }: Omit<GuardQuestion, 'maxStarts'>,
  isDown: () => boolean,
): Extract<GuardCause, 'silence' | 'down'> | undefined {
  if (quietSeconds >= silenceSeconds) return 'silence';
  return quietSeconds >= SHORT_SILENCE_SECONDS && isDown() ? 'down' : undefined;
}
