import { until } from '../test/support/until.ts';
import { FATAL_CONFIG } from './support/fatal-config.ts';
import { KUBELET_UNIT } from '../test/node/support/node-paths.ts';
import type { NodeUnderTest } from '../test/node/support/node-under-test.ts';
import { atMostTimes, type Measurement } from './render-measurements.ts';
import type { KubeletChange } from './support/kubelet-change.ts';
import { startSystemdNode } from './support/systemd-node.ts';

const RUNS = 3;
const TRIAL = { duration: '1s', startTimeout: '30s', maxRestarts: 0 };
const GOOD = { maxPods: 60 };

/** The same changes where they matter: under systemd, with kubeadm's pause of 10 s before an automatic restart, guarded. */
export async function measure(): Promise<readonly Measurement[]> {
  const at = await startSystemdNode();
  const { node } = at;
  try {
    await node.agent.enable();
    await node.settlesOn(await node.assignments.assign(GOOD, { trial: TRIAL }));
    const bare: KubeletChange[] = [];
    const good: KubeletChange[] = [];
    const crashing: KubeletChange[] = [];
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
    return [...changeRows(bare, good, crashing), traceRow(await at.traces())];
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
): Promise<KubeletChange> {
  const invocations = new Set([(await node.runs()).invocation]);
  const begun = performance.now();
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
  return { seconds: (performance.now() - begun) / 1000, starts: invocations.size - 1 };
}

function changeRows(
  bare: readonly KubeletChange[],
  good: readonly KubeletChange[],
  crashing: readonly KubeletChange[],
): readonly Measurement[] {
  const pick = (of: readonly KubeletChange[], figure: keyof KubeletChange): number[] => of.map((one) => one[figure]);
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

/** What is left of the guard once nothing is on trial. */
const traceRow = (traces: readonly string[]): Measurement => ({
  what: 'units and drop-ins of the guard after a promotion, until the next boot',
  unit: '',
  subject: [traces.length],
  baseline: { what: 'a node without us', values: [0] },
  promise: { text: 'no unit, one drop-in', kept: traces.join().endsWith('.conf') && traces.length === 1 },
});
