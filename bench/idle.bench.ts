import { watch } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchOptions } from './bench-options.ts';
import { median, type Measurement } from './render-measurements.ts';
import { type AuditedRequest, prepareAudit } from './support/audit.ts';
import { startEmptyNode } from './support/empty-node.ts';
import { isolateProcess, type IsolatedProcess } from './support/isolated-process.ts';
import { figuresOf, type ProcessFigures } from './support/process-figures.ts';
import { NODE, type RealNode, startRealNode } from './support/real-node.ts';

const HOUR_MS = 3_600_000;
/** What an idle agent may cost a node. */
const MOST_DIRTY_MIB = 17;
const MOST_RSS_MIB = 62;
const KUBELET = `system:node:${NODE}`;

/** What was seen of one process over the same span. */
interface Idle {
  readonly end: ProcessFigures;
  readonly workingSetMiB: number;
  readonly cpuSecondsPerHour: number;
  readonly writtenKiB: number;
}

/**
 * The agent beside a real kubelet with nothing to do, and an empty Node beside both over the same span. Each runs a Node binary
 * of its own, as on a node without other pods of this image.
 */
export async function measure(options: BenchOptions): Promise<readonly Measurement[]> {
  const undo: (() => Promise<unknown>)[] = [];
  try {
    const places = { agent: await isolateProcess(), bare: await isolateProcess() };
    undo.push(places.agent.remove, places.bare.remove);
    return await measureIn(places, options, undo);
  } finally {
    for (const each of undo.toReversed()) await each();
  }
}

type Places = Readonly<Record<'agent' | 'bare', IsolatedProcess>>;

async function measureIn(
  places: Places,
  options: BenchOptions,
  undo: (() => Promise<unknown>)[],
): Promise<readonly Measurement[]> {
  const audit = await prepareAudit();
  undo.push(audit.remove);
  const node = await startRealNode({
    trial: { duration: '5s', startTimeout: '30s', maxRestarts: 1 },
    apiServerArgs: audit.apiServerArgs,
    agentPlace: places.agent,
  });
  undo.push(node.stop);
  const empty = await startEmptyNode(places.bare);
  undo.push(empty.stop);
  await node.settle({ maxPods: 60 });
  await sleep(options.settleMs);
  const { agent, bare, changes, fromMs, toMs } = await watchIdle(node, empty.pid, places, options.idleMs);
  const requests = (await audit.requests()).filter(({ atMs }) => atMs >= fromMs && atMs < toMs);
  return [...processRows(agent, bare), ...traceRows(changes, requests, node.agentUser, toMs - fromMs, options)];
}

async function watchIdle(node: RealNode, emptyPid: number, places: Places, spanMs: number) {
  const pids = [node.agent.pid, emptyPid];
  let changes = 0;
  const watcher = watch(node.stateDirectory, { recursive: true }, () => (changes += 1));
  const before = await Promise.all(pids.map(figuresOf));
  const fromMs = Date.now();
  await sleep(spanMs);
  const after = await Promise.all(pids.map(figuresOf));
  const toMs = Date.now();
  watcher.close();
  const workingSets = await Promise.all([places.agent, places.bare].map((place) => place.workingSetMiB()));
  const idle = (index: number): Idle => {
    const [one, other] = [before[index], after[index]];
    if (one === undefined || other === undefined) throw new Error('a process was not measured');
    return {
      end: other,
      workingSetMiB: workingSets[index] ?? Number.NaN,
      cpuSecondsPerHour: ((other.cpuSeconds - one.cpuSeconds) * HOUR_MS) / (toMs - fromMs),
      writtenKiB: (other.writtenBytes - one.writtenBytes) / 1024,
    };
  };
  return { agent: idle(0), bare: idle(1), changes, fromMs, toMs };
}

function processRows(agent: Idle, bare: Idle): readonly Measurement[] {
  const row = (what: string, unit: string, figure: (of: Idle) => number): Measurement => ({
    what: `agent idle: ${what}`,
    unit,
    subject: [figure(agent)],
    baseline: { what: 'empty Node', values: [figure(bare)] },
  });
  const atMost = (most: number, measured: Measurement): Measurement => ({
    ...measured,
    promise: { text: `at most ${most} MiB`, kept: median(measured.subject) <= most },
  });
  return [
    atMost(
      MOST_RSS_MIB,
      row('RSS', 'MiB', ({ end }) => end.rssMiB),
    ),
    atMost(
      MOST_DIRTY_MIB,
      row('of it dirty', 'MiB', ({ end }) => end.dirtyMiB),
    ),
    row('of it clean pages of the binary and its libraries', 'MiB', ({ end }) => end.cleanMiB),
    row('working set of its cgroup', 'MiB', ({ workingSetMiB }) => workingSetMiB),
    row('CPU in an hour', 's', ({ cpuSecondsPerHour }) => cpuSecondsPerHour),
    row('written to the disk', 'KiB', ({ writtenKiB }) => writtenKiB),
  ];
}

/** What it leaves behind at others. */
function traceRows(
  changes: number,
  requests: readonly AuditedRequest[],
  agentUser: string,
  spanMs: number,
  { idleMs }: BenchOptions,
): readonly Measurement[] {
  const of = (user: string): readonly AuditedRequest[] => requests.filter((request) => request.user === user);
  const anHour = (count: number): number => (count * HOUR_MS) / spanMs;
  const kinds = [...new Set(of(agentUser).map(({ what }) => what))].sort();
  const kubelet = { what: 'the kubelet beside it', values: [anHour(of(KUBELET).length)] };
  return [
    {
      what: `changes in the state directory in ${idleMs / 1000} s`,
      unit: '',
      subject: [changes],
      baseline: { what: 'none are needed', values: [0] },
      promise: { text: 'none', kept: changes === 0 },
    },
    {
      what: 'API requests in an hour',
      unit: '',
      subject: [anHour(of(agentUser).length)],
      baseline: kubelet,
    },
    ...kinds.map((kind) => ({
      what: `of these: ${kind}`,
      unit: '',
      subject: [anHour(of(agentUser).filter(({ what }) => what === kind).length)],
      baseline: kubelet,
    })),
  ];
}
