import type { ObjectStore } from '../objects/git-object-store.ts';
import { parseTree, type TreeEntry } from '../objects/tree.ts';
import { plainLine } from '../plain-text.ts';

/** The same place in four trees. */
interface Place {
  readonly path: string;
  readonly merge: Entry;
  readonly base: Entry;
  readonly ours: Entry;
  readonly theirs: Entry;
}

/** undefined: there is nothing of that name. */
type Entry = Pick<TreeEntry, 'mode' | 'oid'> | undefined;

/** Names of trees; null where there is none. */
interface MergedTrees {
  readonly merge: string | null;
  readonly base: string | null;
  readonly ours: string | null;
  readonly theirs: string | null;
}

interface TreeReading {
  readonly store: ObjectStore;
  /** Brings trees into the store. */
  readonly fetchTrees: (oids: readonly string[]) => Promise<void>;
  /** Most entries of directories that are looked at. */
  readonly mostEntries: number;
}

/**
 * Whether a merge holds exactly what its two sides did to what they had in common: each file that one side changed, added or
 * removed is as that side has it, and all others are as they were. A file that both sides changed in different ways cannot be
 * merged so: a person made the result.
 *
 * @returns undefined, or what is otherwise, as the rest of a sentence about the merge
 * @throws GitError
 */
export async function verifyMergedTrees(trees: MergedTrees, reading: TreeReading): Promise<string | undefined> {
  const root = (oid: string | null): Entry => (oid === null ? undefined : { mode: '40000', oid });
  const { merge, base, ours, theirs } = trees;
  let level: readonly Place[] = [
    { path: '', merge: root(merge), base: root(base), ours: root(ours), theirs: root(theirs) },
  ];
  let entries = 0;
  while (level.length > 0) {
    const open = level.filter((place) => decided(place) === undefined);
    const wrong = level.find((place) => decided(place)?.right === false);
    if (wrong !== undefined) return `has ${say(wrong.path)} otherwise than its parents do`;
    // A directory that is gone is an empty one. A file has no parts to compare.
    const clash = open.find((place) => entriesOf(place).some((entry) => entry !== undefined && !isTree(entry)));
    if (clash !== undefined) return `holds ${say(clash.path)}, which both of its sides changed`;
    const lists = await childrenOf(open, reading);
    if (lists === undefined) return 'has a directory with two entries of one name';
    entries += lists.length;
    if (entries > reading.mostEntries) return 'changes too many directories on both of its sides';
    level = lists;
  }
  return undefined;
}

/** undefined where both sides changed it in different ways: then it is to be looked into. */
function decided({ merge, base, ours, theirs }: Place): { readonly right: boolean } | undefined {
  if (isSame(ours, theirs) || isSame(base, theirs)) return { right: isSame(merge, ours) };
  if (isSame(base, ours)) return { right: isSame(merge, theirs) };
  return undefined;
}

const entriesOf = ({ merge, base, ours, theirs }: Place): readonly Entry[] => [merge, base, ours, theirs];

const isSame = (one: Entry, other: Entry): boolean => one?.mode === other?.mode && one?.oid === other?.oid;

const isTree = (entry: Entry): entry is NonNullable<Entry> => entry?.mode === '40000';

/** Names are kept as Latin-1, byte for byte. */
const say = (path: string): string =>
  path === '' ? 'its files' : `“${plainLine(Buffer.from(path, 'latin1').toString('utf8'), 200)}”`;

/** What is in directories, name by name; undefined where a name stands twice in one. */
async function childrenOf(places: readonly Place[], reading: TreeReading): Promise<readonly Place[] | undefined> {
  const trees = new Set(
    places
      .flatMap(entriesOf)
      .filter(isTree)
      .map(({ oid }) => oid),
  );
  const missing = [...trees].filter((oid) => !reading.store.has(oid));
  if (missing.length > 0) await reading.fetchTrees(missing);
  const children: Place[] = [];
  for (const place of places) {
    const [merge, base, ours, theirs] = await Promise.all(
      entriesOf(place).map((entry) => namesIn(entry, reading.store)),
    );
    if (merge === undefined || base === undefined || ours === undefined || theirs === undefined) return undefined;
    const names = new Set([...merge.keys(), ...base.keys(), ...ours.keys(), ...theirs.keys()]);
    for (const name of names) {
      const path = place.path === '' ? name : `${place.path}/${name}`;
      const of = { merge: merge.get(name), base: base.get(name), ours: ours.get(name), theirs: theirs.get(name) };
      children.push({ path, ...of });
    }
  }
  return children;
}

/** Entries by name; none of what is not a directory, undefined where a name stands twice. */
async function namesIn(entry: Entry, store: ObjectStore): Promise<ReadonlyMap<string, TreeEntry> | undefined> {
  if (!isTree(entry)) return new Map();
  const entries = parseTree(entry.oid, await store.read(entry.oid, 'tree'));
  const names = new Map(entries.map((each) => [each.name.toString('latin1'), each]));
  return names.size === entries.length ? names : undefined;
}
