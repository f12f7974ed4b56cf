import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { CommitOid } from '../../policy/commit-snapshot.ts';
import type { LineCommit } from '../../policy/following/choose-commit.ts';
import type { OwnReads } from '../../policy/following/own-reads.ts';
import { GitError, isGitError } from '../errors.ts';
import { createObjectStore, type ObjectStore } from '../objects/git-object-store.ts';
import { type ParsedCommit, parseCommit } from '../objects/parse-commit.ts';
import { isDirectory, parseTree, type TreeEntry } from '../objects/tree.ts';
import { isConfigPath } from '../snapshot/config-paths.ts';
import { firstParents } from '../snapshot/folder-last-change.ts';
import { folderTrees, treesFrom } from '../snapshot/folder-trees.ts';
import { commitsBetween } from '../snapshot/lineage.ts';
import type { GitSession } from '../wire/git-session.ts';
import { requestObjects, supportsSingleObjects } from '../wire/request-objects.ts';

/** The first parents of a branch, from the commit in force on. */
export interface BranchLine {
  readonly inForce: LineCommit;
  /** After the one in force up to the tip, the oldest first; with a folder to follow, those that changed it. */
  readonly commits: readonly LineCommit[];
  /** The tip does not come from the one in force; `commits` holds the tip alone. */
  readonly isRewritten: boolean;
}

/** Which folder is followed, and what of it this cluster reads. */
interface Place {
  readonly folder: string;
  readonly reads: OwnReads | undefined;
}

/** Names of objects in a request: some servers bound its length. */
const MOST_WANTS = 1_000;

/** Reads the line of a branch, and after that what came to it since. */
export function createLineReader(
  folder: string,
): (session: GitSession, inForce: CommitOid, tip: CommitOid, reads?: OwnReads) => Promise<BranchLine> {
  let held: { readonly tip: CommitOid; readonly line: BranchLine; readonly reads: OwnReads | undefined } | null = null;

  return async (session, inForce, tip, reads) => {
    const known = held !== null && isDeepStrictEqual(held.reads, reads) ? from(held.line, inForce) : null;
    if (known !== null && held?.tip === tip) return known;
    // What the server can do is not known before.
    await session.greet('git-upload-pack', 2);
    if (!supportsSingleObjects(session)) throw withoutFilters(session);
    const place = { folder, reads };
    const line =
      (known === null || held === null
        ? null
        : await extended(session, place, known, held.tip, tip).catch(unlessTooBig(() => null))) ??
      (await wholeLine(session, place, inForce, tip));
    // One that was rewritten may be put right without a new tip.
    held = line.isRewritten ? null : { tip, line, reads };
    return line;
  };
}

/** The line from a later commit in force on; null where it does not have that. */
function from(line: BranchLine, inForce: CommitOid): BranchLine | null {
  if (line.inForce.oid === inForce) return line;
  const at = line.commits.findIndex(({ oid }) => oid === inForce);
  const found = line.commits[at];
  return found === undefined ? null : { ...line, inForce: found, commits: line.commits.slice(at + 1) };
}

async function extended(
  session: GitSession,
  place: Place,
  known: BranchLine,
  before: CommitOid,
  tip: CommitOid,
): Promise<BranchLine | null> {
  const news = await firstParentsAfter(session, before, tip);
  if (news === null || !news.isWhole) return null;
  const named = await withNames(session, news.store, news.commits, place);
  const last = known.commits.at(-1) ?? known.inForce;
  return { ...known, commits: [...known.commits, ...changing(place.folder, last, named)] };
}

async function wholeLine(session: GitSession, place: Place, oid: CommitOid, tip: CommitOid): Promise<BranchLine> {
  const present = await commitAt(session, oid);
  const [inForce = { oid, tree: '' }] =
    present === null ? [] : await withNames(session, present.store, [present.commit], place);
  if (oid === tip) return { inForce, commits: [], isRewritten: false };
  let isTooFar = false;
  const news =
    present === null
      ? null
      : await firstParentsAfter(session, oid, tip).catch(
          unlessTooBig(() => {
            isTooFar = true;
            return null;
          }),
        );
  if (news !== null) {
    const named = await withNames(session, news.store, news.commits, place);
    return { inForce, commits: changing(place.folder, news.isWhole ? inForce : null, named), isRewritten: false };
  }
  const top = await commitAt(session, tip);
  const commits = top === null ? [] : await withNames(session, top.store, [top.commit], place);
  // In a monorepo, much happens elsewhere: where nothing is new, it does not matter what lies in between. Otherwise a rewrite is assumed.
  const isSame = isTooFar && commits[0]?.tree === inForce.tree;
  return isSame ? { inForce, commits: [], isRewritten: false } : { inForce, commits, isRewritten: true };
}

const unlessTooBig =
  (instead: () => null) =>
  (error: unknown): null => {
    if (isGitError(error, 'GIT_TOO_BIG')) return instead();
    throw error;
  };

/** null where the server does not hand it out. */
async function commitAt(
  session: GitSession,
  oid: CommitOid,
): Promise<{ readonly store: ObjectStore; readonly commit: ParsedCommit } | null> {
  try {
    const store = createObjectStore();
    await store.addPack(await requestObjects(session, [oid], session.limits, { depth: 1 }));
    return { store, commit: parseCommit(oid, await store.read(oid, 'commit')) };
  } catch (error) {
    if (isGitError(error, 'GIT_REMOTE_ERROR', 'GIT_REFUSED')) return null;
    throw error;
  }
}

interface NewCommits {
  readonly store: ObjectStore;
  /** The oldest first. */
  readonly commits: readonly ParsedCommit[];
  /** The first parent of the oldest is the commit that they come from. */
  readonly isWhole: boolean;
}

/** First parents that come from a commit, up to the tip; null where the tip does not come from it. */
async function firstParentsAfter(session: GitSession, since: CommitOid, tip: CommitOid): Promise<NewCommits | null> {
  const found = await commitsBetween(session, tip, since);
  if (found === null || !found.present.has(tip)) return null;
  const { store, present } = found;
  const newest = parseCommit(tip, await store.read(tip, 'commit'));
  const commits = (await firstParents(newest, store)).toReversed();
  if (commits[0]?.parents[0] === since) return { store, commits, isWhole: true };
  // A merge brought it in as another parent: what is below that merge does not come from it.
  const parents = new Map<CommitOid, readonly CommitOid[]>();
  for (const oid of present) parents.set(oid, parseCommit(oid, await store.read(oid, 'commit')).parents);
  const coming = descendantsOf(since, parents);
  const after = commits.filter(({ oid }) => coming.has(oid));
  return after.length === 0 ? null : { store, commits: after, isWhole: false };
}

function descendantsOf(
  since: CommitOid,
  parents: ReadonlyMap<CommitOid, readonly CommitOid[]>,
): ReadonlySet<CommitOid> {
  const children = new Map<CommitOid, CommitOid[]>();
  for (const [oid, all] of parents) {
    for (const parent of all) children.set(parent, [...(children.get(parent) ?? []), oid]);
  }
  const met = new Set<CommitOid>();
  const open = [since];
  for (let oid = open.pop(); oid !== undefined; oid = open.pop()) {
    for (const child of children.get(oid) ?? []) {
      if (met.has(child)) continue;
      met.add(child);
      open.push(child);
    }
  }
  return met;
}

/** With a folder to follow, other commits come into force nowhere. @param before null where it is not the parent of the first */
function changing(folder: string, before: LineCommit | null, commits: readonly LineCommit[]): readonly LineCommit[] {
  if (folder === '') return commits;
  return commits.filter(({ tree }, index) => tree !== (index === 0 ? before : commits[index - 1])?.tree);
}

/** The commits with the names of what clusters read of them. */
async function withNames(
  session: GitSession,
  store: ObjectStore,
  commits: readonly ParsedCommit[],
  { folder, reads }: Place,
): Promise<readonly LineCommit[]> {
  const bring = inParts(treesFrom(session, store));
  const roots = commits.map(({ tree }) => tree);
  const folders = await folderTrees(roots, folder, store, bring);
  const trees = [...new Set(folders.values())].filter((tree) => tree !== null);
  await bring(trees.filter((tree) => !store.has(tree)));
  const names = new Map<string | null, Pick<LineCommit, 'tree' | 'here'>>();
  const entries = new Map<string, readonly TreeEntry[]>();
  for (const tree of trees) entries.set(tree, parseTree(tree, await store.read(tree, 'tree')));
  const files = reads === undefined ? null : await clusterFiles([...entries.values()], reads.cluster, store, bring);
  for (const [tree, all] of entries) {
    const here = reads === undefined || files === null ? {} : { here: nameOfOwn(all, reads, files) };
    names.set(tree, { tree: nameOfRead(all), ...here });
  }
  return commits.map(({ oid, tree, subject }) => ({
    oid,
    subject,
    ...(names.get(folders.get(tree) ?? null) ?? { tree: '' }),
  }));
}

const clustersIn = (entries: readonly TreeEntry[]): string | undefined =>
  entries.find((entry) => isDirectory(entry) && entry.name.toString('latin1') === 'clusters')?.oid;

/** The cluster's file by the tree of its folder; the folder itself stands for a file that is not there, since others speak of it then. */
async function clusterFiles(
  trees: readonly (readonly TreeEntry[])[],
  cluster: string,
  store: ObjectStore,
  bring: (oids: readonly string[]) => Promise<void>,
): Promise<ReadonlyMap<string, string>> {
  const folders = [...new Set(trees.flatMap((entries) => clustersIn(entries) ?? []))];
  await bring(folders.filter((folder) => !store.has(folder)));
  const files = new Map<string, string>();
  for (const folder of folders) {
    const inside = parseTree(folder, await store.read(folder, 'tree'));
    const file = inside.find(({ name }) => name.toString('utf8') === `${cluster}.yaml`);
    files.set(folder, file === undefined ? folder : `${file.mode} ${file.oid}`);
  }
  return files;
}

/** A name for what one cluster reads of a tree. Of a commit that settled all of it is there, so an equal name means that no part differs. */
function nameOfOwn(entries: readonly TreeEntry[], { layersIn }: OwnReads, files: ReadonlyMap<string, string>): string {
  const hash = createHash('sha256');
  for (const { mode, name, oid } of entries) {
    const text = name.toString('utf8');
    if (text !== 'clusters' && (isConfigPath(text) || layersIn.includes(text))) hash.update(`${mode} ${text}\0${oid}`);
  }
  return hash
    .update(files.get(clustersIn(entries) ?? '') ?? '')
    .digest('hex')
    .slice(0, 40);
}

const inParts =
  (bring: (oids: readonly string[]) => Promise<void>) =>
  async (oids: readonly string[]): Promise<void> => {
    for (let at = 0; at < oids.length; at += MOST_WANTS) await bring(oids.slice(at, at + MOST_WANTS));
  };

/**
 * A name for all that any cluster may read of a tree: `clusters/`, `base/`, `pools/`, and layers anywhere else, which lie in no hidden
 * folder and end as YAML or JSON does.
 */
function nameOfRead(entries: readonly TreeEntry[]): string {
  const hash = createHash('sha256');
  for (const entry of entries) {
    const name = entry.name.toString('latin1');
    const isLayer = isDirectory(entry) ? !name.startsWith('.') : /\.(?:ya?ml|json)$/i.test(name);
    if (isLayer || isConfigPath(name)) hash.update(`${entry.mode} ${name}\0${entry.oid}`);
  }
  return hash.digest('hex').slice(0, 40);
}

const withoutFilters = ({ url }: GitSession): GitError =>
  new GitError(
    'GIT_REFUSED',
    `${url} hands out no single objects, and following other clusters needs that: switch on partial clones there (uploadpack.allowFilter)`,
  );
