import type { Clock, Millis } from './clock.ts';

/** @returns gives out what `make` made, and has it made again when that is `ms` old: however many ask, it is made that often */
export function memoizeFor<T>(clock: Pick<Clock, 'monotonic'>, ms: Millis, make: () => T): () => T {
  let kept: { readonly value: T; readonly at: Millis } | undefined;
  return () => {
    const now = clock.monotonic();
    if (kept === undefined || now - kept.at >= ms) kept = { value: make(), at: now };
    return kept.value;
  };
}
