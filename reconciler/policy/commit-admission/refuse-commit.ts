import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import { firstFew } from '#shared/runtime/first-few.ts';
import { unreachable } from '#shared/runtime/errors.ts';
import { type Desired, desiredState } from '../desired.ts';
import type { Fleet } from '../fleet.ts';
import type { Lineage } from '../commit-snapshot.ts';
import type { LoadedRepo } from '../config-repo/loaded-repo.ts';
import { limitOf } from '../rollout/amount.ts';
import { assignmentOf } from '../rollout/node-progress.ts';
import type { SignatureVerdict } from '../commit-snapshot.ts';
import type { Limits } from '../commit-limits.ts';
import { massChange, describeHowToRaise, describeMassChange } from './mass-change.ts';

/** What to do when the branch was rewritten, so that the commit in force is not among the ancestors of its tip. */
export type RewritePolicy = 'refuse' | 'follow';

export type RefusalReason =
  | 'commit-unsigned'
  | 'commit-untrusted'
  | 'history-rewritten'
  | 'no-pools'
  | 'unassigns-too-many'
  | 'changes-too-many'
  /** It goes beyond the limits of what is read. */
  | 'too-large'
  /** A reconciler ended while it read it. */
  | 'ended-the-reconciler';

type CommitVerdict =
  | { readonly accepted: true }
  | {
      readonly accepted: false;
      readonly reason: RefusalReason;
      readonly message: string;
      /** Names of the pools that it is refused for; absent for none. */
      readonly pools?: readonly string[];
    };

interface CandidateCommit {
  readonly lineage: Lineage;
  readonly repo: LoadedRepo;
  /** What would be wanted if the commit were in force. */
  readonly desired: Desired;
  /** What is wanted now, by the commit in force. Absent: unknown, and what the cluster has of the pools stands for it. */
  readonly before?: Desired;
  /** What the commit in force holds this one to. Absent: nothing was ever in force, and it is held to its own limits. */
  readonly limits?: Limits;
}

/**
 * Whether a new commit may come into force at all. What is wrong with single pools is not decided here: those keep what
 * they had. Refused is only what would take configs away, or change them, on a large scale, and a rewritten
 * branch.
 */
export function judgeCommit(candidate: CandidateCommit, policy: RewritePolicy, fleet: Fleet): CommitVerdict {
  const { lineage, repo, desired, limits = repo.cluster } = candidate;
  if (lineage === 'rewritten' && policy === 'refuse') {
    return refuse(
      'history-rewritten',
      'the branch was rewritten: the commit in force is not an ancestor of its tip. ' +
        'Restore the branch, or set ON_REWRITE=follow on the reconciler if this was meant',
    );
  }
  const assigned = [...fleet.kubeletNodes.values()].filter((node) => assignmentOf(node) !== null);
  if (repo.pools.length === 0 && (fleet.pools.size > 0 || assigned.length > 0)) {
    return refuse('no-pools', 'there is no pools/<name>/pool.yaml in it: an empty repository never unassigns a fleet');
  }
  const { before = desiredState(null, fleet, () => []) } = candidate;
  const losing = assigned.filter(
    (node) =>
      desired.choices.get(node.metadata.name)?.choice === 'none' &&
      !isLeaving(node, before, fleet) &&
      !desired.unusable.has(node.spec?.pool ?? ''),
  );
  const limit = Math.min(
    limitOf(limits.maxUnassign, assigned.length),
    limitOf(repo.cluster.maxUnassign, assigned.length),
  );
  if (losing.length > limit) {
    const names = losing.slice(0, 3).map((node) => node.metadata.name);
    const pools = [...new Set(losing.flatMap(({ spec }) => spec?.pool ?? []))].sort();
    return refuse(
      'unassigns-too-many',
      `it would send ${losing.length} of ${assigned.length} assigned nodes back to their local config ` +
        `(${names.join(', ')}${losing.length > names.length ? ' …' : ''}) of ${pools.length === 1 ? 'pool' : 'pools'} ${firstFew(pools)}, and maxUnassign allows ${limit}. ` +
        describeHowToRaise('maxUnassign', repo.cluster.file),
      pools,
    );
  }
  const mass =
    massChange(before, desired, limits.maxChange, fleet) ?? massChange(before, desired, repo.cluster.maxChange, fleet);
  return mass === undefined
    ? { accepted: true }
    : refuse(
        'changes-too-many',
        describeMassChange(mass, repo.cluster.file),
        mass.pools.map(([pool]) => pool),
      );
}

/**
 * Whether the commit's signature lets it into force. Nothing in the commit has a say in that: it is set on the reconciler alone.
 * Asked also of a commit that was in force before a restart, because another writer may have written the record of it.
 */
export function judgeSigner(signature: SignatureVerdict): CommitVerdict {
  switch (signature.verdict) {
    case 'not-required':
    case 'trusted':
      return { accepted: true };
    case 'unsigned':
      return refuse(
        'commit-unsigned',
        'it is not signed, and only signed commits are taken up here: sign the tip of the branch ' +
          '(git commit --amend -S, or a signed commit on top of it; with GIT_PATH, one that changes the folder)',
      );
    case 'untrusted':
      return refuse(
        'commit-untrusted',
        `its signature ${signature.because}. Have somebody sign whose key is trusted here, or add the key to the trusted ones`,
      );
    default:
      return unreachable(signature);
  }
}

/**
 * Whether a node lost its pool already, by an earlier commit or by other labels, and is on its way back to its local config. Not
 * so if its pool is no longer known, because our own objects are lost.
 */
function isLeaving({ metadata, spec }: KubeletNode, before: Desired, fleet: Fleet): boolean {
  return before.choices.get(metadata.name)?.choice === 'none' && fleet.pools.has(spec?.pool ?? '');
}

const refuse = (reason: RefusalReason, message: string, pools?: readonly string[]): CommitVerdict => ({
  accepted: false,
  reason,
  message,
  ...(pools && { pools }),
});
