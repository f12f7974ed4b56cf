import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createAcceptedCommits } from '#reconciler/policy/commit-admission/accepted-commits.ts';
import { poolJudge } from '#reconciler/policy/config-repo/judge-pool.ts';
import { createVerdictCache } from '#reconciler/policy/config-repo/verdict-cache.ts';
import { judgeForFleet } from '#reconciler/policy/judge-for-fleet.ts';
import { createCommitReader } from '#reconciler/reading/commit-reader.ts';
import { createCommitReadings } from '#reconciler/reading/commit-readings.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { fleetOf, idleNode } from '../../support/fleet.ts';
import { sizedNode } from '../../support/rollout/sized-pool.ts';
import { heavyCommits } from './heavy-commits.ts';

/** What reading one commit and letting it into force came to, in the thread that holds the Lease and answers probes. */
export interface HeavyReading {
  readonly what: string;
  /** `in force` or the reason for which it was refused. */
  readonly outcome: string;
  readonly totalMs: number;
  /** The longest that nothing else had a turn: of the thread's own work, others on the machine do not count. */
  readonly longestMs: number;
  /** The same by the clock on the wall. */
  readonly delayMs: number;
  /** Most memory of the whole process. */
  readonly peakMiB: number;
}

const workedMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};

const MINORS = ['1.28.3', '1.31.0', '1.33.1', '1.34.2'];
const nodes = Array.from({ length: 64 }, (_, at) => {
  const row = Math.floor(at / 16);
  const labels = { pool: `p${at % 16}` };
  return sizedNode(`node-${at}`, 4 + row, 16, { labels, kubeletVersion: `v${MINORS[row]}` });
});
const fleet = fleetOf({
  nodes,
  kubeletNodes: nodes.map((node) => idleNode(node, { kubeletVersion: node.kubeletVersion })),
});
const judge = poolJudge(createVerdictCache(4_000));

const never = new AbortController().signal;

async function measured(commit: (typeof commits)[number]): Promise<HeavyReading> {
  const oid = 'c'.repeat(40);
  const { what, files } = commit;
  const author = { name: '', email: '', at: '' };
  const snapshot = {
    commit: { oid, parents: [], author, subject: '', raw: new Uint8Array() },
    lineage: 'first',
    files,
    findings: [],
    signature: { verdict: 'not-required' },
    since: null,
  } as const;
  const readings = createCommitReadings({
    read: createCommitReader({ cluster: 'prod', clock: systemClock, allowFields: ['staticPodURLHeader'] }),
    judge: (pool) => judgeForFleet(pool, fleet, judge),
    onRead: () => undefined,
    log: silentLog,
  });
  const takeUps = createAcceptedCommits({ load: readings.load, judge, policy: 'refuse' });
  const delays = monitorEventLoopDelay({ resolution: 10 });
  let longestMs = 0;
  let peak = 0;
  let outcome = '';
  globalThis.gc?.();
  const since = performance.now();
  delays.enable();
  for (let before = workedMs(); outcome === '';) {
    const { inForce, refused, reading } = takeUps.consider(snapshot, fleet, { inForce: null, refused: null });
    if (reading !== undefined) readings.start(never);
    else outcome = refused?.reason ?? (inForce === null ? '' : 'in force');
    await systemClock.sleep(1, never);
    const now = workedMs();
    longestMs = Math.max(longestMs, now - before);
    before = now;
    peak = Math.max(peak, process.memoryUsage.rss());
  }
  delays.disable();
  const totalMs = Math.round(performance.now() - since);
  const delayMs = Math.round(delays.max / 1e6);
  return { what, outcome, totalMs, longestMs: Math.round(longestMs), delayMs, peakMiB: Math.round(peak / 2 ** 20) };
}

/** The commits that the arguments name. */
const commits = heavyCommits().filter(({ what }) => process.argv.includes(what));
for (const commit of commits) process.stdout.write(`${JSON.stringify(await measured(commit))}\n`);
