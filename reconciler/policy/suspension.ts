import { SUSPEND_ANNOTATION } from '#shared/contract/api/group.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import { fromTimestamp, type Millis, toTimestamp } from '#shared/runtime/clock.ts';

/** A suspension of one pool by its annotation. */
export interface Suspension {
  /** The annotation, with the time in it; '' where nobody says why. */
  readonly says: string;
  /** When it ends by itself; null: when a person resumes the pool. */
  readonly until: Millis | null;
}

/** The annotation of a suspension that ends by itself: `until 2026-11-22T10:00:00Z: storage is being moved`. */
export const suspendedUntil = (until: Millis, because: string): string => `until ${toTimestamp(until)}: ${because}`;

/** RFC 3339, with `Z` or an offset: without one, each machine would read its own time into it. */
export const momentOf = (text: string): Millis | undefined =>
  /T[\d:.]+(?:Z|[+-]\d\d:\d\d)$/.test(text) ? fromTimestamp(text) : undefined;

/** By the annotation, whether or not its time is over; null for none. A time that cannot be read never comes. */
export function annotatedSuspension({ metadata }: Pick<KubeletPool, 'metadata'>): Suspension | null {
  const says = metadata.annotations?.[SUSPEND_ANNOTATION];
  if (says === undefined) return null;
  return { says, until: momentIn(says) };
}

/** When a suspension that says this ends by itself; null for never. */
export const momentIn = (says: string): Millis | null =>
  momentOf(/^until (\S+?):?(?:\s|$)/.exec(says)?.[1] ?? '') ?? null;

/** @returns null also once its time is over, whose annotation stays: nobody has to remove it */
export function suspensionAt(pool: Pick<KubeletPool, 'metadata'>, now: Millis): Suspension | null {
  const suspension = annotatedSuspension(pool);
  return now < (suspension?.until ?? Infinity) ? suspension : null;
}
