import type { Clock, Millis } from '#shared/runtime/clock.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { Commit, CommitOid } from '../../policy/commit-snapshot.ts';
import { type SignatureVerdict, untrusted } from '../../policy/commit-snapshot.ts';
import { isGitError } from '../errors.ts';
import type { SignatureScope, VerifyMerge } from '../merge-verification/merge-verifier.ts';
import type { FolderUnchanged } from '../merge-verification/folder-unchanged.ts';
import type { ReadTags } from '../merge-verification/tag-reader.ts';
import { createFirstSeenSignatures } from './first-seen-signatures.ts';
import { verifySignature } from './verify-signature.ts';
import { splitCommit } from './signed-commit.ts';
import { splitTag } from './signed-tag.ts';
import type { TrustedKeys } from './trusted-keys.ts';

/** Says whether a trusted person vouches for a commit. */
export interface CommitTrust {
  /**
   * What cannot be judged is not trusted.
   *
   * @param around what the commit stands in; absent: no commit is in force
   * @throws GitError where the git server has to be asked for more, and cannot be
   */
  judge(commit: Pick<Commit, 'oid' | 'raw'>, around?: TrustContext): Promise<SignatureVerdict>;
  /** Hears since when a commit is in force, as the record in the cluster has it: it was signed by then. */
  isInForce(commit: CommitOid, since: Millis): void;
}

interface TrustContext {
  /** The commit in force; null for none. */
  readonly since: CommitOid | null;
  readonly signal: AbortSignal;
}

/** Where signatures are not asked for. */
export const TRUST_ALL_COMMITS: CommitTrust = {
  judge: () => Promise.resolve({ verdict: 'not-required' }),
  isInForce: () => undefined,
};

interface CommitTrustOptions {
  readonly keys: () => Promise<TrustedKeys>;
  /** Keys that count for merges only, and for those only that add nothing to what they merge. Absent: there are none. */
  readonly merges?: { readonly keys: () => Promise<TrustedKeys>; readonly wrongWith: VerifyMerge } | undefined;
  /** Where people sign tags. Absent: none counts. */
  readonly tags?: TrustedTags | undefined;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
}

interface TrustedTags {
  readonly of: ReadTags;
  readonly prefix: string;
  /** Whether a commit's own signature counts no more. */
  readonly instead: boolean;
  /** Where the repository is a folder of a larger one: a tag counts on a later commit as well that leaves the folder as it is. */
  readonly leavesFolder?: FolderUnchanged | undefined;
}

const NOW: TrustContext = { since: null, signal: new AbortController().signal };

/**
 * A commit's own signature covers its tree, and so every file, and the names of its parents: who signs a tip vouches for all of
 * it. So does who signs a tag of it. A key for merges vouches for nothing but that what was signed was put together.
 */
export function createCommitTrust({ keys, merges, tags, clock, log }: CommitTrustOptions): CommitTrust {
  const complained = new Map<string, string>();
  const firstSeen = createFirstSeenSignatures();
  let lastMerge: JudgedMerge | undefined;
  let inForce: { readonly oid: CommitOid; readonly since: Millis } | undefined;

  /** @param object the commit itself, or a tag of it */
  function seenAt(object: string, commit: CommitOid): Millis {
    const first = firstSeen.of(object, clock.now());
    return inForce?.oid === commit ? Math.min(first, inForce.since) : first;
  }

  /** By its own signature alone. */
  async function bySelf(raw: Uint8Array, oid: string, trusted: TrustedKeys): Promise<SignatureVerdict> {
    const split = splitCommit(raw);
    if (!split.signed) return { verdict: 'unsigned' };
    const { payload, signature, committedAt: statedAt } = split;
    return verifySignature({ payload, signature, statedAt, seenAt: seenAt(oid, oid) }, trusted, clock.now());
  }

  async function byTag(oid: CommitOid, trusted: TrustedKeys, { signal }: TrustContext): Promise<SignatureVerdict> {
    if (tags === undefined) return { verdict: 'unsigned' };
    const { prefix, leavesFolder } = tags;
    const why: string[] = [];
    for (const { name, raw, oid: tag, commit } of await tags.of(oid, signal)) {
      const split = splitTag(raw);
      if (split === undefined) continue;
      const isOfIt = commit === oid;
      // A ref may be called anything, and the server may say of it what it likes: what counts is what was signed.
      if (split.commit !== commit || split.name !== name || !split.name.startsWith(prefix)) {
        if (isOfIt) why.push('is of a tag of another name or commit');
        continue;
      }
      const { payload, signature, taggedAt: statedAt } = split;
      const signed = { payload, signature, statedAt, seenAt: seenAt(tag, oid) };
      const verdict = await verifySignature(signed, trusted, clock.now());
      // For the others the signer is checked first: unsigned tags must not cause walks through history.
      if (verdict.verdict === 'trusted' && (isOfIt || (await leavesFolder?.(commit, oid, signal)) === true))
        return { ...verdict, signer: `${verdict.signer}, by the tag ${name}` };
      if (verdict.verdict === 'untrusted' && isOfIt) why.push(`${verdict.because} (tag ${name})`);
    }
    const orOnTop = leavesFolder === undefined ? '' : ', or at a later commit that leaves the folder as it is';
    return untrusted(why[0] ?? `is missing: no signed tag ${prefix}… points at it${orOnTop}`);
  }

  /** undefined where no key for merges signed it. */
  async function asMerge(
    { raw, oid }: Pick<Commit, 'oid' | 'raw'>,
    trusted: TrustedKeys,
    { since, signal }: TrustContext,
  ): Promise<SignatureVerdict | undefined> {
    if (merges === undefined) return undefined;
    const mergers = await merges.keys();
    complain('merges', mergers.unusable);
    const verdict = await bySelf(raw, oid, mergers);
    if (verdict.verdict !== 'trusted') return undefined;
    // What came into force as it was judged is not judged again against itself.
    const isKnown =
      lastMerge?.oid === oid && (lastMerge.since === (since ?? '') || (since === oid && lastMerge.wrong === undefined));
    if (!isKnown || lastMerge?.trusted !== trusted || lastMerge.mergers !== mergers) {
      const vouched = async (other: Uint8Array): Promise<SignatureScope> => {
        if ((await bySelf(other, oid, trusted)).verdict === 'trusted') return 'for-all';
        const found = await bySelf(other, oid, mergers);
        if (found.verdict === 'trusted') return 'for-merging';
        return { because: found.verdict === 'untrusted' ? `has a signature that ${found.because}` : 'is not signed' };
      };
      const wrong = await merges.wrongWith({ merge: oid, since, signatureScope: vouched }, signal);
      lastMerge = { oid, since: since ?? '', trusted, mergers, wrong };
    }
    const { wrong } = lastMerge ?? {};
    return wrong === undefined
      ? verdict
      : untrusted(`is of the key ${verdict.key}, which counts for merges only: it ${wrong}`);
  }

  return {
    isInForce: (oid, since) => void (inForce = { oid, since }),
    async judge(commit, around = NOW) {
      const { raw, oid } = commit;
      try {
        const isSigned = splitCommit(raw).signed;
        if (!isSigned && tags === undefined) return { verdict: 'unsigned' };
        const trusted = await keys();
        complain('trusted', trusted.unusable);
        const own = tags?.instead === true ? untrusted('is not asked for') : await bySelf(raw, oid, trusted);
        if (own.verdict === 'trusted') return own;
        if (tags !== undefined) {
          const tagged = await byTag(oid, trusted, around);
          if (tagged.verdict === 'trusted' || tags.instead) return tagged;
        }
        return (await asMerge(commit, trusted, around)) ?? own;
      } catch (error) {
        // What the repository could not be asked now is no verdict on the commit.
        if (isGitError(error) && !isGitError(error, 'GIT_TOO_BIG', 'GIT_DAMAGED')) throw error;
        return untrusted(`could not be checked: ${reasonOf(error)}`);
      }
    },
  };

  function complain(about: string, unusable: readonly string[]): void {
    const now = unusable.join('\n');
    if (now === (complained.get(about) ?? '')) return;
    complained.set(about, now);
    for (const why of unusable) log.warn({ because: why }, 'trusted key cannot be used');
  }
}

/** A merge's verdict stays what it is until keys change: the commits that it comes from are not asked for at every poll. */
interface JudgedMerge {
  readonly oid: CommitOid;
  /** '' for none. */
  readonly since: CommitOid;
  readonly trusted: TrustedKeys;
  readonly mergers: TrustedKeys;
  readonly wrong: string | undefined;
}
