import { GitServerError } from '#sandbox/git-server/errors.ts';
import type { GitObject, ObjectLookup, Oid } from './oid.ts';
import { oidOf } from './git-object.ts';
import type { TreeEntry } from './tree-object.ts';
import { FILE_MODE, FOLDER_MODE, readTree, writeTree } from './tree-object.ts';

export interface EditedTree {
  readonly root: Oid;
  /** The trees and blobs that the edits made. */
  readonly objects: ReadonlyMap<Oid, GitObject>;
}

/**
 * Writes and deletes files of a tree.
 *
 * @param root  the tree to start from, or undefined for an empty one
 * @param files path from the root → new content, or null to delete the file or folder
 * @throws GitServerError `GIT_CHANGE_INVALID` for an impossible path or a deletion of what is not there
 */
export function editTree(
  lookup: ObjectLookup,
  root: Oid | undefined,
  files: Readonly<Record<string, string | null>>,
): EditedTree {
  const objects = new Map<Oid, GitObject>();
  const keep = (object: GitObject): Oid => {
    const oid = oidOf(object);
    objects.set(oid, object);
    return oid;
  };
  const edits = Object.entries(files).map(([path, content]) => ({ path, parts: partsOf(path), content }));
  return { root: editFolder(lookup, root, edits, keep) ?? keep({ type: 'tree', body: writeTree([]) }), objects };
}

interface Edit {
  readonly path: string;
  /** What is left of the path below the folder in question. */
  readonly parts: readonly string[];
  readonly content: string | null;
}

/** Returns the folder's new tree, or undefined where nothing is left in it: git knows no empty folders. */
function editFolder(
  lookup: ObjectLookup,
  folder: Oid | undefined,
  edits: readonly Edit[],
  keep: (object: GitObject) => Oid,
): Oid | undefined {
  const tree = folder === undefined ? undefined : lookup(folder);
  const entries = new Map((tree === undefined ? [] : readTree(tree.body)).map((entry) => [entry.name, entry]));
  for (const [name, inside] of Map.groupBy(edits, (edit) => edit.parts[0] ?? '')) {
    const entry = editEntry(lookup, entries.get(name), name, inside, keep);
    if (entry === undefined) entries.delete(name);
    else entries.set(name, entry);
  }
  return entries.size === 0 ? undefined : keep({ type: 'tree', body: writeTree([...entries.values()]) });
}

function editEntry(
  lookup: ObjectLookup,
  before: TreeEntry | undefined,
  name: string,
  edits: readonly Edit[],
  keep: (object: GitObject) => Oid,
): TreeEntry | undefined {
  const here = edits.find((edit) => edit.parts.length === 1);
  if (here === undefined) {
    const deeper = edits.map((edit) => ({ ...edit, parts: edit.parts.slice(1) }));
    const oid = editFolder(lookup, before?.kind === 'folder' ? before.oid : undefined, deeper, keep);
    return oid === undefined ? undefined : { mode: FOLDER_MODE, name, oid, kind: 'folder' };
  }
  if (edits.length > 1) throw invalid(`"${here.path}" cannot be a file and a folder in one commit`);
  if (here.content !== null) {
    const mode = before?.kind === 'file' ? before.mode : FILE_MODE;
    return { mode, name, oid: keep({ type: 'blob', body: Buffer.from(here.content) }), kind: 'file' };
  }
  if (before === undefined) throw invalid(`"${here.path}" cannot be deleted: there is no such file`);
  return undefined;
}

function partsOf(path: string): readonly string[] {
  const parts = path.split('/');
  const bad = parts.some(
    (part) => ['', '.', '..'].includes(part) || part.toLowerCase() === '.git' || part.includes('\0'),
  );
  if (bad) throw invalid(`"${path}" is not the path of a file in a repository`);
  return parts;
}

const invalid = (message: string) => new GitServerError('GIT_CHANGE_INVALID', message);
