import type { Author } from '#sandbox/git-server/objects/commit-object.ts';
import { readCommit } from '#sandbox/git-server/objects/commit-object.ts';
import { commitsOf, newestFirst } from '#sandbox/git-server/objects/commit-walk.ts';
import type { ObjectLookup, Oid } from '#sandbox/git-server/objects/oid.ts';
import { isOid } from '#sandbox/git-server/objects/oid.ts';
import type { Repository } from './repository.ts';
import { readTree } from '#sandbox/git-server/objects/tree-object.ts';
import type { Millis } from '#shared/runtime/clock.ts';

export interface LogEntry {
  readonly oid: Oid;
  readonly parents: readonly Oid[];
  readonly author: Author;
  readonly at: Millis;
  readonly message: string;
}

/** The newest commits of a ref, at most `count`; none where the ref is not there. */
export function logOf(repository: Repository, ref: string, count: number): readonly LogEntry[] {
  const [tip] = tipOf(repository, ref);
  if (tip === undefined) return [];
  return newestFirst(repository.lookup, tip, count).flatMap((oid) => {
    const object = repository.lookup(oid);
    if (object === undefined) return [];
    const { parents, author, at, message } = readCommit(object.body);
    return [{ oid, parents, author, at, message }];
  });
}

/** Path → content of all files of a ref, as UTF-8; empty where the ref is not there. */
export function filesOf(repository: Repository, ref: string): ReadonlyMap<string, string> {
  const object = repository.lookup(tipOf(repository, ref)[0] ?? '');
  return object === undefined ? new Map() : new Map(filesIn(repository.lookup, readCommit(object.body).tree, ''));
}

/**
 * Annotated object → note. However many folders git spread the notes over (`ab/cd…`), a note's path without its
 * slashes is the object's name; what is named otherwise is no note.
 */
export function notesOf(repository: Repository, ref: string): ReadonlyMap<Oid, string> {
  const named = [...filesOf(repository, ref)].map(([path, text]) => [path.replaceAll('/', ''), text] as const);
  return new Map(named.filter(([oid]) => isOid(oid)));
}

/** Annotated object → what lies beside its note for programs, in `ab/cdef….json`. */
export function noteDataOf(repository: Repository, ref: string): ReadonlyMap<Oid, string> {
  const named = [...filesOf(repository, ref)].map(([path, text]) => [/^(..)\/(.*)\.json$/.exec(path), text] as const);
  return new Map(named.flatMap(([found, text]) => (found === null ? [] : [[`${found[1]}${found[2]}`, text] as const])));
}

function tipOf(repository: Repository, ref: string): readonly Oid[] {
  const oid = repository.refs.get(ref);
  return oid === undefined ? [] : commitsOf(repository.lookup, [oid]);
}

function* filesIn(lookup: ObjectLookup, tree: Oid, folder: string): Generator<readonly [string, string]> {
  const object = lookup(tree);
  if (object === undefined) return;
  for (const entry of readTree(object.body)) {
    const path = `${folder}${entry.name}`;
    if (entry.kind === 'folder') yield* filesIn(lookup, entry.oid, `${path}/`);
    else if (entry.kind === 'file') yield [path, lookup(entry.oid)?.body.toString('utf8') ?? ''];
  }
}
