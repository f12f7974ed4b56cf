import { readFile } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { DEFAULT_GIT_LIMITS } from '#reconciler/git/git-limits.ts';
import { createObjectStore, type ObjectType } from '#reconciler/git/objects/git-object-store.ts';
import { formatTree } from '#reconciler/git/objects/tree.ts';
import { readTree } from '#reconciler/git/snapshot/read-tree.ts';
import { scanPack } from '#reconciler/git/wire/pack-scan.ts';
import { isGitError } from '#reconciler/git/errors.ts';
import { reasonOf } from '#shared/runtime/errors.ts';

/** What reading one pack came to. Times are of the thread's own work, in milliseconds: others on the machine do not count. */
export interface PackReading {
  readonly file: string;
  /** `read`, or an error's code or sentence. */
  readonly outcome: string;
  readonly totalMs: number;
  /** The longest that nothing else had a turn. */
  readonly longestMs: number;
  /** Most memory over what the process had before the first one, in MiB. */
  readonly moreMiB: number;
}

const workedMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};

async function readPack(bytes: Buffer, tree: string | undefined): Promise<void> {
  await scanPack(bytes, DEFAULT_GIT_LIMITS);
  const store = createObjectStore();
  const oids = await store.addPack(bytes);
  for (const oid of oids) await readAny(oid);
  if (tree === undefined) return;
  const pools = { mode: '40000', name: Buffer.from('pools'), oid: tree };
  const root = await store.write('tree', formatTree([pools]));
  await readTree(root, { store, limits: DEFAULT_GIT_LIMITS, known: new Map() });

  /** Its type is not known. */
  async function readAny(oid: string): Promise<void> {
    for (const type of ['blob', 'tree', 'commit'] satisfies readonly ObjectType[]) {
      const done = await store.read(oid, type).then(
        () => true,
        (error: unknown) => !isGitError(error, 'GIT_DAMAGED') || !/is no (?:blob|tree)/.test(error.message),
      );
      if (done) return;
    }
  }
}

async function measured(file: string, tree: string | undefined): Promise<PackReading> {
  const bytes = await readFile(file);
  const begun = workedMs();
  let most = 0;
  let longestMs = 0;
  const state = { outcome: '' };
  void readPack(bytes, tree).then(
    () => (state.outcome = 'read'),
    (error: unknown) => (state.outcome = isGitError(error) ? error.code : reasonOf(error)),
  );
  for (let before = workedMs(); state.outcome === '';) {
    await nextTurn();
    const now = workedMs();
    longestMs = Math.max(longestMs, now - before);
    before = now;
    most = Math.max(most, process.memoryUsage.rss());
  }
  const totalMs = Math.round(workedMs() - begun);
  const moreMiB = Math.round((most - idle) / 1024 / 1024);
  return { file, outcome: state.outcome, totalMs, longestMs: Math.round(longestMs), moreMiB };
}

const idle = process.memoryUsage.rss();
for (const argument of process.argv.slice(2)) {
  const [file = '', tree] = argument.split(':');
  process.stdout.write(`${JSON.stringify(await measured(file, tree))}\n`);
}
