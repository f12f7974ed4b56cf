import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts } from '../test/cluster/support/free-ports.ts';
import { heavyCommits } from '../test/security/support/heavy-commits.ts';
import { startReconcilerProcess } from '../test/support/fleet-process/reconciler-process.ts';
import { fleetFiles } from '../test/support/fleet-process/repository.ts';
import { memoryLimitMiB } from '../test/support/manifest-flags.ts';
import { until } from '../test/support/until.ts';
import type { BenchOptions } from './bench-options.ts';
import type { Measurement } from './render-measurements.ts';
import { settled, unless } from './support/fleet-run.ts';
import { POOLS, sandboxSite } from './support/fleet-site.ts';
import { peakRssMiB } from './support/peak-memory.ts';
import { withReconcilerBundle } from './support/reconciler-bundle.ts';

const NODES = 5_000;
const COMMITS = ['unknown fields up to the limit', 'wide lists that are valid', 'maps that look like credentials'];
/** What is refused, or has errors in all of its own pools, is not waited for otherwise. */
const READING_MS = 45_000;
const SETTLE_MS = 20_000;
const MOST_SHARE = 0.6;
/** A pass over the fleet is the longest work already: a commit may add this to it. */
const MOST_TIMES = 1.5;

interface Load {
  readonly peakMiB: number;
  readonly workMs: number;
  readonly wallMs: number;
}

/** A commit that takes much to read, beside a large fleet: the shipped bundle with the shipped flags. */
export function measure(_options: BenchOptions): Promise<readonly Measurement[]> {
  return withReconcilerBundle(async (directory) => {
    const [alone, ...heavy] = await loadsOf(directory);
    const limit = Math.floor(MOST_SHARE * memoryLimitMiB('reconciler'));
    const row = (
      what: string,
      unit: string,
      of: (load: Load) => number,
      atMost: number,
      text: string,
    ): Measurement => ({
      what: `${what}, ${NODES} nodes, ${heavy.length} heavy commits`,
      unit,
      subject: heavy.map(of),
      baseline: { what: 'the fleet alone', values: alone === undefined ? [] : [of(alone)] },
      promise: { text, kept: Math.max(...heavy.map(of)) <= atMost },
    });
    return [
      row(
        'peak RSS',
        'MiB',
        ({ peakMiB }) => peakMiB,
        limit,
        `at most ${limit} MiB, ${100 * MOST_SHARE} % of the Deployment's`,
      ),
      row(
        'longest work without a turn for others',
        'ms',
        ({ workMs }) => workMs,
        MOST_TIMES * (alone?.workMs ?? 0),
        `at most ${MOST_TIMES} times the fleet alone`,
      ),
    ];
  });
}

/** First of the fleet alone, and then of each commit. */
async function loadsOf(directory: string): Promise<readonly Load[]> {
  const site = await sandboxSite(NODES, directory);
  const { fleet, kubeconfig } = site;
  const [healthPort = 0] = await freePorts(1);
  const turnsFile = join(directory, 'turns.json');
  const telling = new URL('support/report-turns.js', import.meta.url).href;
  const env = { NODE_OPTIONS: `--import=${telling}`, TURNS_FILE: turnsFile };
  const first = await fleet.ask('commit', { files: fleetFiles(POOLS, 110, '100%') });
  const reconciler = startReconcilerProcess({ directory, kubeconfig, gitUrl: fleet.gitUrl, healthPort, env });
  const turns = async (): Promise<Pick<Load, 'workMs' | 'wallMs'>> => {
    await rm(turnsFile, { force: true });
    process.kill(reconciler.pid, 'SIGUSR2');
    const said = (): Promise<string | false> => readFile(turnsFile, 'utf8').catch(() => false as const);
    return JSON.parse(await until('its turns', said, { withinMs: 60_000, everyMs: 50 })) as Load;
  };
  const during = async (ms: number): Promise<Load> => {
    // VmHWM counts from now (proc(5)).
    await writeFile(`/proc/${reconciler.pid}/clear_refs`, '5');
    await turns();
    await unless(reconciler, sleep(ms));
    return { peakMiB: await peakRssMiB(reconciler.pid), ...(await turns()) };
  };
  try {
    await unless(reconciler, settled(fleet, first, NODES));
    await sleep(SETTLE_MS);
    const loads = [await during(SETTLE_MS)];
    for (const { what, files } of heavyCommits().filter((each) => COMMITS.includes(each.what))) {
      const texts = Object.fromEntries([...files].map(([path, { bytes }]) => [path, Buffer.from(bytes).toString()]));
      await fleet.ask('commit', { files: texts });
      const load = await during(READING_MS);
      console.error(`${what}: ${JSON.stringify(load)}`);
      loads.push(load);
    }
    return loads;
  } finally {
    await reconciler.kill('SIGKILL');
    await site.stop();
  }
}
