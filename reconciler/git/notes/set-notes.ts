import type { GitError } from '../errors.ts';
import type { ObjectStore } from '../objects/git-object-store.ts';
import { formatTree, isDirectory, parseTree, type TreeEntry } from '../objects/tree.ts';
import type { CommitOid } from '../../policy/commit-snapshot.ts';
import { unreadableNoteError, isUnreadableNote } from './unreadable-note.ts';

const FILE = '100644';
const DIRECTORY = '40000';

/** A note as it is stored, and what stands beside it for programs; null for nothing. */
export interface NoteFiles {
  readonly text: Buffer;
  readonly data: Buffer | null;
  /** A note that stands on the commit already is left as it is. */
  readonly onlyFirst?: boolean;
}

/** Names that are not those of objects are no notes to git: it keeps such files, and does not show them. */
const DATA = '.json';

/**
 * Sets notes in a notes tree and leaves everything else in it alone.
 *
 * Each note goes to `ab/cdef…`: flat trees make every note cost a listing of them all. Git itself spreads notes over
 * none to many levels and moves them as their number grows, so the same note may lie in another place; it is removed
 * there, because git shows both, glued together. What is for programs lies beside it, in `ab/cdef….json`: the same folder
 * is fetched and written for both, and one push brings both or none.
 *
 * @param root tree to start from, null for none
 * @returns the new tree, the same name where every note stood there already; and the commits whose note was not set
 *   because its place cannot be read, with the reason
 */
export async function setNotes(
  store: ObjectStore,
  root: string | null,
  notes: ReadonlyMap<CommitOid, NoteFiles>,
): Promise<{ readonly tree: string; readonly unreadable: ReadonlyMap<CommitOid, GitError> }> {
  const unreadable = new Map<CommitOid, GitError>();
  let entries = root === null ? [] : parseTree(root, await store.read(root, 'tree'));
  for (const [commit, files] of notes) {
    try {
      entries = await withNote(store, entries, commit, files);
    } catch (error) {
      if (!isUnreadableNote(error)) throw error;
      unreadable.set(commit, unreadableNoteError(error, commit));
    }
  }
  return { tree: await store.write('tree', formatTree(entries)), unreadable };
}

async function withNote(
  store: ObjectStore,
  present: readonly TreeEntry[],
  commit: CommitOid,
  { text, data, onlyFirst = false }: NoteFiles,
): Promise<readonly TreeEntry[]> {
  const entries = await without(store, present, commit);
  if (onlyFirst && !isSame(entries, present)) return present;
  const folder = commit.slice(0, 2);
  const inside = (await open(store, entries, folder)) ?? [];
  const name = commit.slice(2);
  const written = [entryOf(FILE, name, await store.write('blob', text))];
  if (data !== null) written.push(entryOf(FILE, `${name}${DATA}`, await store.write('blob', data)));
  const filled = [...inside.filter((entry) => nameOf(entry) !== `${name}${DATA}`), ...written];
  return put(entries, entryOf(DIRECTORY, folder, await store.write('tree', formatTree(filled))));
}

/** The entries without the note, at whatever depth it lies. Directories that this empties are gone. */
async function without(store: ObjectStore, entries: readonly TreeEntry[], rest: string): Promise<readonly TreeEntry[]> {
  const left = entries.filter((entry) => isDirectory(entry) || nameOf(entry) !== rest);
  const folder = rest.slice(0, 2);
  const inside = rest.length > 2 ? await open(store, left, folder) : null;
  if (inside === null) return left;
  const kept = await without(store, inside, rest.slice(2));
  if (isSame(kept, inside)) return left;
  if (kept.length === 0) return left.filter((entry) => nameOf(entry) !== folder);
  return put(left, entryOf(DIRECTORY, folder, await store.write('tree', formatTree(kept))));
}

const isSame = (some: readonly TreeEntry[], others: readonly TreeEntry[]): boolean =>
  some.length === others.length && some.every((entry, index) => entry === others[index]);

/** The entries of a directory; null where there is none of that name. */
async function open(
  store: ObjectStore,
  entries: readonly TreeEntry[],
  name: string,
): Promise<readonly TreeEntry[] | null> {
  const found = entries.find((entry) => isDirectory(entry) && nameOf(entry) === name);
  return found === undefined ? null : parseTree(found.oid, await store.read(found.oid, 'tree'));
}

const put = (entries: readonly TreeEntry[], entry: TreeEntry): readonly TreeEntry[] => [
  ...entries.filter((present) => nameOf(present) !== nameOf(entry)),
  entry,
];

const nameOf = (entry: TreeEntry): string => entry.name.toString('latin1');

const entryOf = (mode: string, name: string, oid: string): TreeEntry => ({ mode, name: Buffer.from(name), oid });
