import type { ConfigVisibility } from '../decide/observation.ts';
import type { RunningConfig } from '../ports/kubelet-probe.ts';
import type { Millis } from '#shared/runtime/clock.ts';

/** Follows whether the agent knows what the kubelet runs. */
interface VisibilityTracker {
  /** What a reading of `run` came to. */
  update(read: RunningConfig, run: string | null, now: Millis): void;
  /** @param isAtRest nothing is being changed: then what was seen of the run before counts for a moment */
  visibility(run: string | null, isAtRest: boolean, now: Millis): ConfigVisibility;
}

/** A kubelet that starts, or is slow once, is soon seen again, and needs no report. */
const GRACE_MS: Millis = 2 * 60_000;

export function createVisibilityTracker(): VisibilityTracker {
  let last: { readonly sight: ConfigVisibility; readonly run: string | null } | undefined;
  let fails: { readonly since: Millis; readonly why: string } | undefined;
  return {
    update(read, run, now) {
      const sight = definite(read);
      if (sight !== undefined) {
        last = { sight, run };
        fails = undefined;
      } else if (!read.seen) {
        fails = { since: fails?.since ?? now, why: read.reason };
      }
    },
    visibility(run, isAtRest, now) {
      const isRecent = fails === undefined || now - fails.since < GRACE_MS;
      if (last !== undefined && isRecent && (isAtRest || last.run === run)) return last.sight;
      const why = fails?.why ?? 'nobody has looked yet';
      return { sight: isRecent ? 'not-yet' : 'unreachable', why };
    },
  };
}

/** Undefined for what may be otherwise a moment later. */
function definite(read: RunningConfig): ConfigVisibility | undefined {
  if (read.seen) return { sight: 'seen' };
  return read.why === 'forbidden' || read.why === 'untrusted' || read.why === 'off'
    ? { sight: read.why, why: read.reason }
    : undefined;
}
