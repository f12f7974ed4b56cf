import type { Clock, Millis } from '#shared/runtime/clock.ts';
import { within } from '#shared/runtime/lifetime.ts';
import { withDeadline } from '../host/deadline.ts';
import type { HostFiles } from '../host/host-files.ts';
import { unitLines } from '../host/journal/journal.ts';
import type { LastWords, WordsWanted } from '../ports/last-words.ts';
import { lastErrors } from './error-lines.ts';

export interface LastWordsOptions {
  readonly files: HostFiles;
  /** `kubelet.service`. */
  readonly unit: string;
  readonly clock: Clock;
}

/** The way back waits for it. */
const TIMEOUT_MS: Millis = 3_000;
/** A kubelet that ends with `klog.Fatal` writes the stacks of all its goroutines below the reason. */
const MOST_LINES = 5_000;
const MESSAGE = 'MESSAGE';
const INVOCATION = '_SYSTEMD_INVOCATION_ID';

/** The kubelet's last errors, from the host's journal. Reads a few MiB at most, and runs nothing on the host. */
export function createLastWords({ files, unit, clock }: LastWordsOptions): LastWords {
  return (wanted, parent) =>
    withDeadline(clock, TIMEOUT_MS, parent, (signal) =>
      within(signal, lastErrors(linesOf(files, unit, wanted, signal))),
    ).catch(() => []);
}

async function* linesOf(
  files: HostFiles,
  unit: string,
  { since, notOf }: WordsWanted,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const sinceMs = since === undefined ? -Infinity : Date.parse(since);
  let count = 0;
  for await (const { at, fields } of unitLines(files, unit, [MESSAGE, INVOCATION])) {
    count += 1;
    if (signal.aborted || at < sinceMs || count > MOST_LINES) return;
    const line = fields.get(MESSAGE);
    if (line !== undefined && !notOf.includes(fields.get(INVOCATION) ?? '')) yield line;
  }
}
