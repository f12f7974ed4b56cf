import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts } from '../test/cluster/support/free-ports.ts';
import { until } from '../test/support/until.ts';
import { startReconcilerProcess } from '../test/support/fleet-process/reconciler-process.ts';
import { BASE, baseFile, fleetFiles } from '../test/support/fleet-process/repository.ts';
import type { FleetProcess } from '../test/support/fleet-process/start.ts';
import type { BenchOptions } from './bench-options.ts';
import { median, type Measurement } from './render-measurements.ts';
import { POOLS, sandboxSite } from './support/fleet-site.ts';
import { withReconcilerBundle } from './support/reconciler-bundle.ts';

const NODES = 100;
const COMMITS = 400;
/** One in so many does not pass validation. */
const REFUSED = 4;
const SAMPLE_EVERY = 20;
/** Samples at either end that are compared. */
const SAMPLES = 3;
/** Caches and compiled code reach their full size within this many commits. */
const WARM_UP = 200;
/** A leak of ten kilobytes a commit would be more. */
const FLAT_MIB = 1;
const PATIENCE = { withinMs: 5 * 60_000, everyMs: 50 };

interface Sample {
  readonly heapMiB: number;
  readonly buffersMiB: number;
}

/** Hundreds of commits, one after the other, good and bad, each in force before the next: whether the reconciler grows. */
export async function measure(_options: BenchOptions): Promise<readonly Measurement[]> {
  const samples = await withReconcilerBundle(async (directory) => {
    const site = await sandboxSite(NODES, directory);
    try {
      return await sampled(site.fleet, site.kubeconfig, directory);
    } finally {
      await site.stop();
    }
  });
  const compared = samples.slice(WARM_UP / SAMPLE_EVERY);
  return [
    flat(compared, `the reconciler's heap after ${COMMITS} commits, collected`, 'heapMiB'),
    flat(compared, 'the same: buffers', 'buffersMiB'),
  ];
}

async function sampled(fleet: FleetProcess, kubeconfig: string, directory: string): Promise<readonly Sample[]> {
  const [healthPort = 0] = await freePorts(1);
  const memoryFile = join(directory, 'memory.json');
  const telling = new URL('support/report-memory.js', import.meta.url).href;
  await fleet.ask('commit', { files: fleetFiles(POOLS, 110, '100%') });
  const reconciler = startReconcilerProcess({
    directory,
    kubeconfig,
    gitUrl: fleet.gitUrl,
    healthPort,
    // Unused ConfigMaps are kept for an hour by default, and would look like a leak.
    env: { NODE_OPTIONS: `--import=${telling}`, MEMORY_FILE: memoryFile, KEEP_UNUSED: '5s', NOTES_INTERVAL: '1s' },
  });
  try {
    await reconciler.ready();
    const samples: Sample[] = [];
    for (let number = 1; number <= COMMITS; number += 1) {
      await commit(fleet, number);
      if (number % SAMPLE_EVERY === 0) samples.push(await sampleOf(reconciler.pid, memoryFile));
    }
    return samples;
  } finally {
    await reconciler.kill('SIGKILL');
  }
}

async function commit(fleet: FleetProcess, number: number): Promise<void> {
  const file = baseFile(100 + number);
  if (number % REFUSED === 0) {
    await fleet.ask('commit', { files: { [BASE]: file.replace('maxPods', 'maxPodz') } });
    // Nothing comes of it that could be waited for but a note: two polls.
    await sleep(2_000);
    return;
  }
  const oid = await fleet.ask('commit', { files: { [BASE]: file } });
  const isInForce = async (): Promise<boolean> => {
    const { settled, pools } = await fleet.ask('progress', {});
    return settled === NODES && pools[oid] === POOLS;
  };
  await until(`commit ${number} in force`, isInForce, PATIENCE);
}

async function sampleOf(pid: number, memoryFile: string): Promise<Sample> {
  await rm(memoryFile, { force: true });
  process.kill(pid, 'SIGUSR2');
  const usage = await until('word of its memory', async () => JSON.parse(await readFile(memoryFile, 'utf8')), PATIENCE);
  return { heapMiB: usage.heapUsed / 2 ** 20, buffersMiB: usage.arrayBuffers / 2 ** 20 };
}

function flat(samples: readonly Sample[], what: string, figure: keyof Sample): Measurement {
  const subject = samples.slice(-SAMPLES).map((one) => one[figure]);
  const values = samples.slice(0, SAMPLES).map((one) => one[figure]);
  return {
    what,
    unit: 'MiB',
    subject,
    baseline: { what: `after ${WARM_UP}`, values },
    promise: { text: `at most ${FLAT_MIB} MiB more`, kept: median(subject) - median(values) <= FLAT_MIB },
  };
}
