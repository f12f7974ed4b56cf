import { until } from '../test/support/until.ts';
import { atMostTimes, type Measurement } from './render-measurements.ts';
import { type RealNode, startRealNode } from './support/real-node.ts';

const RUNS = 5;
const MOST_TIMES = 1.2;

/** From an assignment to a kubelet that runs it, against a bare restart of the same kubelet, in turn. */
export async function measure(): Promise<readonly Measurement[]> {
  const node = await startRealNode({ trial: { duration: '1s', startTimeout: '30s', maxRestarts: 1 } });
  try {
    const bare: number[] = [];
    const assigned: number[] = [];
    for (let round = 0; round < RUNS; round += 1) {
      bare.push(await secondsUntil(node, node.restartKubelet, () => true));
      const maxPods = 60 + round;
      const { name, assign } = await node.prepare({ maxPods });
      assigned.push(await secondsUntil(node, assign, (config) => config['maxPods'] === maxPods));
      await until('promotion', async () => (await node.status()).lastKnownGood?.name === name, { withinMs: 60_000 });
    }
    const figures = { subject: assigned, baseline: { what: 'bare restart', values: bare } };
    const promise = atMostTimes(MOST_TIMES, figures);
    return [{ what: 'assignment to a kubelet that runs it', unit: 's', ...figures, promise }];
  } finally {
    await node.stop();
  }
}

/** Seconds from an act until the kubelet was started again, is healthy, and its running config is as expected. */
async function secondsUntil(
  { kubelet }: RealNode,
  act: () => Promise<unknown>,
  expected: (config: Readonly<Record<string, unknown>>) => boolean,
): Promise<number> {
  const before = await kubelet.restarts();
  const begun = performance.now();
  await act();
  await until(
    'the kubelet',
    async () => {
      if ((await kubelet.restarts()) === before || !(await kubelet.healthy())) return false;
      const config = await kubelet.configz().catch(() => null);
      return config !== null && expected(config);
    },
    { withinMs: 60_000, everyMs: 20 },
  );
  return (performance.now() - begun) / 1000;
}
