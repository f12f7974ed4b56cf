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
