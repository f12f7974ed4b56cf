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
  'MachineRebooted',
  'NotHealthy',
  'NodeNotReady',
  'NodeHarmed',
  'RestartFailed',
  'UnhealthyBefore',
]);

/** And outside of trials. */
const AT_REST: ReadonlySet<string> = new Set<FailureReason>(['FallbackFailed', 'KubeletBroken', 'ProvenConfigFails']);

/** Which of the kubelet's last errors belong to what a decision has just found to have failed; undefined where nothing has. */
export function lastErrorsQuery(before: State, { next }: Decision, seen: Observation): LastErrorsQuery | undefined {
  if (!hasFailed(before, next)) return undefined;
  const { guard, service } = seen;
  if (before.doing.phase !== 'trial') return { since: undefined, notOf: [] };
  const { since, before: untouched } = before.doing;
  // The run that the guard began with what was good before has nothing to do with it.
  const guards = guard.guard === 'fired' && guard.restarted ? [service.run] : [];
  // The boot that there is now has not ended.
  const present = next.error?.reason === 'MachineRebooted' ? [service.run] : [];
  return { since, notOf: [untouched?.run ?? null, ...guards, ...present].filter((run) => run !== null) };
}

function hasFailed(before: State, { error, rejected, refusedBase, doing }: State): boolean {
  if (before.doing.phase === 'trial') {
    const isRejected = rejected.some((entry) => !before.rejected.includes(entry) && EXPLAINED.has(entry.reason));
    return doing.phase === 'falling-back' && (isRejected || refusedBase !== before.refusedBase);
  }
  return error !== null && error !== before.error && AT_REST.has(error.reason);
}

/** A failure in words, as a state has it in one place or several. */
export type Told = Pick<NodeError, 'message' | 'at'>;

/** What a decision says of what it has just found to have failed. */
export function toldBy(before: State, { next }: Decision): readonly Told[] {
  const { error, rejected, refusedBase } = next;
  return [
    error === before.error ? null : error,
    ...rejected.filter((entry) => !before.rejected.includes(entry)),
    refusedBase === before.refusedBase ? null : refusedBase,
  ].filter((told) => told !== null);
}

/** The decision, with the kubelet’s last errors beside what failed. @param words the newest first */
export function withLastErrors(decision: Decision, told: readonly Told[], words: readonly string[]): Decision {
  if (words.length === 0) return decision;
  const [newest, ...older] = words.map((line) => `“${line}”`);
  const addition = `. The kubelet’s last error: ${newest}${older.length === 0 ? '' : `; before it: ${older.join(', ')}`}`;
  const lacks = (it: Told | null): boolean =>
    it !== null && told.some(({ message, at }) => it.message === message && it.at === at);
  const explained = <T extends Told | null>(it: T): T =>
    it !== null && lacks(it) ? { ...it, message: it.message + addition } : it;
  const { next } = decision;
  // A state that says all of it already stays the same object.
  if (![next.error, next.refusedBase, ...next.rejected].some(lacks)) return decision;
  return {
    ...decision,
    next: {
      ...next,
      error: explained(next.error),
      rejected: next.rejected.map((entry) => explained(entry)),
      refusedBase: explained(next.refusedBase),
    },
  };
}
