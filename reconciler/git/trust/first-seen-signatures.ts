import type { Millis } from '#shared/runtime/clock.ts';
import { setNewest } from '#shared/runtime/set-newest.ts';

/** When signed objects were first seen here. Their signers can choose any date, but not this one. */
interface FirstSeenSignatures {
  /** Of an object that is seen now. @returns now, or when it was seen before */
  of(oid: string, now: Millis): Millis;
}

/** More than are looked at between two restarts, mostly; what is forgotten counts as new, which lets nothing in. */
const MOST = 1_000;

export function createFirstSeenSignatures(): FirstSeenSignatures {
  const seen = new Map<string, Millis>();

  return {
    of(oid, now) {
      const first = Math.min(now, seen.get(oid) ?? Infinity);
      setNewest(seen, oid, first, MOST);
      return first;
    },
  };
}
