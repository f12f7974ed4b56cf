import { randomBytes } from 'node:crypto';
import { startApiServer } from '#sandbox/api-server/server.ts';
import { DEFAULT_GIT_LIMITS } from '#reconciler/git/git-limits.ts';
import { type GitHttpBackend, startGitHttpBackend } from '../test/support/git-http-backend.ts';
import { type FileTree, rawRepository } from '../test/reconciler/git/support/repository.ts';
import { memoryLimitMiB } from '../test/support/manifest-flags.ts';
import type { BenchOptions } from './bench-options.ts';
import type { Measurement } from './render-measurements.ts';
import { manyPools } from './support/many-pools.ts';
import { withReconcilerBundle } from './support/reconciler-bundle.ts';
import { watchReconciler } from './support/watched-reconciler.ts';

const RUNS = 3;
const POOLS = 500;
/** Pass, writes and whatever V8 puts off. */
const REST_MS = 4_000;
/** Of each configuration file in the largest commit. */
const FILE_BYTES = 12_000;
const MOST_MIB = 130;
/** Of the Deployment's limit: the picture of the fleet needs the rest. */
const LARGEST_SHARE = 0.45;

/** What a commit costs at its worst moment: the shipped bundle with the shipped flags, in a container's worth of memory. */
export function measure(_options: BenchOptions): Promise<readonly Measurement[]> {
  return withReconcilerBundle(async (directory) => {
    const small: number[] = [];
    const thousand: number[] = [];
    const most: number[] = [];
    const packed: number[] = [];
    for (let run = 0; run < RUNS; run += 1) {
      small.push(await peakOf(directory, await manyPools(1)));
      thousand.push(await peakOf(directory, await manyPools(POOLS)));
      most.push(await peakOf(directory, { ...(await manyPools(1)), ...largest() }));
      packed.push(await peakOf(directory, { ...(await manyPools(1)), ...incompressible() }));
    }
    const limit = Math.floor(LARGEST_SHARE * memoryLimitMiB('reconciler'));
    const ofLimit = `at most ${limit} MiB, ${100 * LARGEST_SHARE} % of the Deployment's`;
    const row = (what: string, subject: readonly number[], text: string, atMost: number): Measurement => ({
      what,
      unit: 'MiB',
      subject,
      baseline: { what: 'two files', values: small },
      promise: { text, kept: Math.max(...subject) <= atMost },
    });
    return [
      row(`taking up ${POOLS * 2} files: peak RSS`, thousand, `at most ${MOST_MIB} MiB`, MOST_MIB),
      row('taking up the most that limits accept: peak RSS', most, ofLimit, limit),
      row('the most of what cannot be packed any further: peak RSS', packed, ofLimit, limit),
    ];
  });
}

/** Of one reconciler, once it took the files up. */
async function peakOf(directory: string, files: FileTree): Promise<number> {
  const ends: (() => unknown)[] = [];
  const git: GitHttpBackend = await startGitHttpBackend({ after: (end) => void ends.push(end as () => unknown) });
  const api = await startApiServer({ tokens: ['t'], anonymous: { user: 'bench' } });
  const oid = await rawRepository(git.git.directory).commitFiles(files);
  // Without deltas, which take minutes to look for among random bytes.
  await git.git('repack', '-adq', '--window=0');
  const reconciler = await watchReconciler(directory, api.url, git.url);
  try {
    await reconciler.hasRead(oid, REST_MS);
    return await reconciler.peakMiB();
  } finally {
    await reconciler.stop();
    await api.stop();
    for (const end of ends) await end();
  }
}

/** Files of noise, nearly as many bytes as are downloaded: the pack is as large as what it holds. */
function incompressible(): FileTree {
  const files: Record<string, Uint8Array> = {};
  const bytes = Math.floor(0.8 * DEFAULT_GIT_LIMITS.fileBytes);
  const count = Math.floor((0.98 * DEFAULT_GIT_LIMITS.packBytes) / bytes);
  for (let index = 0; index < count; index += 1) files[`base/noise/f${index}.yaml`] = randomBytes(bytes);
  return files;
}

/** Just below the limits: nearly as many bytes, configuration files and names as are read. */
function largest(): FileTree {
  const files: Record<string, string> = {};
  const { inflatedBytes, treeEntries, files: mostFiles } = DEFAULT_GIT_LIMITS;
  // Names of files and of their directories' trees take their part of the bytes: some 45 each.
  const configs = Math.min(mostFiles - 100, Math.floor((inflatedBytes - 60 * treeEntries) / FILE_BYTES));
  for (let index = 0; index < configs; index += 1) {
    files[`base/d${index % 50}/f${index}.yaml`] = `a: ${randomBytes(FILE_BYTES / 2).toString('hex')}\n`;
  }
  for (let index = configs; index < treeEntries - 200; index += 1)
    files[`docs/d${index % 50}/f${index}.txt`] = `${index}\n`;
  return files;
}
