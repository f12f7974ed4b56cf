import type { Commit, CommitOid, Lineage, RepoFile } from '../../policy/commit-snapshot.ts';
import type { Finding } from '#shared/contract/finding.ts';
import { GitError, isGitError } from '../errors.ts';
import { type ParsedCommit, parseCommit } from '../objects/parse-commit.ts';
import { createObjectStore, type ObjectStore } from '../objects/git-object-store.ts';
import { supportsSingleObjects, requestObjects } from '../wire/request-objects.ts';
import type { GitSession } from '../wire/git-session.ts';
import { fetchCommit } from './fetch-commit.ts';
import { fetchConfiguration, type FetchedContent } from './fetch-configuration.ts';
import { folderTrees, treesFrom } from './folder-trees.ts';
import { judgeLineage, type JudgedLineage } from './lineage.ts';
import { folderLastChange } from './folder-last-change.ts';

/** A folder as it was last read. */
export interface CachedFolder {
  /** Name of its tree: equal names mean equal content. */
  readonly tree: string;
  readonly commit: Commit;
  readonly files: ReadonlyMap<string, RepoFile>;
  readonly findings: readonly Finding[];
}

interface FolderRequest {
  readonly session: GitSession;
  /** The branch's tip. */
  readonly tip: CommitOid;
  /** The commit in force, or null. */
  readonly since: CommitOid | null;
  /** `infra/kubelet`. */
  readonly folder: string;
  readonly held: CachedFolder | null;
}

/** What the tip has in the folder. */
export type FoundFolder =
  /** What is held, still. */
  | { readonly news: false; readonly held: CachedFolder }
  | {
      readonly news: true;
      readonly tree: string;
      /** The one that brought the folder to the branch as it is. */
      readonly commit: Commit;
      readonly judged: JudgedLineage;
      /** That one is further back than is looked, and `commit` is the tip. */
      readonly isFarBack?: true;
      readonly content: FetchedContent;
    };

/**
 * Finds a folder in a branch's tip, and the commit that it is of. Where the server hands out single objects, only commits,
 * the trees on the way to the folder, and what lies below it are fetched; from others the whole commit, within the limits.
 *
 * @throws GitError `GIT_PATH_MISSING`, `GIT_TOO_BIG`
 */
export async function findFolder(question: FolderRequest): Promise<FoundFolder> {
  if (!supportsSingleObjects(question.session)) return inWholeCommit(question);
  try {
    return await amongSingleObjects(question);
  } catch (error) {
    // Not after a passing failure: a whole repository is too much to download for that.
    if (!isGitError(error, 'GIT_REMOTE_ERROR', 'GIT_REFUSED')) throw error;
    return inWholeCommit(question);
  }
}

async function amongSingleObjects(question: FolderRequest): Promise<FoundFolder> {
  const { session, since, folder, held } = question;
  const store = createObjectStore();
  const tip = await fetchOne(session, store, question.tip);
  const tree = await treeOf(tip, folder, store, session);
  if (held?.tree === tree && held.commit.oid === since) return { news: false, held };
  const brought = await commitOf(question, tip, tree, store);
  return { news: true, tree, ...brought, content: await fetchConfiguration(session, tree) };
}

type Brought = Pick<Extract<FoundFolder, { readonly news: true }>, 'commit' | 'judged' | 'isFarBack'>;

/** The commit that brought the folder as it is, and how it relates to the one in force. */
async function commitOf(
  { session, since, folder }: FolderRequest,
  tip: ParsedCommit,
  tree: string,
  store: ObjectStore,
): Promise<Brought> {
  if (since === tip.oid) return { commit: withoutTree(tip), judged: known('same') };
  if (since !== null) {
    const present = await sameFolderAt(session, store, since, folder, tree);
    if (present !== null) return { commit: withoutTree(present), judged: known('same') };
  }
  const way = await folderLastChange(session, store, tip, folder, tree);
  if (way === null) {
    const commit = withoutTree(tip);
    return { commit, judged: await judgeLineage(session, commit, since), isFarBack: true };
  }
  const touching = await judgedAt(way, way.length - 1, session, since);
  const follows = since === null || touching.judged.lineage === 'descendant';
  return follows ? touching : bringing(way, touching, session, since);
}

/**
 * Who merges a line that does not follow the commit in force brings it: the oldest on the way that follows it. Not the tip, which
 * may be anybody's work elsewhere on top of that. Where none follows, the branch was rewritten.
 */
async function bringing(
  way: readonly ParsedCommit[],
  touching: Brought,
  session: GitSession,
  since: CommitOid,
): Promise<Brought> {
  let [last, strays]: [Brought | null, number] = [null, way.length - 1];
  // What is on top of one that follows does so, too.
  for (let follows = -1; strays - follows > 1;) {
    const middle = Math.floor((follows + strays) / 2);
    const brought = await judgedAt(way, middle, session, since);
    if (brought.judged.lineage === 'rewritten') strays = middle;
    else [last, follows] = [brought, middle];
  }
  return last ?? touching;
}

async function judgedAt(
  way: readonly ParsedCommit[],
  index: number,
  session: GitSession,
  since: CommitOid | null,
): Promise<Brought> {
  const commit = withoutTree(way[index] as ParsedCommit);
  return { commit, judged: await judgeLineage(session, commit, since) };
}

/** The commit in force, where the folder is in it as it is now; null also where the server does not have it any more. */
async function sameFolderAt(
  session: GitSession,
  store: ObjectStore,
  oid: CommitOid,
  folder: string,
  tree: string,
): Promise<ParsedCommit | null> {
  try {
    const commit = await fetchOne(session, store, oid);
    const trees = await folderTrees([commit.tree], folder, store, treesFrom(session, store));
    return trees.get(commit.tree) === tree ? commit : null;
  } catch (error) {
    if (isGitError(error, 'GIT_REMOTE_ERROR', 'GIT_REFUSED', 'GIT_DAMAGED')) return null;
    throw error;
  }
}

async function fetchOne(session: GitSession, store: ObjectStore, oid: CommitOid): Promise<ParsedCommit> {
  await store.addPack(await requestObjects(session, [oid], session.limits, { depth: 1 }));
  return parseCommit(oid, await store.read(oid, 'commit'));
}

async function inWholeCommit({ session, tip: oid, since, folder, held }: FolderRequest): Promise<FoundFolder> {
  const { commit: tip, content } = await fetchCommit(session, oid, false).catch((error: unknown) => {
    throw withRemedy(error, folder);
  });
  const tree = await treeOf(tip, folder, content.store, session);
  if (held?.tree === tree && held.commit.oid === since) return { news: false, held };
  const commit = withoutTree(tip);
  const judged = await judgeLineage(session, commit, since);
  return { news: true, tree, commit, judged, content };
}

function withRemedy(error: unknown, folder: string): unknown {
  if (!isGitError(error, 'GIT_TOO_BIG')) return error;
  const { code, message, cause } = error;
  const why =
    `; the git server cannot leave out what lies beside ${folder}, so the limits hold for the whole repository: ` +
    'switch on partial clones there (uploadpack.allowFilter), or give the configuration a repository of its own';
  return new GitError(code, `${message}${why}`, { cause });
}

async function treeOf(tip: ParsedCommit, folder: string, store: ObjectStore, session: GitSession): Promise<string> {
  const tree = (await folderTrees([tip.tree], folder, store, treesFrom(session, store))).get(tip.tree);
  if (tree !== undefined && tree !== null) return tree;
  throw new GitError(
    'GIT_PATH_MISSING',
    `there is no folder ${folder} in the commit ${tip.oid} of ${session.url}: correct GIT_PATH, or commit the folder`,
    { fields: { commit: tip.oid } },
  );
}

const known = (lineage: Lineage): JudgedLineage => ({ lineage, known: true });

function withoutTree({ tree: _tree, ...commit }: ParsedCommit): Commit {
  return commit;
}
