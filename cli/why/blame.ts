import { parseCommit } from '#reconciler/git/objects/parse-commit.ts';
import type { Commit } from '#reconciler/policy/commit-snapshot.ts';
import { parseTree } from '#reconciler/git/objects/tree.ts';
import type { LocalRepository } from '../revision/local-repository.ts';

/** How far back is looked. */
const MOST_COMMITS = 2_000;

/**
 * The newest commit, along first parents, since which a file has the same answer to a question.
 *
 * @param bytes  of the file as it is looked at, in the commit or in the working copy
 * @param answer of the file's bytes; undefined where the file is not there
 * @returns null where no commit has that answer yet; undefined where that is further back than is looked, or than a shallow clone goes
 */
export async function introducingCommit(
  repository: LocalRepository,
  start: Commit & { readonly tree: string },
  path: string,
  bytes: Uint8Array | undefined,
  answer: (bytes: Uint8Array | undefined) => string | undefined,
): Promise<Commit | null | undefined> {
  let commit = start;
  let blob = await blobAt(repository, commit.tree, path);
  const wanted = answer(bytes);
  if (answer(blob === undefined ? undefined : await repository.read(blob, 'blob')) !== wanted) return null;
  for (let seen = 0; seen < MOST_COMMITS; seen += 1) {
    const [parent] = commit.parents;
    if (parent === undefined) return commit;
    const raw = await repository.read(parent, 'commit').catch(() => undefined);
    if (raw === undefined) return undefined;
    const before = parseCommit(parent, raw);
    const old = await blobAt(repository, before.tree, path);
    if (old !== blob && answer(old === undefined ? undefined : await repository.read(old, 'blob')) !== wanted)
      return commit;
    [commit, blob] = [before, old];
  }
  return undefined;
}

async function blobAt(repository: LocalRepository, tree: string, path: string): Promise<string | undefined> {
  let oid: string | undefined = tree;
  const parts = path.split('/');
  for (const [index, part] of parts.entries()) {
    if (oid === undefined) return undefined;
    const entries = parseTree(oid, await repository.read(oid, 'tree'));
    const entry = entries.find(({ name }) => name.toString('utf8') === part);
    if (index < parts.length - 1 && entry?.mode !== '40000' && entry?.mode !== '040000') return undefined;
    oid = entry?.oid;
  }
  return oid;
}
