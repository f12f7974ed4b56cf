import { DEFAULT_NAMESPACE } from '#shared/contract/api/group.ts';
import { parseDuration } from '#shared/runtime/duration.ts';
import { type Clock, type Millis, systemClock } from '#shared/runtime/clock.ts';
import { type Command, type ExitCode, type Given, Mistake } from '../command.ts';
import { connectTo } from '../connect.ts';
import type { Io } from '../io.ts';
import { paintFor } from '../paint.ts';
import { CLUSTER_OPTIONS, wordOf } from '../options.ts';
import { columnsOf, wrapFor } from '../wrap.ts';
import { allSettled } from './all-settled.ts';
import { readClusterStatus } from './read.ts';
import { renderStatus, type StatusView } from './render.ts';
import { renderWhy } from './render-why.ts';
import { statusAsJson } from './status-json.ts';
import { stoppedBecause } from './stopped.ts';
import { type Look, watch, type Watching } from './watch.ts';
import { readFleet, whyNodes } from './why-nodes.ts';
import { didYouMean } from '#shared/contract/kubelet-config/syntax/did-you-mean.ts';

const FORMATS = ['text', 'json'] as const;

export const STATUS: Command = {
  name: 'status',
  summary: 'shows the commit in force, the pools and the nodes of a cluster',
  mostWords: 0,
  about: [
    'Exit code 0 when a commit is in force and every pool is settled, 1 when something is under way or wrong.',
    'A watch outlasts an API server that is away for some minutes, and ends with 1 when somebody has to act: a pool is halted, a commit is refused.',
  ],
  options: {
    ...CLUSTER_OPTIONS,
    pool: { type: 'string', value: 'NAME', about: 'only this pool and its nodes' },
    why: { type: 'boolean', about: 'for every node, why it is changed now or not' },
    watch: { type: 'boolean', short: 'w', about: 'stay, and show it anew, until every pool is settled or stopped' },
    timeout: {
      type: 'string',
      value: 'DURATION',
      about: 'how long a watch stays at most, such as 30m; default: no limit',
    },
    commit: {
      type: 'string',
      value: 'NAME',
      about: 'nothing counts as settled before this commit, or a later one, is in force',
    },
    output: { type: 'string', short: 'o', words: FORMATS, about: 'for people (the default) or for programs' },
  },
  examples: [
    'kubelet-gitops status',
    'kubelet-gitops status --why --pool general',
    'kubelet-gitops status --context prod --watch --timeout 2h --commit "$(git rev-parse origin/main)"',
  ],
  run: (given, io) => runStatus(given, io, systemClock),
};

/** @param clock for tests */
export async function runStatus(given: Given, io: Io, clock: Clock): Promise<ExitCode> {
  const format = wordOf(given, 'output', FORMATS, 'text');
  const isWatch = given.flag('watch');
  if (isWatch && format === 'json') throw new Mistake('--watch is for people: take --output text');
  const commit = commitOf(given.text('commit'));
  const timeoutMs = timeoutOf(given.text('timeout'), isWatch);
  const namespace = given.text('namespace') ?? DEFAULT_NAMESPACE;
  const kube = await connectTo(given, io);
  const paint = paintFor(io.out, io.env);
  const wrap = wrapFor(io.out);
  const columns = columnsOf(io.out);

  const look = async (): Promise<Look> => {
    const pool = given.text('pool');
    const view = ofPool(await readClusterStatus(kube, namespace), pool);
    const why = given.flag('why')
      ? whyNodes(await readFleet(kube, namespace), view.source, namespace, clock.now()).filter(
          (reason) => pool === undefined || reason.pool === pool,
        )
      : undefined;
    if (format === 'json') return { view, text: `${JSON.stringify(statusAsJson(view, why, commit), null, 2)}\n` };
    const reasons = why === undefined ? '' : `\n${renderWhy(why, paint, columns)}`;
    return { view, text: wrap(`${renderStatus(view, paint, clock.now(), columns)}${reasons}`) };
  };

  const first = await look();
  io.out.write(first.text);
  const isEnough = (view: StatusView): boolean => allSettled(view, commit);
  if (!isWatch) return isEnough(first.view) ? 0 : 1;
  const stops = (view: StatusView): string | null => stoppedBecause(view, commit);
  const unsettled = await watch(first, look, { isEnough, stops, timeoutMs, show: showOn(io), paint }, clock);
  if (unsettled !== null) io.out.write(`\n${wrap(paint('bad', unsettled))}\n`);
  return unsettled === null ? 0 : 1;
}

function timeoutOf(written: string | undefined, isWatch: boolean): Millis {
  if (written === undefined) return Infinity;
  if (!isWatch) throw new Mistake('--timeout is of --watch: write both or none');
  const timeoutMs = parseDuration(written);
  if (timeoutMs === undefined || timeoutMs === 0)
    throw new Mistake(`--timeout ${written}: write it as 90s, 10m or 1h30m`);
  return timeoutMs;
}

function commitOf(written = ''): string {
  if (written !== '' && !/^[0-9a-f]{7,40}$/.test(written)) {
    throw new Mistake(`--commit ${written}: write the name of a commit, seven digits of it at least`);
  }
  return written;
}

const showOn =
  ({ out }: Io): Watching['show'] =>
  (text) =>
    void out.write(`${out.isTTY === true ? '\u001b[H\u001b[2J' : '\n'}${text}`);

/**
 * The commit, and one pool with the nodes that it has.
 *
 * @param name undefined for everything
 * @throws Mistake where the cluster does not have the pool
 */
function ofPool(view: StatusView, name: string | undefined): StatusView {
  if (name === undefined) return view;
  const pools = view.pools.filter(({ metadata }) => metadata.name === name);
  if (pools.length === 0) {
    const names = view.pools.map(({ metadata }) => metadata.name);
    const meant = didYouMean(name, names);
    throw new Mistake(
      `the cluster has no pool ${name}${meant === undefined ? `; it has ${names.join(', ') || 'none'}` : ` (did you mean ${meant}?)`}`,
    );
  }
  return { ...view, pools, nodes: view.nodes.filter(({ spec }) => spec?.pool === name) };
}
