import { stringify } from 'yaml';
import { DEFAULT_NAMESPACE } from '#shared/contract/api/group.ts';
import { type Clock, systemClock } from '#shared/runtime/clock.ts';
import { type Command, type ExitCode, type Given, UsageError } from '../command.ts';
import { connectTo } from '../connect-cluster.ts';
import type { Io } from '../io.ts';
import { paintFor } from '../paint.ts';
import { CLUSTER_OPTIONS, TIMEOUT_OPTION, timeoutOf, wordOf } from '../options.ts';
import { columnsOf, wrapFor } from '../wrap.ts';
import { allSettled } from './all-settled.ts';
import { readClusterStatus } from './read-status.ts';
import type { NodeReason } from '#reconciler/policy/pool-status/explain-nodes.ts';
import { withDrainBlockers } from './drain-blockers.ts';
import { renderStatus, type StatusView } from './render.ts';
import { renderWhy } from './render-why.ts';
import { statusAsJson } from './status-json.ts';
import { stopReason } from './stop-reason.ts';
import { type StatusReading, watchStatus, type Watching } from './watch-status.ts';
import { filterStatus } from './filter-status.ts';
import { readFleet, nodeReasonsOf } from './node-reasons.ts';

const FORMATS = ['text', 'wide', 'json', 'yaml'] as const;

export const STATUS: Command = {
  name: 'status',
  summary: 'shows the commit in force, the pools and the nodes of a cluster',
  mostWords: 0,
  about: [
    'Exit code 0 when a commit is in force, every pool is settled and no node needs a person, 1 when something is under way or wrong.',
    'A watch outlasts an API server that is away for some minutes, and ends with 1 when somebody has to act: a pool is halted or waits for an approval, a commit is refused.',
  ],
  options: {
    ...CLUSTER_OPTIONS,
    pool: { type: 'string', value: 'NAME', about: 'only this pool and its nodes' },
    node: { type: 'string', value: 'NAME', about: 'only this node and its pool' },
    problems: {
      type: 'boolean',
      about: 'only pools that are not settled or are suspended, and nodes that are not as assigned',
    },
    why: { type: 'boolean', about: 'for every node, why it changes now or not' },
    watch: { type: 'boolean', short: 'w', about: 'keep watching until every pool is settled or stopped' },
    timeout: TIMEOUT_OPTION,
    commit: {
      type: 'string',
      value: 'NAME',
      about: 'nothing counts as settled before this commit, or a later one, is in force',
    },
    output: {
      type: 'string',
      short: 'o',
      words: FORMATS,
      about: 'for people (the default; wide: every class of machines) or for programs',
    },
  },
  examples: [
    'kubelet-gitops status',
    'kubelet-gitops status --why --pool general',
    'kubelet-gitops status --problems',
    'kubelet-gitops status --context prod --watch --timeout 2h --commit "$(git rev-parse origin/main)"',
  ],
  run: (given, io) => runStatus(given, io, systemClock),
};

/** @param clock for tests */
export async function runStatus(given: Given, io: Io, clock: Clock): Promise<ExitCode> {
  const format = wordOf(given, 'output', FORMATS, 'text');
  const isForPeople = format === 'text' || format === 'wide';
  const isWatch = given.flag('watch');
  if (isWatch && !isForPeople) throw new UsageError('--watch is for people: take --output text');
  const commit = commitOf(given.text('commit'));
  const timeoutMs = timeoutOf(given, isWatch);
  const namespace = given.text('namespace') ?? DEFAULT_NAMESPACE;
  const kube = await connectTo(given, io);
  const paint = paintFor(io.out, io.env);
  const wrap = wrapFor(io.out);
  const columns = columnsOf(io.out);

  const reasonsOf = async (
    { source }: StatusView,
    isShown: (reason: NodeReason) => boolean,
  ): Promise<readonly NodeReason[]> => {
    const fleet = await readFleet(kube, namespace);
    return withDrainBlockers(kube, nodeReasonsOf(fleet, source, namespace, clock.now()).filter(isShown), fleet);
  };
  const look = async (): Promise<StatusReading> => {
    const question = { pool: given.text('pool'), node: given.text('node'), hasProblems: given.flag('problems') };
    const { view, shown, isShown } = filterStatus(await readClusterStatus(kube), question, clock.now());
    const why = given.flag('why') ? await reasonsOf(view, isShown) : undefined;
    if (!isForPeople) {
      const json = statusAsJson(shown, allSettled(view, commit), why, clock.now());
      return { view, text: format === 'json' ? `${JSON.stringify(json, null, 2)}\n` : stringify(json) };
    }
    const reasons = why === undefined ? '' : `\n${renderWhy(why, paint, columns)}`;
    return {
      view,
      text: wrap(`${renderStatus({ ...shown, isWide: isWide(given) }, paint, clock.now(), columns)}${reasons}`),
    };
  };

  const first = await look();
  io.out.write(first.text);
  const isEnough = (view: StatusView): boolean => allSettled(view, commit);
  if (!isWatch) return isEnough(first.view) ? 0 : 1;
  const stops = (view: StatusView): string | null => stopReason(view, clock.now(), commit);
  const unsettled = await watchStatus(first, look, { isEnough, stops, timeoutMs, show: showOn(io), paint }, clock);
  if (unsettled !== null) io.out.write(`\n${wrap(paint('bad', unsettled))}\n`);
  return unsettled === null ? 0 : 1;
}

/** A question for one pool shows all of it. */
const isWide = (given: Given): boolean => given.text('output') === 'wide' || given.text('pool') !== undefined;

function commitOf(written = ''): string {
  if (written !== '' && !/^[0-9a-f]{7,40}$/.test(written)) {
    throw new UsageError(`--commit ${written}: write the name of a commit, seven digits of it at least`);
  }
  return written;
}

const showOn =
  ({ out }: Io): Watching['show'] =>
  (text) =>
    void out.write(`${out.isTTY === true ? '\u001b[H\u001b[2J' : '\n'}${text}`);
