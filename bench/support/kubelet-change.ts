import type { KubeletConfig } from '../../test/cluster/support/kubelet-probes.ts';
import { until } from '../../test/support/until.ts';
import type { RealNode } from './real-node.ts';

/** A change of the kubelet, from what ordered it to a kubelet that is healthy again. */
export interface KubeletChange {
  readonly seconds: number;
  readonly starts: number;
}

/**
 * Waits until the kubelet was started again, is healthy, and runs what is expected.
 *
 * @param leastStarts of the kubelet, before its health counts
 */
export async function kubeletChange(
  { kubelet, agent }: RealNode,
  act: () => Promise<unknown>,
  isExpected: (config: KubeletConfig) => boolean,
  leastStarts = 1,
): Promise<KubeletChange> {
  const before = await kubelet.restarts();
  const starts = async (): Promise<number> => (await kubelet.restarts()) - before;
  const begun = performance.now();
  await act();
  await until(
    'a healthy kubelet with the config that was expected',
    async () => {
      if ((await starts()) < leastStarts || !(await kubelet.healthy())) return false;
      const config = await kubelet.configz().catch(() => null);
      return config !== null && isExpected(config);
    },
    { withinMs: 90_000, everyMs: 20, evidence: agent.logTail },
  );
  return { seconds: (performance.now() - begun) / 1000, starts: await starts() };
}
