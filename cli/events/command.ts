import { type Clock, systemClock, fromTimestamp, type Millis, toTimestamp } from '#shared/runtime/clock.ts';
import { type Command, type ExitCode, type Given, UsageError } from '../command.ts';
import { connectTo } from '../connect-cluster.ts';
import type { Io } from '../io.ts';
import { CLUSTER_OPTIONS, TIMEOUT_OPTION, timeoutOf, wordOf } from '../options.ts';
import { paintFor } from '../paint.ts';
import { isTransient, WATCH_INTERVAL_MS } from '../watch-retry.ts';
import { watchNewItems } from '../watch-new-items.ts';
import { columnsOf, wrapFor } from '../wrap.ts';
import { findByName } from '../find-by-name.ts';
import { type EventsQuestion, type PastEvent, type PastFacts, listPastEvents } from './past-events.ts';
import { readPastFacts } from './read-past-facts.ts';
import { eventsAsText } from './render.ts';
import { parseDuration } from '#shared/runtime/duration.ts';

const FORMATS = ['text', 'json'] as const;
const { kubeconfig, context } = CLUSTER_OPTIONS;

export const EVENTS_COMMAND: Command = {
  name: 'events',
  summary: 'shows what happened to pools and nodes, newest last',
  mostWords: 0,
  about: [
    'Reads Events, which API servers usually keep for an hour, and the status of nodes and pools, which lasts: when they were\n' +
      'promoted, fell back, halted or settled. Times are UTC.',
    'Exit code 0, whatever happened: status and doctor judge.',
  ],
  options: {
    kubeconfig,
    context,
    pool: { type: 'string', value: 'NAME', about: 'only of this pool and the nodes that belong to it now' },
    node: { type: 'string', value: 'NAME', about: 'only of this node' },
    watch: {
      type: 'boolean',
      short: 'w',
      about: 'keep running, and print what happens from now on, until Ctrl-C or --timeout',
    },
    timeout: TIMEOUT_OPTION,
    since: {
      type: 'string',
      value: '2h',
      about: 'leave out what is older than 30m, 2h, 3d, or than a time in RFC 3339',
    },
    output: { type: 'string', short: 'o', words: FORMATS, about: 'for people (the default) or for programs' },
  },
  examples: [
    'kubelet-gitops events',
    'kubelet-gitops events --pool general --since 2h',
    'kubelet-gitops events --watch',
    'kubelet-gitops events -o json',
  ],
  run: (given, io) => runEvents(given, io, systemClock),
};

/** @param clock for tests */
export async function runEvents(given: Given, io: Io, clock: Clock): Promise<ExitCode> {
  const format = wordOf(given, 'output', FORMATS, 'text');
  const isWatch = given.flag('watch');
  if (isWatch && format !== 'text') throw new UsageError('--watch is for people: take --output text');
  const timeoutMs = timeoutOf(given, isWatch);
  const since = sinceOf(given.text('since'), clock.now());
  const sinceText = since === undefined ? undefined : toTimestamp(since);
  const kube = await connectTo(given, io);
  const question = { pool: given.text('pool'), node: given.text('node'), since };
  const look = async (): Promise<readonly PastEvent[]> => {
    const traces = await readPastFacts(kube);
    const found = listPastEvents(traces, question);
    // Of what is gone something may be known, and a watch may wait for what is to come.
    if (found.length === 0 && !isWatch) requireNames(traces, question);
    return found;
  };
  const show = (happened: readonly PastEvent[], isMore: boolean): void =>
    void io.out.write(
      wrapFor(io.out)(eventsAsText(happened, paintFor(io.out, io.env), columnsOf(io.out), isMore, sinceText)),
    );

  const happened = await look();
  if (format === 'json') io.out.write(`${JSON.stringify({ events: happened }, null, 2)}\n`);
  else show(happened, false);
  if (isWatch) {
    // What happens several times is shown again when its count grows.
    const identity = ({ id, count }: PastEvent): string => `${id} ${count}`;
    const showMore = (more: readonly PastEvent[]): void => show(more, true);
    await watchNewItems(
      happened,
      { look, identity, show: showMore, everyMs: WATCH_INTERVAL_MS, timeoutMs, isPassing: isTransient },
      clock,
    );
  }
  return 0;
}

/** @throws Mistake where the cluster has no such pool or node */
function requireNames({ pools, nodes, kubeletNodes }: PastFacts, { pool, node }: EventsQuestion): void {
  if (pool !== undefined) findByName('pool', pools, pool);
  if (node !== undefined) findByName('node', [...nodes, ...kubeletNodes], node);
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
  if (at === undefined) throw new UsageError(`--since ${written}: write 30m, 2h, 3d or 2026-11-21T12:00:00Z`);
  return at;
}
