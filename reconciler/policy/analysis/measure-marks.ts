import { MEASURE_ANNOTATION } from '#shared/contract/api/group.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';

/** More nodes make no verdict surer, and each of them is written to once in a rollout. */
const MOST_COMPARED = 40;

/** What a node of the pool is to be measured for; null takes the annotation away. */
interface MeasureMark {
  readonly node: KubeletNode;
  readonly mark: string | null;
}

/**
 * The marks that begin a window of measures. All nodes of the pool measure, so that each knows its values before; the first of those that
 * wait begin a new window with the rollout. An assigned node keeps its mark: the assignment begins its window.
 *
 * @param mark of the rollout; null if the pool asks for no analysis
 */
export function measureMarks(
  mark: string | null,
  assigned: readonly KubeletNode[],
  waiting: readonly KubeletNode[],
): readonly MeasureMark[] {
  if (mark === null) return [...assigned, ...waiting].filter(isMeasured).map((node) => ({ node, mark: null }));
  const compared = waiting
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
    .slice(0, MOST_COMPARED)
    .filter((node) => markOf(node) !== mark);
  const chosen = new Set(compared);
  const others = [...assigned, ...waiting].filter((node) => !isMeasured(node) && !chosen.has(node));
  return [...compared, ...others].map((node) => ({ node, mark }));
}

const markOf = ({ metadata }: KubeletNode): string | undefined => metadata.annotations?.[MEASURE_ANNOTATION];
export const isMeasured = (node: KubeletNode): boolean => markOf(node) !== undefined;
