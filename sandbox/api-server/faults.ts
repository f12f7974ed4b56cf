import type { Millis } from '#shared/runtime/clock.ts';
import type { ApiCall } from '#sandbox/api-server/request/api-call.ts';

/** How the server misbehaves. */
export type FaultAnswer =
  /** An error from the server, or from something before it. */
  | 409
  | 410
  | 429
  | 500
  | 503
  /** The connection breaks before anything is done. */
  | 'reset'
  /** The request is carried out, and the connection breaks before the answer. */
  | 'lost-answer'
  /** No answer, ever. */
  | 'hang';

export interface Fault {
  /** Which requests; all where left out. */
  readonly match?: (call: ApiCall) => boolean;
  /** Milliseconds before anything happens. */
  readonly latencyMs?: Millis;
  /** What happens instead of the answer; the right answer where left out. */
  readonly answer?: FaultAnswer;
  /** Seconds, for 429 and 503. */
  readonly retryAfter?: number;
  /** How many requests it strikes; all where left out. */
  readonly times?: number;
}

/** Faults on demand. */
export interface Faults {
  /** Replaces all faults that were set before. A request meets the first one that matches it. */
  readonly set: (...faults: readonly Fault[]) => void;
  readonly clear: () => void;
  /** How many requests met a fault since the last `set`. */
  readonly struck: () => number;
}

export interface FaultSource extends Faults {
  /** The fault that a request meets now; counts it. */
  readonly next: (call: ApiCall) => Fault | undefined;
}

export function createFaults(): FaultSource {
  let present: readonly { readonly fault: Fault; left: number }[] = [];
  let struck = 0;
  const set: Faults['set'] = (...faults) => {
    struck = 0;
    present = faults.map((fault) => ({ fault, left: fault.times ?? Number.POSITIVE_INFINITY }));
  };
  return {
    set,
    clear: () => set(),
    struck: () => struck,
    next(call) {
      const met = present.find(({ fault, left }) => left > 0 && (fault.match?.(call) ?? true));
      if (met === undefined) return undefined;
      met.left -= 1;
      struck += 1;
      return met.fault;
    },
  };
}
