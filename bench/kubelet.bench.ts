import { until } from '../test/support/until.ts';
import { atMostTimes, type Measurement } from './render-measurements.ts';
import { kubeletChange } from './support/kubelet-change.ts';
import { startRealNode } from './support/real-node.ts';

const RUNS = 5;
const MOST_TIMES = 1.2;

/** From an assignment to a kubelet that runs it, against a bare restart of the same kubelet, in turn. */
export async function measure(): Promise<readonly Measurement[]> {
  const node = await startRealNode({ trial: { duration: '1s', startTimeout: '30s', maxRestarts: 1 } });
  try {
    const bare: number[] = [];
    const assigned: number[] = [];
    for (let round = 0; round < RUNS; round += 1) {
      bare.push((await kubeletChange(node, node.restartKubelet, () => true)).seconds);
      const maxPods = 60 + round;
      const { name, assign } = await node.prepare({ maxPods });
      assigned.push((await kubeletChange(node, assign, (config) => config['maxPods'] === maxPods)).seconds);
      await until('promotion', async () => (await node.status()).lastKnownGood?.name === name, { withinMs: 60_000 });
    }
    const figures = { subject: assigned, baseline: { what: 'bare restart', values: bare } };
    const promise = atMostTimes(MOST_TIMES, figures);
    return [{ what: 'assignment to a kubelet that runs it', unit: 's', ...figures, promise }];
  } finally {
    await node.stop();
  }
}
