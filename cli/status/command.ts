import { systemClock } from '#shared/runtime/clock.ts';
import { DEFAULT_NAMESPACE } from '#shared/contract/api/group.ts';
import type { Command, ExitCode, Given } from '../command.ts';
import { connectTo } from '../connect.ts';
import type { Io } from '../io.ts';
import { paintFor } from '../paint.ts';
import { CLUSTER_OPTIONS } from '../options.ts';
import { wrapFor } from '../wrap.ts';
import { readStatus } from './read.ts';
import { renderStatus, type StatusView } from './render.ts';
import { renderWhy } from './render-why.ts';
import { readFleet, whyNodes } from './why-nodes.ts';

const WATCH_EVERY_MS = 2_000;

export const STATUS: Command = {
  name: 'status',
  summary: 'shows the commit in force, the pools and the nodes of a cluster',
  mostWords: 0,
  about: ['Exit code 0 when every pool is settled, 1 when something is under way or wrong.'],
  options: {
    ...CLUSTER_OPTIONS,
    why: { type: 'boolean', about: 'for every node, why it is changed now or not' },
    watch: { type: 'boolean', short: 'w', about: 'stay, and show it anew, until every pool is settled' },
  },
  examples: ['kubelet-gitops status', 'kubelet-gitops status --why', 'kubelet-gitops status --context prod --watch'],
  run: runStatus,
};

async function runStatus(given: Given, io: Io): Promise<ExitCode> {
  const namespace = given.text('namespace') ?? DEFAULT_NAMESPACE;
  const kube = await connectTo(given, io);
  const paint = paintFor(io.out, io.env);
  const wrap = wrapFor(io.out);
  const columns = io.out.isTTY === true ? io.out.columns : undefined;
  let view = await readStatus(kube, namespace);
  io.out.write(wrap(renderStatus(view, paint, systemClock.now(), columns)));
  if (given.flag('why')) {
    const reasons = whyNodes(await readFleet(kube, namespace), view.source.policy, namespace, systemClock.now());
    io.out.write(wrap(`\n${renderWhy(reasons, paint)}`));
  }
  if (!given.flag('watch')) return allSettled(view) ? 0 : 1;
  while (!allSettled(view)) {
    await systemClock.sleep(WATCH_EVERY_MS);
    view = await readStatus(kube, namespace);
    const clear = io.out.isTTY === true ? '\u001b[H\u001b[2J' : '\n';
    io.out.write(`${clear}${wrap(renderStatus(view, paint, systemClock.now(), columns))}`);
  }
  return 0;
}

/** Whether there is nothing that anybody has to look at or wait for. */
export function allSettled({ source, pools }: StatusView): boolean {
  const quiet = source.failure === '' && source.refusedCommit === '' && source.findings === '';
  return (
    quiet &&
    pools.every(({ status }) => {
      const valid = status?.conditions?.every(({ type, status: is }) => type !== 'ConfigValid' || is === 'True');
      return (status?.phase === 'Settled' || status?.phase === 'Empty') && valid !== false;
    })
  );
}
