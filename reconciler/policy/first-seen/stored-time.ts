import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import { fromTimestamp, type Millis } from '#shared/runtime/clock.ts';

/** The reconciler's own time, and how far it is ahead of the one that wrote down what is kept. */
export interface LocalTime {
  readonly now: Millis;
  /** Includes the time without a leader. Absent for nothing. */
  readonly ahead?: Millis;
}

/** A time that a reconciler wrote, on the clock of this one; one from the future counts as now. */
export function storedTime(
  node: KubeletNode | undefined,
  annotation: string,
  { now, ahead = 0 }: LocalTime,
): Millis | undefined {
  const at = fromTimestamp(node?.metadata.annotations?.[annotation]);
  return at === undefined ? undefined : Math.min(at + ahead, now);
}
