import type { CheckpointStore } from '../checkpoint/store.ts';
import { targetIdOf, trialIdOf } from '../decide/guard.ts';
import { installableOf } from '../observe/files.ts';
import type { GuardOrder } from '../ports/guard.ts';
import type { Installer } from '../ports/installer.ts';
import type { Target, Trial } from '../decide/state.ts';

/** One more than a trial forgives may be somebody's own doing: a kubelet that was restarted by hand. */
const SPARE_STARTS = 1;
const ORDERED_START = 1;

/**
 * What the guard has to do where this trial goes wrong unseen: what the agent would do, and a little later. It waits for
 * an agent that is silent as long as a whole trial takes.
 *
 * @throws GitopsError `INSTALL_*` where one of the two configs cannot be installed
 */
export async function guardOrderFor(
  trial: Trial,
  to: Target,
  payloads: Pick<CheckpointStore['payloads'], 'read'>,
  installer: Pick<Installer, 'plan' | 'wayBack'>,
): Promise<GuardOrder> {
  const { durationMs, startTimeoutMs, maxRestarts } = trial.config.trial;
  const plan = async (target: Target) => {
    const found = await installableOf(target, payloads);
    return 'lost' in found ? undefined : await installer.plan(found.installable);
  };
  const local = await installer.plan(null);
  const back = await plan(to);
  return {
    trial: trialIdOf(trial),
    to: targetIdOf(back === undefined ? null : to),
    maxStarts: ORDERED_START + maxRestarts + SPARE_STARTS,
    silenceSeconds: Math.ceil((durationMs + startTimeoutMs) / 1000),
    restore: await installer.wayBack((await plan(trial.config)) ?? local, back ?? local),
  };
}
