import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import { byNeed, classLine, isDone, isHeld } from '#reconciler/telling/report/class-lines.ts';
import type { Paint } from '../paint.ts';

/** Classes below a pool's line; a fleet of forty types of machines has as many. */
const MOST_CLASSES = 6;

/**
 * A line for each class of machines in a pool with computed values, those first that somebody has to know of; none for other pools.
 *
 * @param isWide all of them
 */
export function linesOfClasses({ status = {} }: KubeletPool, paint: Paint, isWide: boolean): readonly string[] {
  const classes = byNeed(status.classes ?? []);
  const shown = isWide ? classes : classes.slice(0, MOST_CLASSES);
  const left = classes.length - shown.length;
  return [
    ...shown.map((each) => paint(isHeld(each) ? 'bad' : isDone(each) ? 'quiet' : 'busy', `  ${classLine(each)}`)),
    ...(left === 0 ? [] : [paint('quiet', `  and ${left} more: -o wide shows every class of machines`)]),
  ];
}
