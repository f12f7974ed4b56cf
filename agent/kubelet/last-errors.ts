import type { Clock, Millis } from '#shared/runtime/clock.ts';
import { withDeadline } from '../host/deadline.ts';
import type { HostFiles } from '../host/host-files.ts';
import { unitLines } from '../host/journal/journal.ts';
import type { LastErrorsQuery, MarkLog, ReadLastErrors } from '../ports/last-errors.ts';
import { createErrorLines, type ErrorLines, MAX_ERRORS } from './error-lines.ts';
import { linesSince, markIn } from './log-file.ts';

interface LastErrorsOptions {
  readonly files: HostFiles;
  /** `kubelet.service`. */
  readonly unit: string;
  readonly clock: Clock;
  /** The kubelet's own, where it has one. */
  readonly logFile?: string | undefined;
}

/** The way back waits for it. */
const TIMEOUT_MS: Millis = 3_000;
/**
 * A kubelet that ends with `klog.Fatal` writes the stacks of all its goroutines below the reason: five thousand lines with 1.20. As
 * many take 0.2 s, and what is read of a file has a bound in bytes.
 */
const MOST_LINES = 50_000;
/** Older errors are wanted beside the newest only where they stand close to it. */
const MOST_LINES_BEFORE = 1_000;
const MESSAGE = 'MESSAGE';
const INVOCATION = '_SYSTEMD_INVOCATION_ID';

/**
 * The kubelet's last errors, from its own log file, and where that has none from the host's journal: there what starts the
 * kubelet says that it ended. Reads a few MiB at most, and runs nothing on the host.
 */
export function createReadLastErrors({ files, unit, clock, logFile }: LastErrorsOptions): ReadLastErrors {
  return async (wanted, parent) => {
    const errors = createErrorLines();
    const read = async (signal: AbortSignal): Promise<void> => {
      const { since, mark } = wanted;
      if (logFile !== undefined && (since === undefined || mark !== undefined)) {
        let found = 0;
        for (const line of await linesSince(files, logFile, mark).catch(() => [])) {
          found = errors.add(line);
          if (found === MAX_ERRORS) break;
        }
        if (found > 0) return;
      }
      await readBackwards(files, unit, wanted, errors, signal);
    };
    // At the deadline, the lines found until then are returned.
    await withDeadline(clock, TIMEOUT_MS, parent, read).catch(() => undefined);
    return errors.lines();
  };
}

/** For a restart, which waits for it. */
export function createMarkLog({ files, clock, logFile }: Omit<LastErrorsOptions, 'unit'>): MarkLog {
  return (parent) =>
    logFile === undefined
      ? Promise.resolve(undefined)
      : withDeadline(clock, TIMEOUT_MS, parent, () => markIn(files, logFile)).catch(() => undefined);
}

async function readBackwards(
  files: HostFiles,
  unit: string,
  { since, notOf }: LastErrorsQuery,
  errors: ErrorLines,
  signal: AbortSignal,
): Promise<void> {
  const sinceMs = since === undefined ? -Infinity : Date.parse(since);
  let left = MOST_LINES;
  for await (const { at, fields } of unitLines(files, unit, [MESSAGE, INVOCATION])) {
    if (signal.aborted || at < sinceMs || left === 0) return;
    left -= 1;
    const line = fields.get(MESSAGE);
    if (line === undefined || notOf.includes(fields.get(INVOCATION) ?? '')) continue;
    const found = errors.add(line);
    if (found === MAX_ERRORS) return;
    if (found > 0) left = Math.min(left, MOST_LINES_BEFORE);
  }
}
