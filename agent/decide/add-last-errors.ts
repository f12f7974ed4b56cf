import type { NodeError } from '#shared/contract/api/kubelet-node.ts';
import type { LastErrorsQuery } from '../ports/last-errors.ts';
import type { Decision } from './decision.ts';
import type { FailureReason } from './failure.ts';
import type { Observation } from './observation.ts';
import type { State } from './state.ts';

/** Failures of a trial that a kubelet may have explained. */
const EXPLAINED: ReadonlySet<string> = new Set<FailureReason>([
  'CrashLoop',
  'Flapping',
  'NotHealthy',
  'NodeNotReady',
  'NodeHarmed',
  'RestartFailed',
  'UnhealthyBefore',
]);

/** Which of the kubelet's last errors belong to what a decision has just found to have failed; undefined where nothing has. */
export function lastErrorsQuery(before: State, { next }: Decision, seen: Observation): LastErrorsQuery | undefined {
  if (!hasFailed(before, next)) return undefined;
  const { guard, service } = seen;
  if (before.doing.phase !== 'trial') return { since: undefined, notOf: [] };
  const { since, before: untouched } = before.doing;
  // The run that the guard began with what was good before has nothing to do with it.
  const guards = guard.guard === 'fired' && guard.restarted ? [service.run] : [];
  return { since, notOf: [untouched?.run ?? null, ...guards].filter((run) => run !== null) };
}

function hasFailed(before: State, { error, rejected, refusedBase, doing }: State): boolean {
  if (before.doing.phase === 'trial') {
    const isRejected = rejected.some((entry) => !before.rejected.includes(entry) && EXPLAINED.has(entry.reason));
    return doing.phase === 'falling-back' && (isRejected || refusedBase !== before.refusedBase);
  }
  return error !== before.error && (error?.reason === 'FallbackFailed' || error?.reason === 'KubeletBroken');
}

/** The decision, with the kubelet's last errors beside what failed. @param words the newest first */
export function withLastErrors(before: State, decision: Decision, words: readonly string[]): Decision {
  if (words.length === 0) return decision;
  const [newest, ...older] = words.map((line) => `“${line}”`);
  const addition = `. The kubelet’s last error: ${newest}${older.length === 0 ? '' : `; before it: ${older.join(', ')}`}`;
  const explained = <T extends Pick<NodeError, 'message'> | null>(told: T, was?: T): T =>
    told === null || told === was ? told : { ...told, message: told.message + addition };
  const { next } = decision;
  const { error, rejected, refusedBase } = next;
  return {
    ...decision,
    next: {
      ...next,
      error: explained(error, before.error),
      rejected: rejected.map((entry) => (before.rejected.includes(entry) ? entry : explained(entry))),
      refusedBase: explained(refusedBase, before.refusedBase),
    },
  };
}
