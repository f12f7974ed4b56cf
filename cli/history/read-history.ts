import { isDirectory, parseTree } from '#reconciler/git/objects/tree.ts';
import { parseCommit } from '#reconciler/git/objects/parse-commit.ts';
import type { LocalRepository } from '../revision/local-repository.ts';
import { type ReadNote, readNote } from './read-note.ts';

/** One commit and what became of it in one cluster. */
export interface HistoryEntry {
  readonly commit: string;
  readonly at: string;
  readonly author: string;
  readonly subject: string;
  readonly cluster: string;
  readonly note: ReadNote;
}

/** Where the reconcilers write; `NOTES_REF` may say otherwise. */
export const NOTES_PREFIX = 'refs/notes/kubelet-gitops';

/** How many commits are looked at for those that have notes. */
const MOST_LOOKED_AT = 2_000;

/**
 * The commits from a revision on that have a note, newest first along the first parents, for each cluster.
 *
 * @param notes commits of the notes refs, by cluster
 * @param most  how many commits with notes are wanted
 */
export async function readCommitHistory(
  repository: LocalRepository,
  revision: string,
  notes: ReadonlyMap<string, string>,
  most: number,
): Promise<readonly HistoryEntry[]> {
  const trees = new Map<string, string>();
  for (const [cluster, tip] of notes) trees.set(cluster, parseCommit(tip, await repository.read(tip, 'commit')).tree);
  const entries: HistoryEntry[] = [];
  let commits = 0;
  let next: string | undefined = (await repository.commit(revision)).oid;
  for (let looked = 0; next !== undefined && commits < most && looked < MOST_LOOKED_AT; looked += 1) {
    const { oid, author, subject, parents } = await repository.commit(next);
    const found: HistoryEntry[] = [];
    for (const [cluster, tree] of trees) {
      const note = await noteOn(repository, tree, oid);
      if (note !== undefined) {
        found.push({ commit: oid, at: author.at, author: author.name, subject, cluster, note });
      }
    }
    entries.push(...found);
    if (found.length > 0) commits += 1;
    const [parent] = parents;
    next = parent === undefined ? undefined : await presentOrUndefined(repository, parent);
  }
  return entries;
}

/** A shallow clone ends somewhere, which is no error here. */
async function presentOrUndefined(repository: LocalRepository, oid: string): Promise<string | undefined> {
  return repository.commit(oid).then(
    () => oid,
    () => undefined,
  );
}

async function noteOn(repository: LocalRepository, tree: string, commit: string): Promise<ReadNote | undefined> {
  const text = await fileAt(repository, tree, commit);
  return text === undefined ? undefined : readNote(text, await fileAt(repository, tree, `${commit}.json`));
}

/** Notes lie flat or, where there are many, in folders of two digits: `5d/1c1f0a…`. */
async function fileAt(repository: LocalRepository, tree: string, rest: string): Promise<string | undefined> {
  for (const entry of parseTree(tree, await repository.read(tree, 'tree'))) {
    const name = entry.name.toString('latin1');
    if (!isDirectory(entry) && name === rest) return (await repository.read(entry.oid, 'blob')).toString('utf8');
    if (isDirectory(entry) && name.length === 2 && rest.startsWith(name)) {
      const found = await fileAt(repository, entry.oid, rest.slice(2));
      if (found !== undefined) return found;
    }
  }
  return undefined;
}
