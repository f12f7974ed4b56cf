import { until } from '../test/support/until.ts';
import { FATAL_CONFIG } from './support/fatal-config.ts';
import { atMostTimes, type Measurement } from './render-measurements.ts';
import { recordRuns, seconds } from './support/kubelet-runs.ts';
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

/** A change of the kubelet, from what ordered it to a kubelet that is healthy again; in seconds. */
interface Change {
  readonly total: number;
  /** Until the first new process. */
  readonly toStart: number;
  /** Of that process, if it ended by itself. */
  readonly life: number;
  /** From its end to the process that is healthy in the end. */
  readonly reaction: number;
  /** Of that process, until it is healthy. */
  readonly toHealth: number;
  readonly starts: number;
}

/** What bad configs cost a node: one that kills the kubelet, and those that never get that far; and a bare restart. */
export async function measure(): Promise<readonly Measurement[]> {
  const node = await startRealNode({ trial: { duration: '1s', startTimeout: '30s', maxRestarts: 0 } });
  try {
    await node.settle(GOOD);
    const bare: Change[] = [];
    const crashing: Change[] = [];
    const refusals: Record<Kind, { readonly seconds: number; readonly starts: number }[]> = {
      validation: [],
      preflight: [],
    };
    for (let round = 0; round < RUNS; round += 1) {
      bare.push(await change(node, node.restartKubelet, 1));
      const { name, assign } = await node.prepare({ ...FATAL_CONFIG, maxPods: 100 + round });
      crashing.push(await change(node, assign, 2));
      await until('the fallback', async () => isBackFrom(node, name), { ...WITHIN, evidence: node.agent.logTail });
      for (const kind of ['validation', 'preflight'] as const) refusals[kind].push(await refusal(node, kind, round));
    }
    return [...crashRows(crashing, bare), ...refusalRows(refusals, bare)];
  } finally {
    await node.stop();
  }
}

/** @param leastStarts of the kubelet, before its health counts */
async function change(node: RealNode, act: () => Promise<void>, leastStarts: number): Promise<Change> {
  const { kubelet } = node;
  const recorder = recordRuns(kubelet);
  try {
    await until('the present run', async () => recorder.runs().length === 1, WITHIN);
    const begun = seconds();
    await act();
    await until(
      'a healthy kubelet with the config that was good',
      async () => {
        if (recorder.runs().length <= leastStarts || !(await kubelet.healthy())) return false;
        return (await kubelet.configz().catch(() => ({ maxPods: 0 })))['maxPods'] === GOOD.maxPods;
      },
      { ...WITHIN, evidence: node.agent.logTail },
    );
    const healthyAt = seconds();
    const runs = recorder.runs().slice(1);
    const [first, last] = [runs[0], runs.at(-1)];
    if (first === undefined || last === undefined) throw new Error('the kubelet was never started again');
    const firstEnd = first === last ? first.from : (first.to ?? Number.NaN);
    return {
      total: healthyAt - begun,
      toStart: first.from - begun,
      life: firstEnd - first.from,
      reaction: last.from - firstEnd,
      toHealth: healthyAt - last.from,
      starts: runs.length,
    };
  } finally {
    await recorder.stop();
  }
}

async function isBackFrom(node: RealNode, name: string): Promise<boolean> {
  const { phase, error } = await node.status();
  return phase === 'Idle' && error?.config === name;
}

async function refusal(node: RealNode, kind: Kind, round: number): Promise<{ seconds: number; starts: number }> {
  const before = await node.kubelet.restarts();
  const { name, assign } = await node.prepare({ ...REFUSED[kind], maxPods: 200 + round });
  const begun = seconds();
  await assign();
  await until('the refusal', async () => isBackFrom(node, name), { ...WITHIN, evidence: node.agent.logTail });
  const { error } = await node.status();
  if (error?.reason !== REASONS[kind]) throw new Error(`not refused by ${kind}: ${JSON.stringify(error)}`);
  return { seconds: seconds() - begun, starts: (await node.kubelet.restarts()) - before };
}

function crashRows(crashing: readonly Change[], bare: readonly Change[]): readonly Measurement[] {
  const pick = (of: readonly Change[], figure: keyof Change): number[] => of.map((one) => one[figure]);
  const row = (what: string, figure: keyof Change, against: keyof Change, baseline: string): Measurement => ({
    what,
    unit: figure === 'starts' ? '' : 's',
    subject: pick(crashing, figure),
    baseline: { what: baseline, values: pick(bare, against) },
  });
  const whole = row(
    'crash-looping config, from its assignment to health with lastKnownGood',
    'total',
    'total',
    'bare restart',
  );
  return [
    { ...whole, promise: atMostTimes(2.5, whole) },
    row('of that: to the start of its kubelet', 'toStart', 'toStart', 'bare: from the order to the start'),
    row('of that: until this kubelet ended by itself', 'life', 'toHealth', 'bare: from the start to health'),
    row(
      'of that: from its end to the start with lastKnownGood',
      'reaction',
      'toStart',
      'bare: from the order to the start',
    ),
    row('of that: from that start to health', 'toHealth', 'toHealth', 'bare: from the start to health'),
    row('the same: starts of the kubelet', 'starts', 'starts', 'bare restart'),
  ];
}

function refusalRows(
  refusals: Readonly<Record<Kind, readonly { readonly seconds: number; readonly starts: number }[]>>,
  bare: readonly Change[],
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
        baseline: { what: 'bare restart', values: bare.map((one) => one.total) },
      },
    ];
  });
}
