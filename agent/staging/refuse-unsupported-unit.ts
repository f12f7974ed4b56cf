import { GitopsError } from '#shared/runtime/errors.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { Guard } from '../ports/guard.ts';
import type { Preflight } from '../ports/preflight.ts';

/** Keeps configs away from a kubelet whose unit or files the agent cannot look after, and says so before anything is assigned. */
interface UnsupportedUnit {
  /** Such a kubelet gets no guard, and its node is not Ready. The status says so from the first report. */
  readonly guard: (guard: Guard) => Guard;
  /** Nothing passes until a person fixes the unit or names another. */
  readonly preflight: (preflight: Preflight) => Preflight;
}

/** @param unfitness why, in a sentence; may reject where that cannot be found out, which speaks against no unit */
export function createUnsupportedUnit(unfitness: () => Promise<string | undefined>, log: Log): UnsupportedUnit {
  let logged: string | undefined;
  const ask = async (): Promise<string | undefined> => {
    const reason = await unfitness().catch(() => undefined);
    if (reason !== undefined && reason !== logged) log.error({ reason }, 'this kubelet cannot be looked after');
    logged = reason;
    return reason;
  };
  return {
    guard: (guard) => ({
      ...guard,
      async look() {
        const seen = await guard.look();
        // What is armed already has to be taken away in any case.
        const isArmed =
          seen.guard !== 'none' && (seen.guard !== 'disarmed' || (seen.boots ?? seen).guard !== 'disarmed');
        if (isArmed) return seen;
        const why = await ask();
        return why === undefined ? seen : { guard: 'none', why, isUnfit: true };
      },
    }),
    preflight: (preflight) => async (effective, minor, assigned) => {
      const reason = await ask();
      // Not for good: it is the node that has to change, and then the same config may be right.
      if (reason !== undefined) throw new GitopsError('SERVICE_UNFIT', reason);
      return preflight(effective, minor, assigned);
    },
  };
}
