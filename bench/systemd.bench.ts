import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../test/support/until.ts';
import { FATAL_CONFIG } from './support/fatal-config.ts';
import { KUBELET_UNIT } from '../test/node/support/node-paths.ts';
import type { NodeUnderTest } from '../test/node/support/node-under-test.ts';
import type { BenchOptions } from './bench-options.ts';
import { atMostTimes, type Measurement } from './render-measurements.ts';
import { startEmptyNode } from './support/empty-node.ts';
import { seconds } from './support/kubelet-runs.ts';
import { figuresOf } from './support/process-figures.ts';
import { startSystemdNode, type SystemdNode } from './support/systemd-node.ts';

const RUNS = 3;
const TRIAL = { duration: '1s', startTimeout: '30s', maxRestarts: 0 };
const GOOD = { maxPods: 60 };

interface Change {
  readonly seconds: number;
  readonly starts: number;
}

/** The same changes where they matter: under systemd, with kubeadm's pause of 10 s before an automatic restart, guarded. */
export async function measure({ settleMs }: BenchOptions): Promise<readonly Measurement[]> {
  const at = await startSystemdNode();
  const { node } = at;
  try {
    await node.agent.enable();
    await node.settlesOn(await node.assignments.assign(GOOD, { trial: TRIAL }));
    const bare: Change[] = [];
    const good: Change[] = [];
    const crashing: Change[] = [];
    for (let round = 0; round < RUNS; round += 1) {
      const restart = (): Promise<unknown> => node.machine.systemctl('restart', '--no-block', KUBELET_UNIT);
      bare.push(await change(node, restart, () => true));
      const maxPods = 70 + round;
      good.push(
        await change(
          node,
          () => assign(node, { maxPods }),
          (config) => config['maxPods'] === maxPods,
        ),
      );
      await node.settlesOn(await assign(node, GOOD));
      let bad = '';
      const assignBad = async (): Promise<void> => {
        bad = await assign(node, { ...FATAL_CONFIG, maxPods: 100 + round });
      };
      crashing.push(await change(node, assignBad, (config) => config['maxPods'] === GOOD.maxPods, 2));
      await node.rejects(bad);
    }
    await sleep(settleMs);
    return [...changeRows(bare, good, crashing), ...(await idleRows(at))];
  } finally {
    await at.stop();
  }
}

const assign = (node: NodeUnderTest, fields: Readonly<Record<string, unknown>>): Promise<string> =>
  node.assignments.assign(fields, { trial: TRIAL });

/** @param leastStarts of the kubelet, before its health counts */
async function change(
  node: NodeUnderTest,
  act: () => Promise<unknown>,
  isWanted: (config: Readonly<Record<string, unknown>>) => boolean,
  leastStarts = 1,
): Promise<Change> {
  const invocations = new Set([(await node.runs()).invocation]);
  const begun = seconds();
  await act();
  await until(
    'a healthy kubelet with the config that was wanted',
    async () => {
      const { invocation } = await node.runs();
      if (invocation !== '') invocations.add(invocation);
      if (invocation === '' || invocations.size <= leastStarts || !(await node.healthy())) return false;
      const config = await node.configz().catch(() => undefined);
      return config !== undefined && isWanted(config);
    },
    { withinMs: 90_000, everyMs: 20 },
  );
  return { seconds: seconds() - begun, starts: invocations.size - 1 };
}

function changeRows(
  bare: readonly Change[],
  good: readonly Change[],
  crashing: readonly Change[],
): readonly Measurement[] {
  const pick = (of: readonly Change[], figure: keyof Change): number[] => of.map((one) => one[figure]);
  const baseline = { what: 'bare restart', values: pick(bare, 'seconds') };
  const [guarded, back] = [good, crashing].map((of) => ({ subject: pick(of, 'seconds'), baseline }));
  if (guarded === undefined || back === undefined) throw new Error('nothing was measured');
  return [
    {
      what: 'assignment to a kubelet that runs it, guarded',
      unit: 's',
      ...guarded,
      promise: atMostTimes(1.25, guarded),
    },
    {
      what: 'crash-looping config, from its assignment to health with lastKnownGood',
      unit: 's',
      ...back,
      promise: atMostTimes(2.5, back),
    },
    {
      what: 'the same: starts of the kubelet',
      unit: '',
      subject: pick(crashing, 'starts'),
      baseline: { what: 'bare restart', values: pick(bare, 'starts') },
    },
  ];
}

/** What the guard, the bus and the watched files cost while nothing is on trial. */
async function idleRows(at: SystemdNode): Promise<readonly Measurement[]> {
  const { openFiles, sockets, watches, rssMiB, pssMiB, privateMiB } = await figuresOf(await at.agentPid());
  const emptyNode = await startEmptyNode();
  await sleep(1_000);
  const empty = await figuresOf(emptyNode.pid);
  await emptyNode.stop();
  const traces = await at.traces();
  const row = (what: string, unit: string, value: number, other: number): Measurement => ({
    what: `agent after these changes: ${what}`,
    unit,
    subject: [value],
    baseline: { what: 'empty Node', values: [other] },
  });
  return [
    row('RSS', 'MiB', rssMiB, empty.rssMiB),
    row('PSS', 'MiB', pssMiB, empty.pssMiB),
    row('private memory', 'MiB', privateMiB, empty.privateMiB),
    row('open files', '', openFiles, empty.openFiles),
    row('sockets among them', '', sockets, empty.sockets),
    row('directories watched (inotify)', '', watches, empty.watches),
    {
      what: 'units and drop-ins of the guard after a promotion, until the next boot',
      unit: '',
      subject: [traces.length],
      baseline: { what: 'a node without us', values: [0] },
      promise: { text: 'no unit, one drop-in', kept: traces.join().endsWith('.conf') && traces.length === 1 },
    },
  ];
}
