import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { writePack } from '../test/reconciler/git/support/write-pack.ts';
import { hostilePacks } from '../test/security/support/hostile-packs.ts';
import type { PackReading } from '../test/security/support/read-hostile-packs.ts';
import { manifestFlags } from '../test/support/manifest-flags.ts';
import type { BenchOptions } from './bench-options.ts';
import type { Measurement } from './render-measurements.ts';

const RUNS = 3;
/** An ordinary config repository: 5,000 files of some 1.5 KB. */
const FILES = 5_000;
const READER = join(import.meta.dirname, '../test/security/support/read-hostile-packs.ts');

const MOST_MS = 5_000;
const LONGEST_MS = 250;
const MOST_MIB = 150;

/** The worst of hostile packs, read with the flags of the Deployment; each figure is of the worst of them. */
export async function measure(_options: BenchOptions): Promise<readonly Measurement[]> {
  const directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-bench-'));
  try {
    const hostile: string[] = [];
    for (const { bytes, tree } of hostilePacks()) {
      const file = join(directory, `${hostile.length}`);
      await writeFile(file, bytes);
      hostile.push(tree === undefined ? file : `${file}:${tree}`);
    }
    const honest = join(directory, 'honest');
    await writeFile(honest, ordinaryPack());
    const worst: Worst[] = [];
    const usual: Worst[] = [];
    for (let run = 0; run < RUNS; run += 1) {
      worst.push(await worstOf(hostile));
      usual.push(await worstOf([honest]));
    }
    const row = (what: string, unit: string, key: keyof Worst, atMost: number): Measurement => ({
      what: `the worst of ${hostile.length} hostile packs: ${what}`,
      unit,
      subject: worst.map((one) => one[key]),
      baseline: { what: `a pack of ${FILES} files`, values: usual.map((one) => one[key]) },
      promise: { text: `at most ${atMost} ${unit}`, kept: worst.every((one) => one[key] <= atMost) },
    });
    return [
      row('work', 'ms', 'totalMs', MOST_MS),
      row('longest without a turn for others', 'ms', 'longestMs', LONGEST_MS),
      row('peak RSS over idle', 'MiB', 'moreMiB', MOST_MIB),
    ];
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

type Worst = Pick<PackReading, 'totalMs' | 'longestMs' | 'moreMiB'>;

async function worstOf(packs: readonly string[]): Promise<Worst> {
  const { stdout } = await promisify(execFile)(process.execPath, [...manifestFlags('reconciler'), READER, ...packs]);
  const readings = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as PackReading);
  const most = (key: keyof Worst): number => Math.max(...readings.map((one) => one[key]));
  return { totalMs: most('totalMs'), longestMs: most('longestMs'), moreMiB: most('moreMiB') };
}

function ordinaryPack(): Buffer {
  return writePack(
    Array.from({ length: FILES }, (_, index) => ({
      type: 'blob',
      body: Buffer.from(`kind: KubeletConfiguration\nmaxPods: ${index}\n${'# what it is for\n'.repeat(85)}`),
    })),
  );
}
