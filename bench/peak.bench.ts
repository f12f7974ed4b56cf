import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { templateFiles, withFields } from '#sandbox/demo/template-repository.ts';
import { startApiServer } from '#sandbox/api-server/server.ts';
import { DEFAULT_GIT_LIMITS } from '#reconciler/git/git-limits.ts';
import { bundle } from '../scripts/build.ts';
import { type GitHttpBackend, startGitHttpBackend } from '../test/support/git-http-backend.ts';
import { type FileTree, type RawRepository, rawRepository } from '../test/reconciler/git/support/repository.ts';
import { memoryLimitMiB } from '../test/support/manifest-flags.ts';
import type { BenchOptions } from './bench-options.ts';
import type { Measurement } from './render-measurements.ts';
import { watchReconciler } from './support/watched-reconciler.ts';

const RUNS = 3;
const POOLS = 500;
const COMMITS = 200;
/** Each commit writes to each pool, and the writes of five hundred would be all that is waited for. */
const FEW_POOLS = 20;
/** Pass, writes and whatever V8 puts off. */
const REST_MS = 4_000;
/** Of each configuration file in the largest commit. */
const FILE_BYTES = 12_000;
const MOST_MIB = 130;
/** Of the Deployment's limit: the picture of the fleet needs the rest. */
const LARGEST_SHARE = 0.6;

/** What a commit costs at its worst moment: the shipped bundle with the shipped flags, in a container's worth of memory. */
export async function measure(_options: BenchOptions): Promise<readonly Measurement[]> {
  const directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-bench-'));
  try {
    await writeFile(join(directory, 'package.json'), '{"type":"module"}');
    await bundle('reconciler', directory);
    const peaks = { small: [] as number[], thousand: [] as number[], largest: [] as number[], packed: [] as number[] };
    for (let run = 0; run < RUNS; run += 1) {
      peaks.small.push(...(await peaksOf(directory, await pools(1), 0)));
      peaks.thousand.push(...(await peaksOf(directory, await pools(POOLS), 0)));
      peaks.largest.push(...(await peaksOf(directory, { ...(await pools(1)), ...largest() }, 0)));
      peaks.packed.push(...(await peaksOf(directory, { ...(await pools(1)), ...incompressible() }, 0)));
    }
    const [first = 0, last = 0] = await peaksOf(directory, await inFewPools(), COMMITS);
    const limit = Math.floor(LARGEST_SHARE * memoryLimitMiB('reconciler'));
    const ofLimit = `at most ${limit} MiB, ${100 * LARGEST_SHARE} % of the Deployment's`;
    const row = (what: string, subject: readonly number[], text: string, atMost: number): Measurement => ({
      what,
      unit: 'MiB',
      subject,
      baseline: { what: 'two files', values: peaks.small },
      promise: { text, kept: Math.max(...subject) <= atMost },
    });
    return [
      row(`taking up ${POOLS * 2} files: peak RSS`, peaks.thousand, `at most ${MOST_MIB} MiB`, MOST_MIB),
      {
        ...row(
          `${POOLS * 2} files in ${FEW_POOLS} pools, ${COMMITS} commits: peak RSS`,
          [last],
          `at most ${MOST_MIB} MiB`,
          MOST_MIB,
        ),
        baseline: { what: 'its first commit', values: [first] },
      },
      row('taking up the most that limits accept: peak RSS', peaks.largest, ofLimit, limit),
      row('the most of what cannot be packed any further: peak RSS', peaks.packed, ofLimit, limit),
    ];
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Peaks of one reconciler: once it took the files up, and, where more commits follow, after the last of them. */
async function peaksOf(directory: string, files: FileTree, more: number): Promise<readonly number[]> {
  const ends: (() => unknown)[] = [];
  const git: GitHttpBackend = await startGitHttpBackend({ after: (end) => void ends.push(end as () => unknown) });
  const api = await startApiServer({ tokens: ['t'], anonymous: { user: 'bench' } });
  const repository: RawRepository = rawRepository(git.git.directory);
  const oid = await repository.commitFiles(files);
  // Without deltas, which take minutes to look for among random bytes.
  await git.git('repack', '-adq', '--window=0');
  const reconciler = await watchReconciler(directory, api.url, git.url);
  try {
    await reconciler.hasRead(oid, REST_MS);
    const peaks = [await reconciler.peakMiB()];
    if (more === 0) return peaks;
    for (let number = 1; number <= more; number += 1) {
      const [path, text] = changing(files, number);
      await reconciler.hasRead(await repository.commitFiles({ ...files, [path]: text }), 0);
    }
    return [...peaks, await reconciler.peakMiB()];
  } finally {
    await reconciler.stop();
    await api.stop();
    for (const end of ends) await end();
  }
}

const changing = (files: FileTree, number: number): readonly [string, string] => [
  'pools/p0/kubelet.yaml',
  withFields(String(files['pools/p0/kubelet.yaml']), { maxPods: 1_000 + number }),
];

async function inFewPools(): Promise<FileTree> {
  const files: Record<string, string | Uint8Array> = { ...(await pools(FEW_POOLS)) };
  const layer = String(files['pools/p0/kubelet.yaml']);
  for (let index = FEW_POOLS; index < POOLS; index += 1) {
    for (const side of ['a', 'b']) files[`base/${side}${index}.yaml`] = withFields(layer, { maxPods: index });
  }
  return files;
}

async function pools(count: number): Promise<FileTree> {
  const template = await templateFiles();
  const [pool = '', layer = ''] = [template['pools/general/pool.yaml'], template['pools/general/kubelet.yaml']];
  const files: Record<string, string> = { 'base/common.yaml': template['base/common.yaml'] ?? '' };
  for (let index = 0; index < count; index += 1) {
    files[`pools/p${index}/pool.yaml`] = pool;
    files[`pools/p${index}/kubelet.yaml`] = withFields(layer, { maxPods: 100 + index });
  }
  return files;
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
