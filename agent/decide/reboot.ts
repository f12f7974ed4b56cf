import type { Decision } from './decision.ts';
import type { Failure } from './failure.ts';
import type { Observation } from './observation.ts';
import type { Change, Reboot, State } from './state.ts';
import type { AgentTiming } from './timing.ts';

export type AwaitedReboot = Extract<Change, { readonly step: 'reboot' }>;

/** Whether the change has yet to be followed by a boot. A boot that ended since the order counts, for any reason. */
export const needsReboot = (reboot: Reboot | undefined, { bootId }: Observation): reboot is Reboot =>
  reboot !== undefined && reboot.boot === bootId;

type RebootStep =
  | { readonly reboot: 'came' }
  | { readonly reboot: 'awaited'; readonly change: AwaitedReboot; readonly again: boolean }
  | { readonly reboot: 'missing'; readonly failure: Failure };

/**
 * Waits for the boot. An order may be given again in the same boot, because it leads to the same reboot; in the next boot
 * nothing is ordered any more, so that no change reboots a machine twice.
 */
export function awaitReboot(
  change: AwaitedReboot,
  reboot: Reboot | undefined,
  seen: Observation,
  pace: AgentTiming,
): RebootStep {
  if (seen.bootId !== change.bootId || reboot === undefined) return { reboot: 'came' };
  const waitedMs = change.waitedMs + Math.min(seen.elapsedMs, pace.maxStepMs);
  if (waitedMs >= reboot.timeoutMs) {
    const whom =
      reboot.by === 'systemd' ? 'systemd was told to reboot it' : 'a reboot daemon was to see the sentinel file';
    const message = `the machine did not reboot within ${Math.round(waitedMs / 60_000)} minutes: ${whom}`;
    return { reboot: 'missing', failure: { reason: 'RebootMissing', message } };
  }
  const again = waitedMs >= nextOrderMs(change.orders, pace);
  return { reboot: 'awaited', change: { ...change, waitedMs, orders: change.orders + (again ? 1 : 0) }, again };
}

/** When the next order is due, since the first one: 30 s, 90 s, 210 s and so on, at last every ten minutes. */
function nextOrderMs(orders: number, { restartRetryMs, maxRestartRetryMs }: AgentTiming): number {
  let dueMs = 0;
  for (let order = 0; order < orders; order += 1) dueMs += Math.min(restartRetryMs * 2 ** order, maxRestartRetryMs);
  return dueMs;
}

/** A change that stops waiting for a reboot withdraws the order, if it still can. */
export function withReboot(before: State, decision: Decision): Decision {
  if (!awaitsReboot(before) || awaitsReboot(decision.next)) return decision;
  return { ...decision, actions: [{ do: 'withdraw-reboot' }, ...decision.actions] };
}

export const awaitsReboot = ({ doing }: State): boolean => doing.phase === 'trial' && doing.change.step === 'reboot';
