import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type ChurningNode, createChurningNode } from '../test/support/churn/churning-node.ts';
import { change } from '../test/support/churn/change-sequence.ts';
import type { BenchOptions } from './bench-options.ts';
import { median, type Measurement } from './render-measurements.ts';

const CHANGES = 10_000;
const FEW = 1_000;
/** Samples at either end that are compared. */
const SAMPLES = 3;
/** V8's own caches grow to their full size. A leak of thirty bytes a change would be more. */
const FLAT_MIB = 0.25;
/** The same: numbers grow longer. */
const FLAT_KIB = 1;

interface Sample {
  readonly heapMiB: number;
  readonly files: number;
  readonly kib: number;
}

/** Thousands of assignments to one agent, good and bad: whether it grows, in memory or on disk. */
export async function measure(_options: BenchOptions): Promise<readonly Measurement[]> {
  const collect = garbageCollector();
  const node = createChurningNode();
  const samples: Sample[] = [];
  for (let done = 0; done < CHANGES; done += FEW) {
    for (let number = done; number < done + FEW; number += 1) await change(node, number);
    samples.push(await restOf(node, collect));
  }
  await node.stop();
  const most = node.most();
  return [
    {
      ...ends(samples, `heap in the last of ${CHANGES} changes, collected`, 'MiB', 'heapMiB'),
      promise: { text: `at most ${FLAT_MIB} MiB more`, kept: growth(samples, 'heapMiB') <= FLAT_MIB },
    },
    {
      ...ends(samples, `most files in the state directory, ${most.checkpoints} checkpoints among them`, '', 'files'),
      promise: {
        text: 'no more; at most 3 checkpoints',
        kept: growth(samples, 'files') === 0 && most.checkpoints <= 3,
      },
    },
    {
      ...ends(samples, 'most bytes in the state directory', 'KiB', 'kib'),
      promise: { text: `at most ${FLAT_KIB} KiB more`, kept: growth(samples, 'kib') <= FLAT_KIB },
    },
  ];
}

const early = (samples: readonly Sample[], figure: keyof Sample): number[] =>
  samples.slice(0, SAMPLES).map((one) => one[figure]);
const late = (samples: readonly Sample[], figure: keyof Sample): number[] =>
  samples.slice(-SAMPLES).map((one) => one[figure]);

const growth = (samples: readonly Sample[], figure: keyof Sample): number =>
  median(late(samples, figure)) - median(early(samples, figure));

function ends(samples: readonly Sample[], what: string, unit: string, figure: keyof Sample): Measurement {
  const baseline = { what: `in the first ${SAMPLES * FEW}`, values: early(samples, figure) };
  return { what, unit, subject: late(samples, figure), baseline };
}

async function restOf(node: ChurningNode, collect: () => void): Promise<Sample> {
  // Finalizers and what they free take a turn each.
  for (let turn = 0; turn < 5; turn += 1) {
    collect();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { files, bytes } = node.most();
  return { heapMiB: process.memoryUsage().heapUsed / 2 ** 20, files, kib: bytes / 1024 };
}

/** Without compilers, whose output comes and goes in steps of a quarter of a MiB and would hide a leak, or seem to be one. */
function garbageCollector(): () => void {
  for (const flag of ['--no-opt', '--no-maglev', '--no-sparkplug', '--expose-gc']) setFlagsFromString(flag);
  return runInNewContext('gc') as () => void;
}
