import { type Content, type Entry, type FrozenFiles, type Inode, treeOf } from './journaled-files.ts';

const LOST: Content = { bytes: Buffer.alloc(0), mode: 0o600, uid: 0, gid: 0 };

/** What becomes of contents that were never synced. */
const FATES: readonly ((written: Content, synced: Content) => Content)[] = [
  (_, synced) => synced,
  (written) => ({ ...written, bytes: written.bytes.subarray(0, Math.floor(written.bytes.length / 2)) }),
  (written) => written,
];

/**
 * Everything that a disk may hold when the power comes back: of the changes of names in each directory that nobody
 * synced, any number of the oldest; of contents that nobody synced, nothing, half or all. Each outcome once.
 */
export function afterPowerLoss(frozen: FrozenFiles): readonly FrozenFiles[] {
  const outcomes = new Map<string, FrozenFiles>();
  for (const arrived of arrivals(frozen.journal)) {
    for (const fate of FATES) {
      const outcome = settled(frozen, arrived, fate);
      const key = describeFiles(outcome);
      if (!outcomes.has(key)) outcomes.set(key, outcome);
    }
  }
  return [...outcomes.values()];
}

/** Two file systems with one description are the same to whoever starts on them. Names made by chance are left out. */
export function describeFiles(frozen: FrozenFiles): string {
  const tree = treeOf(frozen);
  const lines = [...frozen.names].map(([path, inode]) => {
    if (inode.kind === 'directory') return `${path} ${inode.mode}`;
    const { mode, uid, gid } = frozen.contents.get(inode.id) ?? LOST;
    return `${path} ${mode} ${uid} ${gid} ${tree[path]}`;
  });
  const inOrder = lines.toSorted((one, other) => (one < other ? -1 : 1));
  return inOrder.join('\n').replaceAll(/(-tmp-)[0-9a-f]{8}/g, '$1');
}

/** All combinations of how many of each directory's changes arrived. */
function arrivals(journal: readonly Entry[]): readonly (readonly Entry[])[] {
  const directories = [...new Set(journal.map(({ directory }) => directory))];
  return directories.reduce<readonly (readonly Entry[])[]>(
    (combinations, directory) => {
      const own = journal.filter((entry) => entry.directory === directory);
      return combinations.flatMap((others) =>
        Array.from({ length: own.length + 1 }, (_, count) => [...others, ...own.slice(0, count)]),
      );
    },
    [[]],
  );
}

function settled(frozen: FrozenFiles, arrived: readonly Entry[], fate: (typeof FATES)[number]): FrozenFiles {
  const names = new Map<string, Inode>(frozen.durable);
  for (const entry of frozen.journal) if (arrived.includes(entry)) entry.apply(names);
  const contents = new Map<number, Content>();
  for (const [path, inode] of names) {
    // What is in a directory that did not arrive is nowhere.
    if (path !== '/' && !names.has(parentOf(path))) names.delete(path);
    else if (inode.kind === 'file') contents.set(inode.id, contentAfter(frozen, inode.id, fate));
  }
  return { names, contents, durable: names, journal: [], synced: contents };
}

function contentAfter({ contents, synced }: FrozenFiles, id: number, fate: (typeof FATES)[number]): Content {
  const [written, safe] = [contents.get(id) ?? LOST, synced.get(id) ?? LOST];
  return written === safe ? safe : fate(written, safe);
}

/** As it is when only half of what was written last to this file has arrived; nothing at all of it may be synced. */
export function withTornFile(frozen: FrozenFiles, path: string): FrozenFiles {
  const inode = frozen.names.get(path);
  if (inode?.kind !== 'file') return frozen;
  const written = frozen.contents.get(inode.id) ?? LOST;
  const torn = { ...written, bytes: written.bytes.subarray(0, Math.floor(written.bytes.length / 2)) };
  return { ...frozen, contents: new Map([...frozen.contents, [inode.id, torn]]) };
}

const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('/')) || '/';
