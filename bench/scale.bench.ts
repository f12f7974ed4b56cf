import type { BenchOptions } from './bench-options.ts';
import { atMostTimes, type Measurement } from './render-measurements.ts';
import { realSite } from './support/fleet-site-real.ts';
import { AGENT_STEP_MS, POOLS } from './support/fleet-site.ts';
import { boundsDuration } from './support/bounds-duration.ts';
import { withReconcilerBundle } from './support/reconciler-bundle.ts';
import { CHANGE, FIRST, TRIAL_BEHAVIOUR, runScale, type ScaleFigures } from './support/scale-run.ts';

const NODES = 10_000;
const MOST_MIB = 260;
const MOST_OVER_BOUNDS = 1.05;
const MOST_RESTART_TIMES = 4;

/** What is promised of 10,000 nodes on the real API server of the minor that `KUBERNETES` names. */
export async function measure({ idleMs }: BenchOptions): Promise<readonly Measurement[]> {
  const figures = await withReconcilerBundle(async (directory) => {
    const site = await realSite(NODES, directory, TRIAL_BEHAVIOUR);
    try {
      return await runScale(NODES, site, directory, Math.max(idleMs, STEADY_MS));
    } finally {
      await site.stop();
    }
  });
  const stepMs = AGENT_STEP_MS + TRIAL_BEHAVIOUR.restartMs;
  return rows(NODES, figures, boundsDuration(NODES, POOLS, FIRST, CHANGE, stepMs) / 1000);
}

const STEADY_MS = 180_000;

function rows(nodes: number, figures: ScaleFigures, ownSeconds: number): readonly Measurement[] {
  const { version, peakRssMiB, assignedSeconds, assignments, steady, steadySeconds, wholeNodes } = figures;
  const what = (text: string): string => `${nodes} nodes, ${version}: ${text}`;
  const lists = Object.entries(steady).reduce((sum, [call, count]) => sum + (call.startsWith('list ') ? count : 0), 0);
  const most = ownSeconds * MOST_OVER_BOUNDS;
  const restart = {
    subject: [figures.restartSeconds],
    baseline: { what: "client-node's list of all Nodes", values: [wholeNodes.seconds] },
  };
  return [
    {
      what: what('peak RSS over two rollouts'),
      unit: 'MiB',
      subject: [peakRssMiB],
      baseline: { what: 'client-node with all Nodes', values: [wholeNodes.peakRssMiB] },
      promise: { text: `at most ${MOST_MIB} MiB`, kept: peakRssMiB <= MOST_MIB },
    },
    {
      what: what('commit to the last assignment'),
      unit: 's',
      subject: [assignedSeconds],
      baseline: { what: "the bounds' own time", values: [ownSeconds] },
      promise: { text: 'at most 5% more', kept: assignedSeconds <= most && assignments >= nodes },
    },
    {
      what: what('writes of assignments'),
      unit: '',
      subject: [assignments],
      baseline: { what: 'nodes', values: [nodes] },
    },
    {
      what: what(`LISTs in ${steadySeconds} s of signs of life`),
      unit: '',
      subject: [lists],
      baseline: { what: 'none are needed', values: [0] },
      promise: { text: 'none', kept: lists === 0 },
    },
    {
      what: what('SIGKILL in mid-rollout: start to first assignment'),
      unit: 's',
      ...restart,
      promise: atMostTimes(MOST_RESTART_TIMES, restart),
    },
    {
      what: what('the same: peak RSS'),
      unit: 'MiB',
      subject: [figures.restartRssMiB],
      baseline: { what: 'client-node with all Nodes', values: [wholeNodes.peakRssMiB] },
    },
  ];
}
