import type { KubeletConfig } from '../test/cluster/support/kubelet-probes.ts';
import { until } from '../test/support/until.ts';
import { FATAL_CONFIG } from './support/fatal-config.ts';
import { atMostTimes, type Measurement } from './render-measurements.ts';
import { type KubeletChange, kubeletChange } from './support/kubelet-change.ts';
import { type RealNode, startRealNode } from './support/real-node.ts';

const RUNS = 5;
const GOOD = { maxPods: 60 };
const WITHIN = { withinMs: 90_000, everyMs: 20 };

/** Of the content, and of this machine. */
const REFUSED = {
  validation: { imageGCHighThresholdPercent: 400 },
  preflight: { reservedSystemCPUs: '4000' },
} as const;

type Kind = keyof typeof REFUSED;

const REASONS = { validation: 'ConfigInvalid', preflight: 'PreflightFailed' } as const;

/** What bad configs cost a node: one that kills the kubelet, and those that never get that far; and a bare restart. */
export async function measure(): Promise<readonly Measurement[]> {
  const node = await startRealNode({ trial: { duration: '1s', startTimeout: '30s', maxRestarts: 0 } });
  try {
    await node.settle(GOOD);
    const bare: KubeletChange[] = [];
    const crashing: KubeletChange[] = [];
    const refusals: Record<Kind, KubeletChange[]> = { validation: [], preflight: [] };
    const runsGood = (config: KubeletConfig): boolean => config['maxPods'] === GOOD.maxPods;
    for (let round = 0; round < RUNS; round += 1) {
      bare.push(await kubeletChange(node, node.restartKubelet, runsGood));
      const { name, assign } = await node.prepare({ ...FATAL_CONFIG, maxPods: 100 + round });
      crashing.push(await kubeletChange(node, assign, runsGood, 2));
      await until('the fallback', async () => isBackFrom(node, name), { ...WITHIN, evidence: node.agent.logTail });
      for (const kind of ['validation', 'preflight'] as const) refusals[kind].push(await refusal(node, kind, round));
    }
    return [...crashRows(crashing, bare), ...refusalRows(refusals, bare)];
  } finally {
    await node.stop();
  }
}

async function isBackFrom(node: RealNode, name: string): Promise<boolean> {
  const { phase, error } = await node.status();
  return phase === 'Idle' && error?.config === name;
}

async function refusal(node: RealNode, kind: Kind, round: number): Promise<KubeletChange> {
  const before = await node.kubelet.restarts();
  const { name, assign } = await node.prepare({ ...REFUSED[kind], maxPods: 200 + round });
  const begun = performance.now();
  await assign();
  await until('the refusal', async () => isBackFrom(node, name), { ...WITHIN, evidence: node.agent.logTail });
  const { error } = await node.status();
  if (error?.reason !== REASONS[kind]) throw new Error(`not refused by ${kind}: ${JSON.stringify(error)}`);
  return { seconds: (performance.now() - begun) / 1000, starts: (await node.kubelet.restarts()) - before };
}

function crashRows(crashing: readonly KubeletChange[], bare: readonly KubeletChange[]): readonly Measurement[] {
  const row = (what: string, unit: string, figure: keyof KubeletChange): Measurement => ({
    what,
    unit,
    subject: crashing.map((one) => one[figure]),
    baseline: { what: 'bare restart', values: bare.map((one) => one[figure]) },
  });
  const whole = row('crash-looping config, from its assignment to health with lastKnownGood', 's', 'seconds');
  return [{ ...whole, promise: atMostTimes(2.5, whole) }, row('the same: starts of the kubelet', '', 'starts')];
}

function refusalRows(
  refusals: Readonly<Record<Kind, readonly KubeletChange[]>>,
  bare: readonly KubeletChange[],
): readonly Measurement[] {
  return (['validation', 'preflight'] as const).flatMap((kind) => {
    const starts = refusals[kind].map((one) => one.starts);
    return [
      {
        what: `config refused by ${kind}: starts of the kubelet`,
        unit: '',
        subject: starts,
        baseline: { what: 'bare restart', values: bare.map((one) => one.starts) },
        promise: { text: 'none', kept: Math.max(...starts) === 0 },
      },
      {
        what: `config refused by ${kind}: from its assignment to the refusal`,
        unit: 's',
        subject: refusals[kind].map((one) => one.seconds),
        baseline: { what: 'bare restart', values: bare.map((one) => one.seconds) },
      },
    ];
  });
}
