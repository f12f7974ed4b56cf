import type { ClusterConfig } from './repo/loaded.ts';
import { DEFAULT_CLUSTER } from './repo/read-cluster.ts';

/** What the cluster's file says of rollouts in all pools. */
export type ClusterPolicy = Pick<ClusterConfig, 'maxUnavailable' | 'suspend' | 'windows' | 'unreadable'>;

export const policyOf = ({ maxUnavailable, suspend, windows, unreadable }: ClusterPolicy): ClusterPolicy => ({
  maxUnavailable,
  suspend,
  windows,
  ...(unreadable === undefined ? {} : { unreadable }),
});

/**
 * The policy as our own record has it, for a process that has not read git yet. A record that somebody damaged counts as
 * unreadable: nobody knows what it forbade. So does one that is missing though there are pools: it was lost.
 *
 * @param text     '' where none is recorded
 * @param arePools whether the cluster has any, so that there must have been a record
 */
export function recordedPolicy(text: string, arePools: boolean): ClusterPolicy {
  if (text === '') return arePools ? LOST : policyOf(DEFAULT_CLUSTER);
  try {
    const { maxUnavailable, suspend, windows, unreadable } = JSON.parse(text) as Partial<ClusterPolicy>;
    const isAmount =
      maxUnavailable === null || typeof maxUnavailable === 'number' || typeof maxUnavailable === 'string';
    const areWindows = windows === null || (Array.isArray(windows?.allow) && Array.isArray(windows.deny));
    const isText = unreadable === undefined || typeof unreadable === 'string';
    if (!isAmount || typeof suspend !== 'boolean' || !areWindows || !isText) return DAMAGED;
    return { maxUnavailable, suspend, windows, ...(unreadable === undefined ? {} : { unreadable }) };
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
