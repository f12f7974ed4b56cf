import { LASTING_REFUSALS, type RecordedCommits } from '../../policy/commit-admission/accepted-commits.ts';
import { readRefusalCause, type RefusedCommit } from '../../policy/commit-admission/refusal-cause.ts';
import type { CommitOid } from '../../policy/commit-snapshot.ts';
import { recordedPolicy } from '../../policy/cluster-policy.ts';
import { readLimits } from '../../policy/commit-limits.ts';
import { followsInForce } from '../../policy/following/follows.ts';
import { newRecord, readFollowing, type ReleasedCommit, writeFollowing } from '../../policy/following/record.ts';
import type { ClusterConfig, Follows } from '../../policy/config-repo/loaded-repo.ts';
import { readClaim } from '#shared/contract/claim.ts';
import { plainLine } from '../../git/plain-text.ts';
import type { SourceState } from './source-state.ts';

/**
 * What the record says of commits. A refusal that was recorded for another branch or cluster says nothing about this one.
 *
 * @param here  what this process follows
 * @param ended  what the process before was reading when it ended without notice, see `readingMark`; '' for nothing
 */
export function recordedCommitsOf(
  recorded: SourceState,
  here: Pick<SourceState, 'url' | 'branch' | 'cluster'>,
  ended = '',
): RecordedCommits {
  const { commit, refusedCommit, refusedReason, refusedBecause } = recorded;
  const reason = LASTING_REFUSALS.find((each) => each === refusedReason);
  const isAboutHere = recorded.url === here.url && recorded.branch === here.branch && recorded.cluster === here.cluster;
  const cause = readRefusalCause(recorded.refusedCause);
  const before =
    reason === undefined ? null : { commit: refusedCommit, reason, message: refusedBecause, ...(cause && { cause }) };
  // What was in force already was read before.
  const [read, ends] = partsOf(ended);
  const refused = ends < MOST_ENDS || read === commit ? before : endedBy(read);
  const { former } = recordedPolicy(recorded.policy, false);
  return {
    inForce: commit === '' ? null : commit,
    ...(commit === '' ? {} : { limits: readLimits(recorded.limits) }),
    ...(commit === '' || former === undefined ? {} : { former }),
    refused: isAboutHere ? refused : null,
  };
}

/**
 * The record without the refusal of a commit whose reading reconcilers did not survive, where a person released that and it was not done
 * yet. Each release counts once: the commit may end three more of them.
 *
 * @param asked the release annotation of the KubeletSource
 */
export function withRelease(recorded: SourceState, request: ReleaseRequest | undefined): SourceState {
  const { refusedCommit, refusedReason, released } = recorded;
  const [asked] = request?.value.split(' ', 1) ?? [];
  const isAsked = asked !== undefined && asked !== released && asked.startsWith(`${refusedCommit}@`);
  if (refusedReason !== ENDED || !isAsked) return recorded;
  return { ...recorded, refusedCommit: '', refusedReason: '', refusedBecause: '', released: asked };
}

/** The annotations of the KubeletSource by which a person releases a commit. */
export interface ReleaseRequest {
  readonly value: string;
  /** Who says so; undefined for nobody. */
  readonly by: string | undefined;
}

/** What is to be in the release annotation to release a commit. @param at RFC 3339 @param because '' where nobody asks */
export const commitRelease = (commit: CommitOid, at: string, because = ''): string =>
  `${commit}@${at}${because === '' ? '' : ` ${because}`}`;

/** The commit that a person released, who and why; null for none. */
export function releasedCommit(request: ReleaseRequest | undefined): ReleasedCommit | null {
  const [, oid, because = ''] = /^([0-9a-f]{40})@\S+(?: (.*))?$/s.exec(request?.value ?? '') ?? [];
  if (oid === undefined) return null;
  const claim = readClaim(request?.by, 'release', request?.value ?? '');
  const who = claim === undefined ? 'somebody' : `${claim.who} at ${claim.at}`;
  return { oid, said: plainLine(`released by ${who}${because === '' ? '' : `: ${because}`}`, LONGEST_RELEASE) };
}

/** The same past the clusters that are followed: that takes a reason, and what is only to be read once more has none. */
export const letThroughCommit = (request: ReleaseRequest | undefined): ReleasedCommit | null =>
  /^\S+ \S/.test(request?.value ?? '') ? releasedCommit(request) : null;

const LONGEST_RELEASE = 400;

/**
 * Whom the commit in force follows, by the record.
 *
 * @returns null for nobody; undefined where the record is lost or damaged
 */
export function recordedFollows({ limits, following }: SourceState): Follows | null | undefined {
  if (following === '' && limits === '') return undefined;
  const read = readFollowing(following);
  return read === null ? null : read?.follows;
}

/**
 * What is on record of following with the commit in force, from its first moment: a process that ends meanwhile must not lose whom.
 *
 * @param limits undefined where that commit was not read
 * @param chosenBy the record as this process has it; '' before the first look
 */
export function followingWith(limits: ClusterConfig | undefined, recorded: SourceState, chosenBy: string): string {
  if (limits === undefined) return recorded.following;
  const follows = followsInForce(limits, recordedFollows(recorded) ?? null);
  if (follows === null) return '';
  return chosenBy === '' ? writeFollowing(newRecord(follows)) : chosenBy;
}

/**
 * Whether the refusal stands in a cluster that follows others, though the commit in force is read: nobody has looked yet, or what others say
 * of the refused one cannot be seen just now.
 *
 * @param seen the record of following as this process has it; null before its first look
 */
export function isRefusalStanding(seen: string | null, { following, refusedCommit }: SourceState): boolean {
  if (seen === null) return following !== '';
  const { refused = [], candidates = [] } = readFollowing(seen) ?? {};
  return refused.includes(refusedCommit) && candidates.some(({ oid }) => oid === refusedCommit);
}

/** Whether the commit that is refused may be released. */
export const mayBeReleased = ({ refusedReason }: Pick<SourceState, 'refusedReason'>): boolean =>
  refusedReason === ENDED;

const ENDED = 'ended-the-reconciler';

/** Processes in a row that end while they read one commit. Fewer may end by chance: a node dies, a pod is killed. */
const MOST_ENDS = 3;

/** A commit that is being read, and which process in a row reads it, from the second on: `4151ff9… 2`. */
export function readingMark(commit: CommitOid, before: string): string {
  const [read, ends] = partsOf(before);
  return read === commit ? `${commit} ${ends + 1}` : commit;
}

function partsOf(mark: string): readonly [commit: CommitOid, ends: number] {
  const [commit = '', ends = '1'] = mark.split(' ');
  return commit === '' ? ['', 0] : [commit, Number(ends)];
}

const endedBy = (commit: CommitOid): RefusedCommit => ({
  commit,
  reason: ENDED,
  message:
    `${MOST_ENDS} reconcilers in a row ended without notice while they read it, so it is not read again. ` +
    'If the commit is not to blame, kubelet-gitops release --commit lets it be read once more; so does another commit, which may be empty',
});
