import type { CommitOid } from '../../policy/commit-snapshot.ts';
import { GitError } from '../errors.ts';
import { createObjectStore, type ObjectStore } from '../objects/git-object-store.ts';
import type { Remote } from '../remote.ts';
import { folderTrees, treesFrom } from '../snapshot/folder-trees.ts';
import { supportsFilter, supportsSingleObjects, requestObjects } from '../wire/request-objects.ts';
import { requestPack } from '../wire/request-pack.ts';
import type { GitSession } from '../wire/git-session.ts';
import { ancestorsOf, type CommitGraph, loadCommitGraph, mergeBases } from './commit-graph.ts';
import { verifyMergedTrees } from './merged-trees.ts';

/** What a signature makes of a commit: it vouches for it; only if it adds nothing to what it merges; or not, and why. */
export type SignatureScope = 'for-all' | 'for-merging' | { readonly because: string };

interface MergeToVerify {
  readonly merge: CommitOid;
  /** The commit in force; null for none. */
  readonly since: CommitOid | null;
  readonly signatureScope: (raw: Uint8Array) => Promise<SignatureScope>;
}

/**
 * What keeps a merge from counting that is signed by a key for merges only; completes "it …". undefined: nothing. It has to have two
 * parents and add nothing to them (`verifyMergedTrees`), and all that it brings has to be signed: each commit that it comes from and
 * the commit in force does not, by a key that vouches for all, or as such a merge itself. While no commit is in force, a commit
 * whose key vouches for all stands for what is behind it. Rejects with GitErrors.
 */
export type VerifyMerge = (question: MergeToVerify, signal: AbortSignal) => Promise<string | undefined>;

/** How far back is looked. */
const GENERATIONS = 64;
const TOO_FAR = `comes from commits further back than ${GENERATIONS} generations that nobody has looked at`;

/** @param folder of the repository that is the config repository; '' for its root */
export function createMergeVerifier(remote: Remote, folder: string): VerifyMerge {
  return ({ merge, since, signatureScope }, signal) =>
    remote.within(signal, async (session) => {
      // What the server can do is not known before.
      await session.greet('git-upload-pack', 2);
      const store = await fetchHistory(session, merge);
      const graph = await loadCommitGraph(merge, store);
      if (graph === undefined) return 'comes from too many commits';
      const before = since === null ? new Set<CommitOid>() : ancestorsOf(graph, since);
      const wrong = await wrongWithContent(merge, graph, { session, store, folder });
      if (wrong !== undefined) return wrong;
      const met = new Set<CommitOid>([merge]);
      const open = [...(graph.get(merge)?.parents ?? [])];
      for (let oid = open.pop(); oid !== undefined; oid = open.pop()) {
        if (met.has(oid) || before.has(oid)) continue;
        met.add(oid);
        const commit = graph.get(oid);
        if (commit === undefined) return TOO_FAR;
        const verdict = await signatureScope(commit.raw);
        if (typeof verdict === 'object') return `merges the commit ${oid}, which ${verdict.because}`;
        const inside =
          verdict === 'for-all' ? undefined : await wrongWithContent(oid, graph, { session, store, folder });
        if (inside !== undefined) return `merges the commit ${oid}, which ${inside}`;
        if (verdict === 'for-merging' || since !== null) open.push(...commit.parents);
      }
      return undefined;
    });
}

/** Commits and, where the server hands out no single objects, what is in them. */
async function fetchHistory(session: GitSession, want: CommitOid): Promise<ObjectStore> {
  const { limits } = session;
  const store = createObjectStore();
  if (supportsSingleObjects(session)) {
    await store.addPack(await requestObjects(session, [want], limits, { depth: GENERATIONS }));
    return store;
  }
  const filter = supportsFilter(session) ? { filter: 'blob:none' } : {};
  const { pack } = await requestPack(session, { want, depth: GENERATIONS, ...filter }, limits);
  if (pack === null) throw new GitError('GIT_CUT', `${session.url} sent no commit`);
  await store.addPack(pack);
  return store;
}

interface Objects {
  readonly session: GitSession;
  readonly store: ObjectStore;
  readonly folder: string;
}

async function wrongWithContent(oid: CommitOid, graph: CommitGraph, from: Objects): Promise<string | undefined> {
  const { session, store, folder } = from;
  const merge = graph.get(oid);
  const [ours, theirs, ...more] = merge?.parents ?? [];
  if (merge === undefined || ours === undefined) return 'is not a merge';
  if (theirs === undefined || more.length > 0) return theirs === undefined ? 'is not a merge' : 'merges more than two';
  const [base, another] = mergeBases(graph, ours, theirs);
  const commits = [oid, base, ours, theirs].map((name) => (name === undefined ? undefined : graph.get(name)));
  const [of, ofBase, ofOurs, ofTheirs] = commits.map((commit) => commit?.tree);
  if (another !== undefined) return 'merges two that come from more than one commit';
  if (of === undefined || ofBase === undefined || ofOurs === undefined || ofTheirs === undefined) return TOO_FAR;
  const fetchTrees = treesFrom(session, store);
  const trees = await folderTrees([of, ofBase, ofOurs, ofTheirs], folder, store, fetchTrees);
  const at = (root: string): string | null => trees.get(root) ?? null;
  return verifyMergedTrees(
    { merge: at(of), base: at(ofBase), ours: at(ofOurs), theirs: at(ofTheirs) },
    { store, fetchTrees, mostEntries: session.limits.treeEntries },
  );
}
