import type { GuardCause } from '#agent/ports/guard.ts';
import type { Millis } from '#shared/runtime/clock.ts';

/** Between two ticks of the timer that `guard.sh` makes for itself. */
export const TICK_MS: Millis = 15_000;
/** `short_silence` of `guard.sh`. */
const SHORT_SILENCE_SECONDS = 45;

/** `settled` of `guard.sh`. */
export const SETTLED_SECONDS = 120;

/** `whole_boot` and `most_lost` of `guard.sh`. */
export const WHOLE_BOOT_SECONDS = 600;
export const MOST_LOST_BOOTS = 2;

/** The boot that the kubelet started in last, as `guard.sh` has it. */
export interface BootRecord {
  readonly boot: string;
  /** How many in a row before it were lost. */
  readonly lost: number;
  /** Age of the machine at the kubelet's first start in it; undefined where it is not lost itself. */
  readonly since: number | undefined;
}

/** How many boots in a row were lost up to the one before this. @param sign the agent's last sign of life, wherever it was */
export function lostBoots(
  { boot, lost, since }: BootRecord,
  thisBoot: string,
  sign: { readonly boot: string; readonly age: number },
): number {
  if (boot === thisBoot) return lost;
  return since === undefined || (sign.boot === boot && sign.age > since) ? 0 : lost + 1;
}

/** Whether this boot is known not to be lost. @param signAge of the agent's last sign of life in it */
export const isSpared = (since: number, age: number, signAge = 0): boolean =>
  signAge > since || age - since >= WHOLE_BOOT_SECONDS;

/** What `guard.sh` knows when it decides. */
export interface GuardQuestion {
  readonly maxStarts: number;
  readonly silenceSeconds: number;
  /** How long the agent has been silent in this boot. */
  readonly quietSeconds: number;
  /** How many boots in a row were lost. */
  readonly lost: number;
}

/** What stand-ins for `guard.sh` do at a start of the kubelet, this one counted; undefined where it may start as it is. */
export function causeAtStart(
  { maxStarts, silenceSeconds, quietSeconds, lost }: GuardQuestion,
  starts: number,
): Extract<GuardCause, 'starts' | 'silence' | 'boots'> | undefined {
  if (lost >= MOST_LOST_BOOTS) return 'boots';
  if (starts > maxStarts) return 'starts';
  return quietSeconds >= silenceSeconds ? 'silence' : undefined;
}

/** What two ticks in a row have to find. */
export function causeAtTick(
  { silenceSeconds, quietSeconds }: Pick<GuardQuestion, 'silenceSeconds' | 'quietSeconds'>,
  isDown: () => boolean,
): Extract<GuardCause, 'silence' | 'down'> | undefined {
  if (quietSeconds >= silenceSeconds) return 'silence';
  return quietSeconds >= SHORT_SILENCE_SECONDS && isDown() ? 'down' : undefined;
}
