import type { Finding } from '#shared/contract/finding.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { GitCredentials } from './credentials.ts';
import { blameCommit, GitError } from './errors.ts';
import { createRemote } from './connect.ts';
import type { ProxySettings } from './proxy.ts';
import type { SshOptions } from './remote.ts';
import type { GitSession } from './wire/session.ts';
import type { GitLimits } from './limits.ts';
import { parseCommit } from './objects/commit.ts';
import { branchRef } from './ref-name.ts';
import { fetchCommit } from './snapshot/fetch-commit.ts';
import { judgeLineage } from './snapshot/lineage.ts';
import { readTree } from './snapshot/read-tree.ts';
import { isConfigPath } from './snapshot/select.ts';
import type { GitSource } from './source.ts';
import type { CommitOid, Snapshot } from '../policy/commit.ts';
import { findTip } from './wire/find-tip.ts';

export interface GitSourceOptions {
  /** `https://host/path.git` without a credential in it, or `ssh://git@host/path.git`, or `git@host:path.git`. */
  readonly url: string;
  /** `main`, or its full name. */
  readonly branch: string;
  readonly credentials: GitCredentials;
  /** PEM file of the authorities to trust instead of the well-known ones. */
  readonly caFile?: string | undefined;
  /** What may stand between, over http and https. */
  readonly proxy?: ProxySettings | undefined;
  /** How a repository is reached whose address is one of ssh. */
  readonly ssh?: SshOptions | undefined;
  readonly limits?: Partial<GitLimits>;
  /** Which paths of the repository are read. Default: `clusters/`, `base/`, `pools/`, and YAML and JSON anywhere. */
  readonly select?: (path: string) => boolean;
  readonly clock: Clock;
}

/**
 * A branch of a repository over git's smart HTTP. Every snapshot is read into memory and thrown away, so that there is
 * no working copy, nothing to repair and nothing to lock.
 *
 * @throws GitError `GIT_URL_UNUSABLE`, `GIT_REF_NAME_INVALID`
 */
export function createGitSource(options: GitSourceOptions): GitSource {
  const { branch, select = isConfigPath } = options;
  const remote = createRemote(options);
  const ref = branchRef(branch);
  let known: ReadonlyMap<string, Uint8Array> = new Map();

  async function tipOf(session: GitSession): Promise<CommitOid> {
    const oid = await findTip(session, ref);
    if (oid !== null) return oid;
    throw new GitError(
      'GIT_BRANCH_MISSING',
      `there is no branch ${branch} in ${remote.url}: it was renamed or deleted, or nothing was ever pushed to it`,
    );
  }

  async function read(session: GitSession, oid: CommitOid, since: CommitOid | null): Promise<Snapshot> {
    const { store, leftOutFrom } = await fetchCommit(session, oid);
    const { tree, ...commit } = parseCommit(oid, await store.read(oid, 'commit'));
    const judged = await judgeLineage(session, commit, since);
    const read = await readTree(tree, { store, limits: session.limits, select, known, leftOutFrom });
    known = new Map([...read.files.values()].map((file) => [file.oid, file.bytes]));
    const findings = judged.known ? read.findings : [...read.findings, LINEAGE_UNKNOWN];
    return { commit, lineage: judged.lineage, files: read.files, findings };
  }

  return {
    url: remote.url,
    branch,
    resolve: (signal) => remote.within(signal, tipOf),
    snapshot: (since, signal) =>
      remote.within(signal, async (session): Promise<Snapshot> => {
        const oid = await tipOf(session);
        try {
          return await read(session, oid, since);
        } catch (error) {
          throw blameCommit(error, oid);
        }
      }),
  };
}

const LINEAGE_UNKNOWN: Finding = {
  code: 'lineage-unknown',
  severity: 'warning',
  message: 'too much lies between this commit and the one in force to tell how they relate: a rewrite is assumed',
};
