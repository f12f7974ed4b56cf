import type { Content, Entry, FrozenFiles, Inode, Names } from './journaled-files.ts';

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
    const names = namesAfter(frozen, arrived);
    for (const fate of isSynced(frozen, names) ? FATES.slice(0, 1) : FATES) {
      const outcome = settled(frozen, names, fate);
      const key = describeFiles(outcome);
      if (!outcomes.has(key)) outcomes.set(key, outcome);
    }
  }
  return [...outcomes.values()];
}

/** As it is when nothing arrived that was not synced. */
export const withoutUnsynced = (frozen: FrozenFiles): FrozenFiles =>
  settled(frozen, namesAfter(frozen, new Set()), (_, synced) => synced);

/** Two file systems with one description are the same to whoever starts on them. Names made by chance are left out. */
export function describeFiles({ names, contents }: FrozenFiles): string {
  const lines = [...names].map(
    ([path, inode]) =>
      `${withoutChance(path)} ${inode.kind === 'directory' ? inode.mode : describe(contents.get(inode.id) ?? LOST)}`,
  );
  return lines.toSorted((one, other) => (one < other ? -1 : 1)).join('\n');
}

const withoutChance = (text: string): string =>
  text.includes('-tmp-') ? text.replaceAll(/(-tmp-)[0-9a-f]{8}/g, '$1') : text;

/** Most outcomes hold most contents of the others: each is read once, and each text has a number in its place. */
const described = new WeakMap<Content, string>();
const numbers = new Map<string, number>();

function describe(content: Content): string {
  const known = described.get(content);
  if (known !== undefined) return known;
  const { bytes, mode, uid, gid } = content;
  const text = withoutChance(bytes.toString());
  const number = numbers.get(text) ?? numbers.size;
  numbers.set(text, number);
  const description = `${mode} ${uid} ${gid} ${number}`;
  described.set(content, description);
  return description;
}

/** All combinations of how many of each directory's changes arrived. */
function arrivals(journal: readonly Entry[]): readonly ReadonlySet<Entry>[] {
  const directories = [...new Set(journal.map(({ directory }) => directory))];
  const combinations = directories.reduce<readonly (readonly Entry[])[]>(
    (combinations, directory) => {
      const own = journal.filter((entry) => entry.directory === directory);
      return combinations.flatMap((others) =>
        Array.from({ length: own.length + 1 }, (_, count) => [...others, ...own.slice(0, count)]),
      );
    },
    [[]],
  );
  return combinations.map((entries) => new Set(entries));
}

function namesAfter({ durable, journal }: FrozenFiles, arrived: ReadonlySet<Entry>): Names {
  const names = new Map<string, Inode>(durable);
  for (const entry of journal) if (arrived.has(entry)) entry.apply(names);
  // What is in a directory that did not arrive is nowhere.
  for (const path of names.keys()) if (path !== '/' && !names.has(parentOf(path))) names.delete(path);
  return names;
}

function settled(frozen: FrozenFiles, names: Names, fate: (typeof FATES)[number]): FrozenFiles {
  const ids = [...names.values()].flatMap((inode) => (inode.kind === 'file' ? [inode.id] : []));
  const contents = new Map(ids.map((id) => [id, contentAfter(frozen, id, fate)]));
  return { names, contents, durable: names, journal: [], synced: contents };
}

/** Whether every content of these names is on the disk as it was written. */
const isSynced = ({ contents, synced }: FrozenFiles, names: Names): boolean =>
  [...names.values()].every((inode) => inode.kind === 'directory' || contents.get(inode.id) === synced.get(inode.id));

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

/** Of the same few paths, millions of times. */
const parents = new Map<string, string>();

function parentOf(path: string): string {
  const known = parents.get(path);
  if (known !== undefined) return known;
  const parent = path.slice(0, path.lastIndexOf('/')) || '/';
  parents.set(path, parent);
  return parent;
}
