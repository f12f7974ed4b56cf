import type { Clock, Millis } from '#shared/runtime/clock.ts';
import { lastErrorsQuery, toldBy, type Told, withLastErrors } from '../decide/add-last-errors.ts';
import type { Decision } from '../decide/decision.ts';
import type { Observation } from '../decide/observation.ts';
import type { State } from '../decide/state.ts';
import type { LastErrorsQuery, LogMark, MarkLog, ReadLastErrors } from '../ports/last-errors.ts';

/** Adds what the kubelet itself said of what a decision found to have failed, in that turn or in a later one. */
export type Explain = (before: State, decision: Decision, seen: Observation, signal: AbortSignal) => Promise<Decision>;

interface ExplainOptions {
  /** Undefined where the kubelet's log is never seen. */
  readonly readLastErrors: ReadLastErrors | undefined;
  /** Where the kubelet has a log file of its own. */
  readonly markLog?: MarkLog | undefined;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Asks for a turn, since there is something to add. */
  readonly wake: () => void;
}

/** A failure of which the log had nothing yet. */
interface Unexplained {
  /** Another object as soon as it leaves out another run. */
  readonly wanted: LastErrorsQuery;
  readonly told: readonly Told[];
  /** The kubelet's run that failed. Runs after it have the config of the way back. */
  readonly run: string | null;
  /** Times that the log was asked again. */
  readonly looks: number;
  readonly nextLookAt: Millis;
  readonly found: readonly string[];
  /** No look at the service since shows another run, of which these words might be. */
  readonly isSure: boolean;
}

/** Each wait is twice as long as the one before: the last look is a minute after the failure. */
const FIRST_WAIT_MS: Millis = 1_000;
const MOST_LOOKS = 6;

/**
 * Journald may lag behind a kubelet that has ended: it takes lines from a socket with room for thousands of them, and stands
 * still while a disk is slow. So words that are missing are looked for again, beside the turns: none waits for them.
 */
export function createExplain({ readLastErrors: read, markLog, clock, wake }: ExplainOptions): Explain {
  let mark: LogMark | undefined;
  let open: Unexplained | undefined;
  let isLooking = false;

  const look = async (wanted: LastErrorsQuery, by: ReadLastErrors, signal: AbortSignal): Promise<void> => {
    isLooking = true;
    const found = await by(wanted, signal);
    isLooking = false;
    if (open?.wanted !== wanted || found.length === 0) return;
    open = { ...open, found };
    wake();
  };

  const explain: Explain = async (before, decision, seen, signal) => {
    if (read === undefined) return decision;
    const now = clock.monotonic();
    const wanted = lastErrorsQuery(before, decision, seen);
    if (wanted !== undefined) {
      const told = toldBy(before, decision);
      // A file does not lag behind, and tells no runs apart: later, or if the present run is not meant, only the journal does.
      const isOfPresentRun = seen.service.run === null || !wanted.notOf.includes(seen.service.run);
      const found = await read(isOfPresentRun && mark !== undefined ? { ...wanted, mark } : wanted, signal);
      const wait = { looks: 0, nextLookAt: now + FIRST_WAIT_MS };
      open = found.length > 0 ? undefined : { wanted, told, run: seen.service.run, found, isSure: false, ...wait };
      return withLastErrors(decision, told, found);
    }
    if (open === undefined) return decision;
    open = afterLook(open, seen.service.run);
    // In each turn: the disk may not have taken it.
    if (open.isSure) return withLastErrors(decision, open.told, open.found);
    if (now >= open.nextLookAt) {
      if (open.looks === MOST_LOOKS) {
        open = undefined;
        return decision;
      }
      const looks = open.looks + 1;
      open = { ...open, looks, nextLookAt: now + FIRST_WAIT_MS * 2 ** looks };
      if (!isLooking) void look(open.wanted, read, signal);
    }
    return { ...decision, recheckAfterMs: Math.min(decision.recheckAfterMs, open.nextLookAt - now) };
  };

  return async (before, decision, seen, signal) => {
    const explained = await explain(before, decision, seen, signal);
    // Right before it is carried out.
    if (decision.actions.some(({ do: what }) => what.endsWith('start-kubelet'))) mark = await markLog?.(signal);
    return explained;
  };
}

function afterLook(open: Unexplained, run: string | null): Unexplained {
  const { wanted, found, isSure } = open;
  if (isSure) return open;
  if (run === null || run === open.run || wanted.notOf.includes(run)) return { ...open, isSure: found.length > 0 };
  return { ...open, wanted: { ...wanted, notOf: [...wanted.notOf, run] }, found: [] };
}
