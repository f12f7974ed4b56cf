import { parseCommit } from '#reconciler/git/objects/parse-commit.ts';
import { isDirectory, parseTree } from '#reconciler/git/objects/tree.ts';
import type { LocalRepository } from '../revision/local-repository.ts';

/** Pushes of notes that are looked at: what is older has stood for long. */
const MOST_PUSHES = 1_000;

/**
 * Since when a cluster's notes of these commits say what they say, by the dates of its pushes (RFC 3339). None for what is older than is
 * looked at, or than the clone.
 */
export async function notesSince(
  repository: LocalRepository,
  tip: string,
  commits: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const since = new Map<string, string>();
  const open = new Map<string, string>();
  let newer = '';
  let foldersBefore: ReadonlyMap<string, string> = new Map();
  let next: string | undefined = tip;
  for (let pushes = 0; next !== undefined && pushes < MOST_PUSHES; pushes += 1) {
    const push = await present(repository, next);
    if (push === undefined) return since;
    const folders = await foldersOf(repository, push.tree);
    // A push changes one note or a few: what is in the other folders stays as it was.
    const asked = (pushes === 0 ? commits : [...open.keys()]).filter((commit) => {
      const folder = folderOf(commit);
      return folders.get(folder) !== foldersBefore.get(folder);
    });
    const files = await filesOf(repository, folders, asked);
    if (pushes === 0) for (const [commit, file] of files) open.set(commit, file);
    for (const commit of asked) {
      if (files.get(commit) === open.get(commit)) continue;
      since.set(commit, newer);
      open.delete(commit);
    }
    foldersBefore = folders;
    if (open.size === 0) return since;
    newer = push.author.at;
    [next] = push.parents;
  }
  if (next === undefined) for (const commit of open.keys()) since.set(commit, newer);
  return since;
}

/** A shallow clone ends somewhere. */
const present = (repository: LocalRepository, oid: string): Promise<ReturnType<typeof parseCommit> | undefined> =>
  repository.read(oid, 'commit').then(
    (raw) => parseCommit(oid, raw),
    () => undefined,
  );

const folderOf = (commit: string): string => commit.slice(0, 2);

/** By name. */
async function foldersOf(repository: LocalRepository, tree: string): Promise<ReadonlyMap<string, string>> {
  const entries = parseTree(tree, await repository.read(tree, 'tree'));
  return new Map(entries.filter(isDirectory).map(({ name, oid }) => [name.toString('latin1'), oid]));
}

/** The names of the notes' files for programs. */
async function filesOf(
  repository: LocalRepository,
  folders: ReadonlyMap<string, string>,
  commits: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  for (const [folder, inside] of Map.groupBy(commits, folderOf)) {
    const oid = folders.get(folder);
    if (oid === undefined) continue;
    const entries = parseTree(oid, await repository.read(oid, 'tree'));
    for (const commit of inside) {
      const file = entries.find(({ name }) => name.toString('latin1') === `${commit.slice(2)}.json`);
      if (file !== undefined) files.set(commit, file.oid);
    }
  }
  return files;
}
