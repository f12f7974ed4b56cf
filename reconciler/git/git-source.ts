import type { Finding } from '#shared/contract/finding.ts';
import { forceGc } from '#shared/runtime/force-gc.ts';
import { attributeToCommit, GitError, isGitError } from './errors.ts';
import { createRemote } from './create-remote.ts';
import type { RemoteOptions } from './remote.ts';
import type { GitSession } from './wire/git-session.ts';
import { folderPath } from './folder-path.ts';
import type { CompressedBytes } from './objects/compressed-bytes.ts';
import { branchRef } from './ref-name.ts';
import { fetchCommit } from './snapshot/fetch-commit.ts';
import type { FetchedContent } from './snapshot/fetch-configuration.ts';
import { isInHistory, type JudgedLineage, judgeLineage } from './snapshot/lineage.ts';
import { findFolder, type CachedFolder } from './snapshot/find-folder.ts';
import { readTree } from './snapshot/read-tree.ts';
import type { GitSource } from './source-port.ts';
import type { CommitOid, Snapshot } from '../policy/commit-snapshot.ts';
import { findTip } from './wire/find-tip.ts';

export interface GitSourceOptions extends RemoteOptions {
  /** `main`, or its full name. */
  readonly branch: string;
  /** The folder of the repository that is the config repository: `infra/kubelet`. Default: its root. */
  readonly path?: string | undefined;
}

/**
 * A branch of a repository over git's smart HTTP. Every snapshot is read into memory and thrown away, so that there is
 * no working copy, nothing to repair and nothing to lock.
 *
 * @throws GitError `GIT_URL_UNUSABLE`, `GIT_REF_NAME_INVALID`, `GIT_PATH_INVALID`
 */
export function createGitSource(options: GitSourceOptions): GitSource {
  const { branch } = options;
  const remote = createRemote(options);
  const ref = branchRef(branch);
  const folder = folderPath(options.path ?? '');
  let known: ReadonlyMap<string, CompressedBytes> = new Map();
  let held: CachedFolder | null = null;
  /** The last commit was too large to be fetched whole. */
  let isLarge = false;

  async function tipOf(session: GitSession): Promise<CommitOid> {
    const oid = await findTip(session, ref);
    if (oid !== null) return oid;
    throw new GitError(
      'GIT_BRANCH_MISSING',
      `there is no branch ${branch} in ${remote.url}: it was renamed or deleted, or nothing was ever pushed to it`,
    );
  }

  async function read(session: GitSession, oid: CommitOid, since: CommitOid | null): Promise<Snapshot> {
    const { commit: parsed, content } = await fetchCommit(session, oid, isLarge);
    isLarge = content.bring !== undefined;
    const { tree, ...commit } = parsed;
    const judged = await judgeLineage(session, commit, since);
    const { files, findings, kept } = await filesOf(tree, content, session);
    known = kept;
    return { commit, lineage: judged.lineage, files, findings: withDoubt(findings, judged) };
  }

  async function readFolder(session: GitSession, tip: CommitOid, since: CommitOid | null): Promise<Snapshot> {
    const found = await findFolder({ session, tip, since, folder, held });
    if (!found.news) {
      const { commit, files, findings } = found.held;
      return { commit, tip, lineage: 'same', files, findings };
    }
    const { tree, commit, judged, isFarBack, content } = found;
    const { files, findings, kept } = await filesOf(tree, content, session);
    known = kept;
    held = { tree, commit, files, findings };
    const far = isFarBack === undefined ? {} : { isFarBack };
    return { commit, tip, ...far, lineage: judged.lineage, files, findings: withDoubt(findings, judged) };
  }

  async function readEarlier(session: GitSession, oid: CommitOid, of: CommitOid): Promise<Snapshot | null> {
    if (!(await isInHistory(session, of, oid))) return null;
    try {
      // A folder that is all of the repository is one as well.
      const found = await findFolder({ session, tip: oid, since: oid, folder, held });
      const { commit } = found.news ? found : found.held;
      const { files, findings } = found.news ? await filesOf(found.tree, found.content, session) : found.held;
      return { commit, lineage: 'same', files, findings };
    } catch (error) {
      if (isGitError(error, 'GIT_REMOTE_ERROR', 'GIT_REFUSED', 'GIT_PATH_MISSING')) return null;
      throw attributeToCommit(error, oid);
    }
  }

  async function filesOf(tree: string, content: FetchedContent, { limits }: GitSession) {
    const read = await readTree(tree, { ...content, limits, folder, known });
    // Once for a new commit, and before it is looked into: what the commit before has left behind would come on top of that.
    forceGc();
    return read;
  }

  return {
    url: remote.url,
    branch,
    resolve: (signal) => remote.within(signal, tipOf),
    snapshot: (since, signal) =>
      remote.within(signal, async (session): Promise<Snapshot> => {
        const oid = await tipOf(session);
        try {
          return await (folder === '' ? read(session, oid, since) : readFolder(session, oid, since));
        } catch (error) {
          throw attributeToCommit(folder === '' ? withFolderAdvice(error) : error, oid);
        }
      }),
    // Anything but a commit's name could be read as another command of the protocol.
    earlier: async (oid, of, signal) =>
      /^[0-9a-f]{40}$/.test(oid) ? remote.within(signal, (session) => readEarlier(session, oid, of)) : null,
  };
}

/** A repository that is too big may hold more than configuration. */
function withFolderAdvice(error: unknown): unknown {
  if (!isGitError(error, 'GIT_TOO_BIG')) return error;
  const advice = 'name the folder that holds clusters/, base/ and pools/ with GIT_PATH, and nothing else is read';
  return new GitError(error.code, `${error.message}; ${advice}`, { cause: error.cause });
}

const withDoubt = (findings: readonly Finding[], { known }: JudgedLineage): readonly Finding[] =>
  known ? findings : [...findings, LINEAGE_UNKNOWN];

const LINEAGE_UNKNOWN: Finding = {
  code: 'lineage-unknown',
  severity: 'warning',
  message: 'too much lies between this commit and the one in force to tell how they relate: a rewrite is assumed',
};
