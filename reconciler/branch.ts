import { isDeepStrictEqual } from 'node:util';
import { type Clock, type Millis, toTimestamp } from '#shared/runtime/clock.ts';
import { codeOf, reasonOf } from '#shared/runtime/errors.ts';
import { askedToWaitMs } from '#shared/kube/kube-error.ts';
import type { Log } from '#shared/runtime/log.ts';
import { GitError, permanentFailure } from './git/errors.ts';
import type { GitSource } from './git/source-port.ts';
import {
  type CommitOid,
  type JudgedSnapshot,
  type Lineage,
  type SignatureVerdict,
  type Snapshot,
  untrusted,
} from './policy/commit-snapshot.ts';
import { type CommitTrust, TRUST_ALL_COMMITS } from './git/trust/commit-trust.ts';

/** Since when, and why, the repository cannot be read. */
interface GitFailure {
  readonly since: string;
  readonly code: string;
  readonly message: string;
}

/** The branch as it was last read. */
interface BranchView {
  /** The newest commit that was read whole; null before the first. */
  readonly tip: JudgedSnapshot | null;
  /** The branch's tip when `tip` was read or found unchanged: a later commit, if that left the folder as it was; or what was chosen. */
  readonly readAt: CommitOid | null;
  /** null while the repository answers. */
  readonly failure: GitFailure | null;
}

/** The commit that is to be in force. */
export interface ChosenCommit {
  readonly oid: CommitOid;
  /** How it relates to the present one. */
  readonly lineage: Lineage;
  /** Where the server no longer has it, the tip is read, as of a branch that was rewritten. */
  readonly orTip?: boolean;
}

/** Chooses by the tip of the branch. */
export type ChooseCommit = (tip: CommitOid) => Promise<ChosenCommit>;

/** Follows a branch: reads it when asked to, keeps the last good reading through any failure. */
export interface Branch {
  view(): BranchView;
  /**
   * One poll. Never throws: a failure is in the view.
   *
   * @param since the commit in force, against which the lineage of a new tip is judged
   * @param choose which commit is read instead of the tip. Absent: the tip
   * @returns how long to stay away at least (a server's Retry-After), 0 usually
   */
  poll(since: CommitOid | null, signal: AbortSignal, choose?: ChooseCommit): Promise<Millis>;
}

export function createBranch(
  source: GitSource,
  clock: Clock,
  log: Log,
  trust: CommitTrust = TRUST_ALL_COMMITS,
): Branch {
  let tip: JudgedSnapshot | null = null;
  let readAt: CommitOid | null = null;
  let failure: GitFailure | null = null;
  /** Of the last commit that failed for good: reading it again would cost the same download and end the same way. */
  let forGood: { readonly oid: CommitOid; readonly error: unknown } | null = null;

  async function read(
    oid: CommitOid,
    since: CommitOid | null,
    signal: AbortSignal,
    chosen: ChosenCommit | undefined,
  ): Promise<Snapshot> {
    if (forGood?.oid === oid) throw forGood.error;
    forGood = null;
    try {
      // The tip may have moved since it was asked for; what was chosen is read by its name.
      return await (chosen === undefined ? source.snapshot(since, signal) : readChosen(chosen, since, signal));
    } catch (error) {
      // Not `oid`: the branch may have moved since it was asked for its tip.
      const failed = permanentFailure(error);
      if (failed !== undefined) forGood = { oid: failed, error };
      throw error;
    }
  }

  async function readChosen(
    { oid, lineage, orTip = false }: ChosenCommit,
    since: CommitOid | null,
    signal: AbortSignal,
  ): Promise<Snapshot> {
    const snapshot = await source.earlier(oid, oid, signal);
    if (snapshot !== null) return { ...snapshot, lineage };
    if (orTip) return { ...(await source.snapshot(since, signal)), lineage: 'rewritten' };
    throw new GitError(
      'GIT_REFUSED',
      `${source.url} does not hand out the commit ${oid}, which is to be in force: push it there again`,
    );
  }

  return {
    view: () => ({ tip, readAt, failure }),
    async poll(since, signal, choose) {
      try {
        const at = await source.resolve(signal);
        const chosen = await choose?.(at);
        const oid = chosen?.oid ?? at;
        // The tip is read again when another commit came into force meanwhile: its lineage may have changed.
        const known = tip !== null && readAt === oid && (since === tip.since || since === tip.commit.oid);
        const snapshot = known && tip !== null ? tip : { ...(await read(oid, since, signal, chosen)), since };
        // Judged at every poll: the trusted keys may have changed.
        const signature = overFolder(snapshot, await trust.judge(snapshot.commit, { since, signal }));
        // What is known already may have been read at an older tip.
        if (!known) readAt = chosen === undefined ? (snapshot.tip ?? snapshot.commit.oid) : oid;
        const isOld = known || isSame(tip, snapshot);
        // The same reading stays the same object: a reader sees whether anything is new.
        if (!isOld || !isDeepStrictEqual(tip?.signature, signature)) tip = { ...snapshot, signature };
        if (!isOld) {
          const { commit, lineage, files } = snapshot;
          log.info({ commit: commit.oid, lineage, files: files.size, signature }, 'commit read');
        }
        if (failure !== null) log.info({ url: source.url, since: failure.since }, 'repository answers again');
        failure = null;
        return 0;
      } catch (error) {
        if (signal.aborted) return 0;
        const at = failure?.since ?? toTimestamp(clock.now());
        const present = { since: at, code: codeOf(error) ?? 'GIT_ERROR', message: reasonOf(error) };
        if (!isDeepStrictEqual(failure, present)) failure = present;
        log.warn({ url: source.url, branch: source.branch, since: at, err: error }, 'repository cannot be read');
        return askedToWaitMs(error) ?? 0;
      }
    },
  };
}

/**
 * Who signs work elsewhere in a large repository has not looked at the folder: otherwise a change of anybody's would come into force
 * once enough commits are on top of it, and a trusted one among them.
 */
function overFolder({ isFarBack }: Snapshot, signature: SignatureVerdict): SignatureVerdict {
  if (isFarBack !== true || signature.verdict === 'not-required') return signature;
  return untrusted(
    'says nothing about the folder, which was changed too many commits ago for that commit to be found: change any file in it',
  );
}

/** Whether a later tip has the very files that were read before: it left the folder as it was. */
const isSame = (before: JudgedSnapshot | null, now: Snapshot): boolean =>
  before?.commit.oid === now.commit.oid && before.files === now.files;
