import { analysisPending } from './analysis.ts';
import { baseRefused } from './base-refused.ts';
import { absent } from './absent.ts';
import { busy, poolBlocked } from './blocked.ts';
import type { Hold } from './hold.ts';
import { halted, haltedForNewClass, noConfigSource } from './impossible.ts';
import { noCommit } from './no-commit.ts';
import type { HoldCheck, HoldQuestion } from './hold-question.ts';
import { rest } from './rest.ts';
import { suspended } from './suspended.ts';
import { unheard } from './unheard.ts';
import { unselected } from './unselected.ts';
import { wave } from './wave.ts';
import { windowClosed } from './window-closed.ts';

/** Nothing can be done about a node against these. */
export const OBSTACLES: readonly HoldCheck[] = [
  absent('no-agent'),
  noCommit,
  unheard,
  unselected,
  absent('leaving'),
  haltedForNewClass,
  absent('not-computable'),
  absent('not-valid'),
  halted,
  noConfigSource,
  baseRefused,
];

/** A node in the middle of a change is told something newer only through these: people first, then the calendar, then others. */
export const GATES: readonly HoldCheck[] = [suspended, windowClosed, poolBlocked, busy, rest, wave, analysisPending];

/** A node that has yet to begin waits for these. */
export const BEFORE_BEGINNING: readonly HoldCheck[] = [absent('not-ready'), absent('cordoned'), ...GATES];

/** The first of these reasons that holds the node. */
export function firstHold(checks: readonly HoldCheck[], question: HoldQuestion): Hold | null {
  for (const check of checks) {
    const found = check(question);
    if (found !== null) return found;
  }
  return null;
}
