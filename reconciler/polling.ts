import { readApproval } from '#shared/contract/api/approval.ts';
import { APPROVE_ANNOTATION, BY_ANNOTATION } from '#shared/contract/api/group.ts';
import { readClaim } from '#shared/contract/claim.ts';
import { type Clock, fromTimestamp, type Millis } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import { type Branch, type ChooseCommit, createBranch } from './branch.ts';
import { createCandidateChanges, type ReadEarlier } from './candidate-changes.ts';
import { createFollowing, type Following } from './following.ts';
import type { FollowedRepository } from './git/following/followed-repository.ts';
import { plainLine } from './git/plain-text.ts';
import type { GitSource } from './git/source-port.ts';
import type { CommitTrust } from './git/trust/commit-trust.ts';
import type { AcceptedCommits } from './policy/commit-admission/accepted-commits.ts';
import { recoveredCommit } from './policy/commit-admission/recovered-commit.ts';
import type { RewritePolicy } from './policy/commit-admission/refuse-commit.ts';
import type { CommitOid } from './policy/commit-snapshot.ts';
import type { Fleet } from './policy/fleet.ts';
import type { GivenApproval } from './policy/following/counterparts.ts';
import { followsInForce } from './policy/following/follows.ts';
import { provenIn } from './policy/following/payload-proofs.ts';
import type { ReleasedCommit } from './policy/following/record.ts';
import { letThroughCommit, recordedFollows } from './reporting/notes/recorded-commits.ts';
import type { SourceState } from './reporting/notes/source-state.ts';
import type { SourceRecord } from './reporting/source/source-record.ts';

interface PollingPorts {
  readonly source: GitSource;
  /** Whose commits are taken up. Absent: everybody's who may push to the branch. */
  readonly trust?: CommitTrust;
  /** The same repository, for a cluster that follows others. */
  readonly followed: FollowedRepository;
  readonly readEarlier: ReadEarlier;
  readonly cluster: string;
  readonly onRewrite: RewritePolicy;
  /** null until everything was seen once. */
  readonly fleet: () => Fleet | null;
  /** How far this machine's clock is ahead of that of the leader before. */
  readonly ahead: () => Millis;
  readonly record: SourceRecord;
  readonly takeUps: Pick<AcceptedCommits, 'inForce' | 'repo'>;
  readonly isLeader: () => boolean;
  /** Called when the branch, its reading, or the clusters that are waited for have changed. */
  readonly onNews: () => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** Reads the branch, and chooses the commit that is to come into force. */
export interface Polling {
  readonly branch: Pick<Branch, 'view'>;
  readonly following: Pick<Following, 'record'>;
  /** Reads the branch now, as far as this process acts, one time after the other. Never rejects. */
  poll(signal: AbortSignal): Promise<void>;
}

export function createPolling(ports: PollingPorts): Polling {
  const { cluster, source, trust, onRewrite, fleet, ahead, record, takeUps, isLeader, onNews, clock, log } = ports;
  const branch = createBranch(source, clock, log, trust);
  const following = createFollowing({
    cluster,
    repository: ports.followed,
    changes: createCandidateChanges(source, ports.readEarlier, fleet, clock, log),
    proven: () => provenIn([...(fleet()?.pools ?? [])].map(([name, { status }]) => [name, status])),
    approvals: () => approvalsIn(fleet()),
    onRewrite,
    clock,
    log,
    ahead,
  });
  let stayAwayUntil: Millis = 0;
  /** One after the other: an older reading of the branch that took longer must not take the place of a newer one. */
  let looks: Promise<void> = Promise.resolve();

  async function look(signal: AbortSignal): Promise<void> {
    if (!isLeader() || clock.monotonic() < stayAwayUntil) return;
    const before = { ...branch.view(), seen: following.record() };
    try {
      const recorded = await record.load(signal);
      const { commit, takenUpAt } = recorded;
      const inForceSince = fromTimestamp(takenUpAt);
      if (inForceSince !== undefined) trust?.isInForce(commit, inForceSince);
      const seen = fleet();
      const known = commit === '' ? (seen === null ? null : recoveredCommit(seen)) : commit;
      const inForce = takeUps.inForce() ?? known;
      const waitMs = await branch.poll(inForce, signal, choiceOf(inForce, recorded, signal));
      stayAwayUntil = clock.monotonic() + waitMs;
    } catch (error) {
      if (!signal.aborted) log.warn({ err: error }, 'poll put off: the record of the commit in force cannot be read');
    }
    const { tip, readAt, failure } = branch.view();
    const isNews = tip !== before.tip || readAt !== before.readAt || failure !== before.failure;
    if (isNews || following.record() !== before.seen) onNews();
  }

  /** undefined where the tip of the branch is to be in force. */
  function choiceOf(inForce: CommitOid | null, recorded: SourceState, signal: AbortSignal): ChooseCommit | undefined {
    const repo = takeUps.repo();
    const before = recordedFollows(recorded);
    if (inForce === null || (repo === null && before === null)) return undefined;
    const released = async (): Promise<ReleasedCommit | null> => letThroughCommit(await record.release(signal));
    // What it says itself is read before anything else can come into force.
    if (repo === null)
      return async (tip) => ({
        oid: inForce,
        lineage: 'same',
        orTip: onRewrite === 'refuse' || (await released())?.oid === tip,
      });
    const follows = followsInForce(repo.cluster, before ?? null);
    if (follows !== null)
      return async (tip) =>
        following.choose({ follows, tip, inForce, repo, recorded, released: await released() }, signal);
    following.forget();
    return undefined;
  }

  return {
    branch,
    following,
    poll(signal) {
      looks = looks.catch(() => undefined).then(() => look(signal));
      return looks;
    },
  };
}

/** By pool, what its annotation lets go on. */
const approvalsIn = (fleet: Fleet | null): ReadonlyMap<string, GivenApproval> =>
  new Map(
    [...(fleet?.pools ?? [])].flatMap(([name, { metadata }]) => {
      const { [APPROVE_ANNOTATION]: value = '', [BY_ANNOTATION]: by } = metadata.annotations ?? {};
      const approval = readApproval(value);
      const who = plainLine(readClaim(by, 'approve', value)?.who ?? '', LONGEST_NAME);
      return approval === undefined ? [] : [[name, { ...approval, by: who }]];
    }),
  );

/** Of each approved pool, of which there may be many, on the record. */
const LONGEST_NAME = 100;
