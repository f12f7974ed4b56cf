import type { Halt, HaltCause, HaltImpact } from '#shared/contract/api/kubelet-pool.ts';
import { commitText } from '../commit-reference.ts';
import { runbookOf } from '../runbook.ts';

interface HaltTold {
  readonly halt?: Pick<Halt, 'cause'>;
  readonly impact?: HaltImpact;
}

/** The page that says what to do, from the root of this software's repository. */
export const haltRunbook = ({ risk }: HaltImpact): string => runbookOf(risk === 'users' ? 'PoolAtRisk' : 'PoolHalted');

/**
 * What there is to say of a halt besides its message, a line each: what the config changed, by which commit, what had warned of it, and
 * what is safe now. Nothing for a pool that is not halted. Every screen shows these lines.
 */
export function haltLines({ halt, impact }: HaltTold): readonly string[] {
  if (halt === undefined) return [];
  const { cause } = halt;
  return [
    ...(cause === undefined ? [] : causeLines(cause)),
    ...(impact === undefined ? [] : [`now: ${impact.message}`, `runbook: ${haltRunbook(impact)}`]),
  ];
}

/**
 * The same without what changes while the pool is halted, a line each.
 *
 * @param namesCommit false where the commit is shown elsewhere
 */
export function causeLines(cause: HaltCause, namesCommit = true): readonly string[] {
  const { since, settledAt, by, warnings = [] } = cause;
  const at = settledAt === undefined ? '' : ` (settled ${settledAt})`;
  const changed = changedFields(cause);
  const what =
    since === undefined
      ? 'changed: what ran before cannot be read any more'
      : `changed since ${since === 'local' ? "the nodes' own config" : since}${at}: ${changed}`;
  return [
    what,
    ...(by === undefined || !namesCommit ? [] : [`by commit ${commitText(by)}`]),
    ...warnings.map((line) => `warned before: ${line}`),
  ];
}

/** `maxPods: 114 → 120, maxOpenFiles: not set → 20 and 3 more`. */
export function changedFields({ changed, more = 0 }: Pick<HaltCause, 'changed' | 'more'>): string {
  if (changed.length === 0) return 'no field';
  const texts = changed.map(({ field, before, after }) => `${field}: ${before} → ${after}`);
  return `${texts.join(', ')}${more === 0 ? '' : ` and ${more} more`}`;
}
