import { type FormerLimits, isFormerLimits } from './commit-limits.ts';
import type { ClusterConfig } from './config-repo/loaded-repo.ts';
import { DEFAULT_CLUSTER } from './config-repo/read-cluster.ts';

/** What the cluster's file says of rollouts in all pools. */
export type ClusterPolicy = Pick<
  ClusterConfig,
  'file' | 'maxUnavailable' | 'maxUnassign' | 'suspend' | 'windows' | 'unreadable'
> & {
  /** What it said in the commit before, where that holds as well. */
  readonly former?: FormerLimits;
};

/** What a policy need not say. */
interface Unsaid {
  readonly file?: string | undefined;
  readonly unreadable?: string | undefined;
  readonly former?: FormerLimits | undefined;
}

export const policyOf = ({
  file,
  maxUnavailable,
  maxUnassign,
  suspend,
  windows,
  unreadable,
  former,
}: Omit<ClusterPolicy, keyof Unsaid> & Unsaid): ClusterPolicy => ({
  ...(file === undefined ? {} : { file }),
  maxUnavailable,
  maxUnassign,
  suspend,
  windows,
  ...(unreadable === undefined ? {} : { unreadable }),
  ...(former === undefined ? {} : { former }),
});

/**
 * The policy as our own record has it, for a process that has not read git yet. A damaged record counts as
 * unreadable: what it forbade is unknown. So does one that is missing though there are pools: it was lost.
 *
 * @param text     '' without a record
 * @param arePools whether the cluster has any, so that there must have been a record
 */
export function recordedPolicy(text: string, arePools: boolean): ClusterPolicy {
  if (text === '') return arePools ? LOST : policyOf(DEFAULT_CLUSTER);
  try {
    const read = JSON.parse(text) as Partial<ClusterPolicy>;
    const { suspend, unreadable, former } = read;
    const file = typeof read.file === 'string' ? read.file : undefined;
    const isText = unreadable === undefined || typeof unreadable === 'string';
    if (!isFormerLimits(read) || typeof suspend !== 'boolean' || !isText) return DAMAGED;
    if (former !== undefined && !isFormerLimits(former)) return DAMAGED;
    return policyOf({ ...read, file, suspend, unreadable, former });
  } catch {
    return DAMAGED;
  }
}

const LOST: ClusterPolicy = {
  ...policyOf(DEFAULT_CLUSTER),
  unreadable: 'the record of what it said last is lost, and git was not read since',
};

const DAMAGED: ClusterPolicy = {
  ...policyOf(DEFAULT_CLUSTER),
  unreadable: 'the record of what it said last is damaged, and git was not read since',
};

const GONE = 'it was there before and is gone: commit it again, which may be without a spec';

/**
 * The policy of the commit in force. Where its file is gone, what it said last is not lost in silence: it stays, and nothing new is
 * started until the file is there again.
 *
 * @param recorded what the file said last, by our own record
 * @param former   what it said in the commit before, where that holds besides
 */
export function policyInForce(cluster: ClusterConfig, recorded: ClusterPolicy, former?: FormerLimits): ClusterPolicy {
  const { maxUnavailable, suspend, windows } = recorded;
  const isSet = maxUnavailable !== null || suspend || windows !== null;
  if (cluster.missing === undefined || cluster.unreadable !== undefined || !isSet)
    return policyOf({ ...cluster, former });
  return { ...policyOf(recorded), unreadable: GONE };
}
