import { systemClock, fromTimestamp, type Millis } from '#shared/runtime/clock.ts';
import { type Command, type ExitCode, type Given, Mistake } from '../command.ts';
import { connectTo } from '../connect.ts';
import type { Io } from '../io.ts';
import { CLUSTER_OPTIONS, wordOf } from '../options.ts';
import { paintFor } from '../paint.ts';
import { columnsOf, wrapFor } from '../wrap.ts';
import { whatHappened } from './happened.ts';
import { readTraces } from './read-traces.ts';
import { eventsAsText } from './render.ts';
import { parseDuration } from '#shared/runtime/duration.ts';

const FORMATS = ['text', 'json'] as const;
const { kubeconfig, context } = CLUSTER_OPTIONS;

export const EVENTS_COMMAND: Command = {
  name: 'events',
  summary: 'tells what happened to pools and nodes, the newest last',
  mostWords: 0,
  about: [
    'From Events, which API servers keep for an hour as a rule, and from what nodes and pools say of themselves, which lasts:\n' +
      'when they were promoted, fell back, were halted, settled. Times are UTC.',
    'Exit code 0, whatever happened: status and doctor judge.',
  ],
  options: {
    kubeconfig,
    context,
    pool: { type: 'string', value: 'NAME', about: 'only of this pool and the nodes that belong to it now' },
    node: { type: 'string', value: 'NAME', about: 'only of this node' },
    since: { type: 'string', value: '2h', about: 'nothing older: 30m, 2h, 3d, or a time in RFC 3339' },
    output: { type: 'string', short: 'o', words: FORMATS, about: 'for people (the default) or for programs' },
  },
  examples: [
    'kubelet-gitops events',
    'kubelet-gitops events --pool general --since 2h',
    'kubelet-gitops events -o json',
  ],
  run: runEvents,
};

async function runEvents(given: Given, io: Io): Promise<ExitCode> {
  const format = wordOf(given, 'output', FORMATS, 'text');
  const since = sinceOf(given.text('since'), systemClock.now());
  const traces = await readTraces(await connectTo(given, io));
  const happened = whatHappened(traces, { pool: given.text('pool'), node: given.text('node'), since });
  if (format === 'json') io.out.write(`${JSON.stringify({ events: happened }, null, 2)}\n`);
  else io.out.write(wrapFor(io.out)(eventsAsText(happened, paintFor(io.out, io.env), columnsOf(io.out))));
  return 0;
}

/** `--since 2h` or `--since 2026-11-21T12:00:00Z`, as a moment. @throws Mistake */
export function sinceOf(written: string | undefined, now: Millis): Millis | undefined {
  if (written === undefined) return undefined;
  const days = /^(\d{1,4})d$/.exec(written)?.[1];
  const span = days === undefined ? parseDuration(written) : Number(days) * 86_400_000;
  if (span !== undefined) return now - span;
  const at = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:\d\d))?$/.test(written)
    ? fromTimestamp(written)
    : undefined;
  if (at === undefined) throw new Mistake(`--since ${written}: write 30m, 2h, 3d or 2026-11-21T12:00:00Z`);
  return at;
}
