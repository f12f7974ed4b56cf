import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import { byUrgency, formatClass, isClassDone, hasNoConfig } from '#reconciler/reporting/pool-status/class-summary.ts';
import type { Paint } from '../paint.ts';

/** Classes below a pool's line; a fleet of forty types of machines has as many. */
const MOST_CLASSES = 6;

/**
 * A line for each class of machines in a pool with computed values, the most urgent first; none for other pools.
 *
 * @param isWide all of them
 */
export function classStatusLines({ status = {} }: KubeletPool, paint: Paint, isWide: boolean): readonly string[] {
  const classes = byUrgency(status.classes ?? []);
  const shown = isWide ? classes : classes.slice(0, MOST_CLASSES);
  const left = classes.length - shown.length;
  return [
    ...shown.map((each) =>
      paint(hasNoConfig(each) ? 'bad' : isClassDone(each) ? 'quiet' : 'busy', `  ${formatClass(each)}`),
    ),
    ...(left === 0 ? [] : [paint('quiet', `  and ${left} more: -o wide shows every class of machines`)]),
  ];
}
