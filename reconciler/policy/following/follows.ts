import { parseDuration } from '#shared/runtime/duration.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import type { ClusterConfig, Follows } from '../config-repo/loaded-repo.ts';

/**
 * Whom a cluster follows by the commit in force. Where its file is gone or cannot be read, what it said last is not lost in silence.
 *
 * @param recorded what was in force before, by our own record; null for nobody
 */
export function followsInForce(cluster: ClusterConfig, recorded: Follows | null): Follows | null {
  const isSilent = cluster.missing !== undefined || cluster.unreadable !== undefined;
  return cluster.follows ?? (isSilent ? recorded : null);
}

/** A duration that cannot be read never ends. */
export const settledForMs = ({ settledFor }: Follows): Millis => parseDuration(settledFor) ?? Number.POSITIVE_INFINITY;

/** With which keys the notes of a cluster have to be signed; none where they need not be. */
export const signersOf = ({ signers }: Follows, cluster: string): readonly string[] =>
  signers !== undefined && Object.hasOwn(signers, cluster) ? (signers[cluster] ?? []) : [];

/**
 * Whether what was seen under one list of clusters and keys counts under the other: the clusters are the same, and each has a key that it
 * had before. Where all of them are others, the ones before may have been stolen.
 */
export const isSameEvidence = (before: Follows, now: Follows): boolean =>
  before.clusters.length === now.clusters.length &&
  now.clusters.every((cluster) => {
    const [had, has] = [signersOf(before, cluster), signersOf(now, cluster)];
    return before.clusters.includes(cluster) && (has.length === 0 || has.some((key) => had.includes(key)));
  });
