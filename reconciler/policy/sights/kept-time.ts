import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import { fromTimestamp, type Millis } from '#shared/runtime/clock.ts';

/** A time that a reconciler wrote; one from the future counts as now. */
export function keptTime(node: KubeletNode | undefined, annotation: string, now: Millis): Millis | undefined {
  const at = fromTimestamp(node?.metadata.annotations?.[annotation]);
  return at === undefined ? undefined : Math.min(at, now);
}
