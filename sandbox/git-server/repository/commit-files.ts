import type { Millis } from '#shared/runtime/clock.ts';
import type { Author } from '#sandbox/git-server/objects/commit-object.ts';
import { readCommit, writeCommit } from '#sandbox/git-server/objects/commit-object.ts';
import { editTree } from '#sandbox/git-server/objects/edit-tree.ts';
import { GitServerError } from '#sandbox/git-server/errors.ts';
import type { GitObject, Oid } from '#sandbox/git-server/objects/oid.ts';
import { NO_OID } from '#sandbox/git-server/objects/oid.ts';
import { oidOf } from '#sandbox/git-server/objects/git-object.ts';
import type { Repository } from './repository.ts';

/** A commit as a person would make it on a branch. */
export interface FileChange {
  /** Path from the root → content, or null to delete the file or folder. */
  readonly files: Readonly<Record<string, string | null>>;
  readonly message: string;
  readonly author?: Author;
}

const SOMEBODY: Author = { name: 'Sandbox', email: 'sandbox@example.invalid' };

/**
 * Commits on the tip of a branch, which is created if missing.
 *
 * @throws GitServerError `GIT_CHANGE_INVALID`, also if another commit reached the branch at the same moment
 */
export async function commitFiles(
  repository: Repository,
  branch: string,
  change: FileChange,
  at: Millis,
): Promise<Oid> {
  const ref = `refs/heads/${branch}`;
  const tip = repository.refs.get(ref);
  const parent = tip === undefined ? undefined : repository.lookup(tip);
  const before = parent === undefined ? undefined : readCommit(parent.body).tree;
  const { root, objects } = editTree(repository.lookup, before, change.files);
  const commit: GitObject = {
    type: 'commit',
    body: writeCommit({
      tree: root,
      parents: tip === undefined ? [] : [tip],
      author: change.author ?? SOMEBODY,
      at,
      message: change.message,
    }),
  };
  const oid = oidOf(commit);
  await moveRef(repository, ref, { from: tip ?? NO_OID, to: oid }, new Map([...objects, [oid, commit]]));
  return oid;
}

/**
 * Points a ref elsewhere, whatever it named before: a rewritten history. `NO_OID` deletes it.
 *
 * @throws GitServerError `GIT_CHANGE_INVALID` for a name or an object that cannot be
 */
export async function moveRef(
  repository: Repository,
  ref: string,
  move: { readonly from: Oid; readonly to: Oid },
  objects: ReadonlyMap<Oid, GitObject> = new Map(),
): Promise<void> {
  const policy = { allowRewrite: true, allowDelete: true };
  const [verdict] = await repository.change(objects, [{ ref, ...move }], policy);
  if (verdict?.refusal === undefined) return;
  throw new GitServerError(
    'GIT_CHANGE_INVALID',
    `cannot change ${ref} of the sandbox's repository: ${verdict.refusal}`,
  );
}
