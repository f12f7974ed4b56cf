import type { Action } from './decision.ts';
import type { Failure } from './failure.ts';
import type { Observation } from './observation.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { type Change, type Judged, nameOf, type Reboot, type Target, type TrialTerms } from './state.ts';
import { startHealthTally } from './health-verdict.ts';
import type { AgentTiming } from './timing.ts';
import { type AwaitedReboot, awaitReboot, needsReboot } from './reboot.ts';
import { isStoppedByPerson } from './stopped-by-person.ts';

/** What becomes of a change with one look. */
type Advance =
  | { readonly advance: 'going'; readonly change: Change; readonly actions: readonly Action[]; readonly moved: boolean }
  /** The kubelet was restarted with the new files; the rest is judging. */
  | { readonly advance: 'judging'; readonly judged: Judged }
  /** It cannot be installed, or the machine does not reboot. */
  | { readonly advance: 'stuck'; readonly failure: Failure };

interface ChangeOptions {
  readonly target: Target;
  readonly terms: TrialTerms;
  readonly because: string;
  /** It has to come to an end one way or the other: what cannot be done for too long is given up. */
  readonly mayFail: boolean;
  /** Where a restart of the kubelet is not enough. */
  readonly reboot?: Reboot | undefined;
}

/** Takes a change one step on: install, then restart or reboot, then judge. Orders no restart before the files are in place. */
export function advanceChange(change: Change, seen: Observation, of: ChangeOptions, pace: AgentTiming): Advance {
  switch (change.step) {
    case 'install':
      return install(change, seen, of, pace);
    case 'restart':
      return wasRestarted(change, seen)
        ? going({ step: 'judge', judged: startHealthTally(seen) })
        : waitForRestart(change, seen, of, pace);
    case 'reboot':
      return reboot(change, seen, of, pace);
    case 'judge':
      return { advance: 'judging', judged: change.judged };
  }
}

const going = (change: Change, ...actions: readonly Action[]): Advance => ({
  advance: 'going',
  change,
  actions,
  moved: true,
});

function install(change: Install, seen: Observation, of: ChangeOptions, pace: AgentTiming): Advance {
  const { target, because, reboot: order } = of;
  const { files, service, bootId, fault } = seen;
  switch (files.files) {
    case 'installed':
      if (needsReboot(order, seen)) {
        return going({ step: 'reboot', bootId, orders: 1, waitedMs: 0 }, { do: 'reboot', because, reboot: order });
      }
      if (lasts(change.running, seen)) return going({ step: 'judge', judged: startHealthTally(seen) });
      // No kubelet has begun in this run of its unit: the one that does reads the files.
      if (seen.starter !== undefined) return going({ step: 'judge', judged: startHealthTally(seen) });
      // Who stopped it starts it again, and it reads the files then.
      if (isStoppedByPerson(seen)) return going({ step: 'restart', runBefore: null, bootId, orders: 0, waitedMs: 0 });
      return going(
        { step: 'restart', runBefore: service.run, bootId, orders: 1, waitedMs: 0 },
        { do: 'restart-kubelet', because, target },
      );
    case 'differ': {
      const message =
        fault?.message ?? `${nameOf(target)} cannot be installed: ${files.path ?? 'a file'} stays as it is`;
      const later = spend(change, seen, { reason: 'CannotInstall', message }, of, pace);
      if ('advance' in later) return later;
      return { advance: 'going', change: later, actions: [{ do: 'install', target }], moved: false };
    }
    case 'lost':
    case 'blocked': {
      const reason = files.files === 'lost' ? 'CheckpointLost' : 'CannotInstall';
      const failure: Failure = { reason, message: files.message };
      // A proven config is not given up because another process holds a file open.
      const isForGood = files.files === 'lost' ? files.mayPass !== true : files.forGood;
      if (isForGood) return { advance: 'stuck', failure };
      const later = spend(change, seen, failure, of, pace);
      return 'advance' in later ? later : { advance: 'going', change: later, actions: [], moved: false };
    }
  }
}

/** An order may be given three times, and be carried out slowly. What has to be done by hand until then was noticed. */
const deadlineMs = ({ startTimeoutMs }: TrialTerms, { restartRetryMs }: AgentTiming): Millis =>
  startTimeoutMs + 3 * restartRetryMs;

/** A call that hangs delays the next look, and that delay counts. What happened in a longer gap is unknown. */
const MOST_SPENT_MS: Millis = 120_000;

/** Counts the time in which a step does not get on. Room on the disk is waited for, however long that takes. */
function spend<T extends Install | Restart>(
  change: T,
  { elapsedMs, fault }: Observation,
  failure: Failure,
  { terms, mayFail }: ChangeOptions,
  pace: AgentTiming,
): T | Extract<Advance, { advance: 'stuck' }> {
  if (fault?.isFull === true) return change;
  const mostMs = deadlineMs(terms, pace);
  // No further: what has no end would be written to disk with every look.
  const spentMs = Math.min((change.spentMs ?? 0) + Math.min(elapsedMs, MOST_SPENT_MS), mostMs);
  return mayFail && spentMs >= mostMs ? { advance: 'stuck', failure } : { ...change, spentMs };
}

/** Whether a change that must not fail has taken longer than any should: only a person gets it going again. */
export const isOverdue = (change: Change, terms: TrialTerms, pace: AgentTiming): boolean =>
  (change.step === 'install' || change.step === 'restart') && (change.spentMs ?? 0) >= deadlineMs(terms, pace);

function reboot(
  change: AwaitedReboot,
  seen: Observation,
  { reboot: order, because }: ChangeOptions,
  pace: AgentTiming,
): Advance {
  const awaited = awaitReboot(change, order, seen, pace);
  if (awaited.reboot === 'missing') return { advance: 'stuck', failure: awaited.failure };
  if (awaited.reboot === 'came' || order === undefined) return going({ step: 'judge', judged: startHealthTally(seen) });
  const actions: readonly Action[] = awaited.again ? [{ do: 'reboot', because, reboot: order }] : [];
  return { advance: 'going', change: awaited.change, actions, moved: false };
}

type Install = Extract<Change, { step: 'install' }>;

const lasts = (running: Install['running'], { service, bootId }: Observation): boolean =>
  running !== undefined && running.run === service.run && running.bootId === bootId;

type Restart = Extract<Change, { step: 'restart' }>;

/**
 * Whether the kubelet was started since the files were put in place, by us or not. Where the service manager knows no
 * runs, only our own order tells.
 */
function wasRestarted(
  { runBefore, bootId, orders }: Restart,
  { service, restart, bootId: bootNow }: Observation,
): boolean {
  if (bootNow !== bootId) return true;
  // Nothing was ordered yet: the restart of before was another.
  if (orders === 0) return service.run !== null;
  if (service.run === null) return restart === 'done' || (runBefore !== null && service.state !== 'unknown');
  return service.run !== runBefore;
}

/** An order that came to nothing is given again, ever more seldom: if it was carried out, the run would be another. */
function waitForRestart(before: Restart, seen: Observation, of: ChangeOptions, pace: AgentTiming): Advance {
  if (isStoppedByPerson(seen)) return { advance: 'going', change: before, actions: [], moved: false };
  const { terms, because, target } = of;
  const message =
    seen.fault?.message ?? `the kubelet was told ${before.orders} times to restart, and runs on as it was`;
  const change = spend(before, seen, { reason: 'RestartFailed', message }, of, pace);
  if ('advance' in change) return change;
  const waitedMs = change.waitedMs + Math.min(seen.elapsedMs, pace.maxStepMs);
  const firstMs = seen.restart === 'failed' ? pace.restartRetryMs : Math.max(pace.restartRetryMs, terms.startTimeoutMs);
  const patienceMs = Math.min(firstMs * 2 ** Math.min(change.orders - 1, 10), pace.maxRestartRetryMs);
  if (waitedMs < patienceMs) return { advance: 'going', change: { ...change, waitedMs }, actions: [], moved: false };
  const again = `${because} (order ${change.orders + 1}: the kubelet still runs without ${nameOf(target)})`;
  return {
    advance: 'going',
    change: { ...change, orders: change.orders + 1, waitedMs: 0 },
    actions: [{ do: 'restart-kubelet', because: again, target }],
    moved: false,
  };
}
