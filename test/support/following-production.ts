import { createFollowing, type FollowingQuestion } from '#reconciler/following.ts';
import type { FollowedNotes } from '#reconciler/git/following/read-notes.ts';
import type { CommitOid } from '#reconciler/policy/commit-snapshot.ts';
import type { Follows } from '#reconciler/policy/config-repo/loaded-repo.ts';
import type { ChangedPool } from '#reconciler/policy/following/changed-pools.ts';
import type { GivenApproval } from '#reconciler/policy/following/counterparts.ts';
import { NO_STATE } from '#reconciler/reporting/notes/source-state.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { silentLog } from '#shared/runtime/log.ts';

/** What there is to see at a look. */
interface Seen {
  /** The branch from the commit in force to its tip. */
  readonly line: () => readonly CommitOid[];
  /** Besides that the followed clusters have settled every commit. */
  readonly notes: () => Partial<FollowedNotes>;
  /** What a commit changes here; null for one that cannot be read. */
  readonly changes?: (oid: CommitOid) => readonly ChangedPool[] | null;
  readonly approvals?: ReadonlyMap<string, GivenApproval>;
}

/** The reconciler of a cluster that follows others, as far as it chooses the commit that is to be in force. */
export function startProduction(clock: Clock, { line, notes, changes = () => [], approvals = new Map() }: Seen) {
  const following = createFollowing({
    cluster: 'production',
    repository: {
      line: async () => {
        const [inForce = '', ...commits] = line();
        const commitOf = (oid: CommitOid) => ({ oid, tree: oid });
        return { inForce: commitOf(inForce), commits: commits.map(commitOf), isRewritten: false };
      },
      notes: async (_, { commits }) => ({
        said: new Map(commits.map((oid) => [oid, 'settled'])),
        signed: null,
        distrusted: null,
        payloads: null,
        ...notes(),
      }),
    },
    changes: { of: async (oid) => changes(oid) },
    proven: () => [],
    approvals: () => approvals,
    onRewrite: 'refuse',
    clock,
    log: silentLog,
    ahead: () => 0,
  });
  return {
    /**
     * One look.
     *
     * @param recorded what the look before left on record
     */
    async choose(follows: Follows, recorded = '', released: FollowingQuestion['released'] = null): Promise<CommitOid> {
      const [inForce = '', ...ahead] = line();
      const question = {
        follows,
        repo: { pools: [] },
        tip: ahead.at(-1) ?? inForce,
        inForce,
        recorded: { ...NO_STATE, following: recorded },
        released,
      };
      return (await following.choose(question, new AbortController().signal)).oid;
    },
    record: () => following.record() ?? '',
  };
}
