import git from 'isomorphic-git';
import { GitError, UNTIL_OPERATOR } from '../errors.ts';
import type { GitSession } from '../http/session.ts';
import { parseCommit } from '../objects/commit.ts';
import { createObjectStore, type ObjectStore } from '../objects/store.ts';
import type { CommitOid } from '../source.ts';
import { findTip } from '../wire/find-tip.ts';
import { requestPack } from '../wire/request-pack.ts';

/** A notes ref as the server had it, in memory. */
export interface NotesStore {
  readonly objects: ObjectStore;
  /** null where the ref is not there yet. */
  readonly tip: CommitOid | null;
  /** Tree of the tip. */
  readonly tree: string | null;
}

export async function loadNotes(session: GitSession, ref: string): Promise<NotesStore> {
  const objects = createObjectStore();
  await configure(objects);
  const tip = await findTip(session, ref);
  if (tip === null) return { objects, tip, tree: null };
  // Many small notes: their number is what is limited for a config repository, and means nothing here.
  const limits = { ...session.limits, objects: 10 * session.limits.objects };
  const answer = await requestPack(session, { want: tip, depth: 1 }, limits);
  if (answer.pack !== null) await objects.addPack(answer.pack);
  await markShallow(objects, tip);
  const { tree } = parseCommit(tip, await objects.read(tip, 'commit'));
  return { objects, tip, tree };
}

/** `push` reads these two files before it does anything. */
async function configure({ repo }: ObjectStore): Promise<void> {
  await repo.fs.promises.writeFile(`${repo.gitdir}/config`, '[core]\n\tbare = true\n');
  await repo.fs.promises.writeFile(`${repo.gitdir}/HEAD`, 'ref: refs/heads/none\n');
}

/** Says that the tip's parents are missing on purpose. */
async function markShallow({ repo }: ObjectStore, tip: CommitOid): Promise<void> {
  await repo.fs.promises.writeFile(`${repo.gitdir}/shallow`, `${tip}\n`);
}

export interface NotesAuthor {
  readonly name: string;
  readonly email: string;
}

/** Makes the commit that has this tree and follows the store's tip, and points the ref at it, in memory only. */
export async function commitNotes(
  store: NotesStore,
  ref: string,
  tree: string,
  by: { readonly author: NotesAuthor; readonly seconds: number; readonly message: string },
): Promise<CommitOid> {
  const signed = { ...by.author, timestamp: by.seconds, timezoneOffset: 0 };
  const parent = store.tip === null ? [] : [store.tip];
  const { repo } = store.objects;
  const commit = { message: by.message, tree, parent, author: signed, committer: signed };
  const oid = await git.writeCommit({ ...repo, commit });
  await git.writeRef({ ...repo, ref, value: oid, force: true });
  return oid;
}

/** The error for a commit name that could end up as a path. */
export function assertCommitOid(oid: string): void {
  if (/^[0-9a-f]{40}$/.test(oid)) return;
  throw new GitError('GIT_NOTE_INVALID', 'a note was to be written on something that is no full name of a commit', {
    disposition: UNTIL_OPERATOR,
  });
}
