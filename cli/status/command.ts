import { isKubeError } from '#shared/kube/kube-error.ts';
import { DEFAULT_NAMESPACE } from '#shared/contract/api/group.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import { type Clock, type Millis, systemClock } from '#shared/runtime/clock.ts';
import { type Command, type ExitCode, type Given, Mistake } from '../command.ts';
import { connectTo } from '../connect.ts';
import type { Io } from '../io.ts';
import { type Paint, paintFor } from '../paint.ts';
import { CLUSTER_OPTIONS, wordOf } from '../options.ts';
import { columnsOf, wrapFor } from '../wrap.ts';
import { allSettled } from './all-settled.ts';
import { readStatus } from './read.ts';
import { renderStatus, type StatusView } from './render.ts';
import { renderWhy } from './render-why.ts';
import { statusAsJson } from './status-json.ts';
import { readFleet, whyNodes } from './why-nodes.ts';

const WATCH_EVERY_MS: Millis = 2_000;
/** An API server that is away for longer is no restart. */
const PATIENCE_MS: Millis = 5 * 60_000;

const FORMATS = ['text', 'json'] as const;

export const STATUS: Command = {
  name: 'status',
  summary: 'shows the commit in force, the pools and the nodes of a cluster',
  mostWords: 0,
  about: [
    'Exit code 0 when a commit is in force and every pool is settled, 1 when something is under way or wrong.',
    'A watch outlasts an API server that is away for some minutes.',
  ],
  options: {
    ...CLUSTER_OPTIONS,
    why: { type: 'boolean', about: 'for every node, why it is changed now or not' },
    watch: { type: 'boolean', short: 'w', about: 'stay, and show it anew, until every pool is settled' },
    commit: {
      type: 'string',
      value: 'NAME',
      about: 'nothing counts as settled before this commit, or a later one, is in force',
    },
    output: { type: 'string', short: 'o', words: FORMATS, about: 'for people (the default) or for programs' },
  },
  examples: [
    'kubelet-gitops status',
    'kubelet-gitops status --why',
    'kubelet-gitops status --context prod --watch --commit "$(git rev-parse origin/main)"',
  ],
  run: (given, io) => runStatus(given, io, systemClock),
};

/** @param clock for tests */
export async function runStatus(given: Given, io: Io, clock: Clock): Promise<ExitCode> {
  const format = wordOf(given, 'output', FORMATS, 'text');
  const isWatch = given.flag('watch');
  if (isWatch && format === 'json') throw new Mistake('--watch is for people: take --output text');
  const commit = commitOf(given.text('commit'));
  const namespace = given.text('namespace') ?? DEFAULT_NAMESPACE;
  const kube = await connectTo(given, io);
  const paint = paintFor(io.out, io.env);
  const wrap = wrapFor(io.out);
  const columns = columnsOf(io.out);

  const look = async (): Promise<Look> => {
    const view = await readStatus(kube, namespace);
    const why = given.flag('why')
      ? whyNodes(await readFleet(kube, namespace), view.source.policy, namespace, clock.now())
      : undefined;
    if (format === 'json') return { view, text: `${JSON.stringify(statusAsJson(view, why), null, 2)}\n` };
    const reasons = why === undefined ? '' : `\n${renderWhy(why, paint, columns)}`;
    return { view, text: wrap(`${renderStatus(view, paint, clock.now(), columns)}${reasons}`) };
  };

  const first = await look();
  io.out.write(first.text);
  const isEnough = (view: StatusView): boolean => allSettled(view, commit);
  if (isWatch) await watch(first, look, { isEnough, show: showOn(io), paint }, clock);
  return isWatch || isEnough(first.view) ? 0 : 1;
}

function commitOf(written = ''): string {
  if (written !== '' && !/^[0-9a-f]{7,40}$/.test(written)) {
    throw new Mistake(`--commit ${written}: write the name of a commit, seven digits of it at least`);
  }
  return written;
}

interface Look {
  readonly view: StatusView;
  readonly text: string;
}

interface Watching {
  /** Whether there is nothing more to wait for. */
  isEnough(view: StatusView): boolean;
  /** In place of what was shown before. */
  show(text: string): void;
  readonly paint: Paint;
}

const showOn =
  ({ out }: Io): Watching['show'] =>
  (text) =>
    void out.write(`${out.isTTY === true ? '\u001b[H\u001b[2J' : '\n'}${text}`);

/** Looks again and again until all is settled. @throws KubeError where the API server says no, or is away for too long */
async function watch(first: Look, look: () => Promise<Look>, watching: Watching, clock: Clock): Promise<void> {
  const { isEnough, show, paint } = watching;
  let last = first;
  let lookedAt = clock.monotonic();
  while (!isEnough(last.view)) {
    await clock.sleep(WATCH_EVERY_MS);
    let trouble = '';
    try {
      last = await look();
      lookedAt = clock.monotonic();
    } catch (error) {
      if (!isPassing(error) || clock.monotonic() - lookedAt > PATIENCE_MS) throw error;
      trouble = `\n${paint('bad', `not as it is now: ${reasonOf(error)}`)}\n`;
    }
    show(`${last.text}${trouble}`);
  }
}

/** What ends by itself when the API server is back. */
const isPassing = (error: unknown): boolean =>
  isKubeError(error, 'KUBE_UNREACHABLE', 'KUBE_TIMEOUT', 'KUBE_SERVER_ERROR', 'KUBE_THROTTLED', 'KUBE_GARBLED');
