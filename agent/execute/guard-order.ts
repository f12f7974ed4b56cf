import type { CheckpointStore } from '../checkpoint/checkpoint-store.ts';
import { bootLimitsOf } from '../decide/boot-guard.ts';
import type { Action } from '../decide/decision.ts';
import { guardLimitsOf, targetIdOf, trialIdOf } from '../decide/trial-guard.ts';
import { installableOf } from '../observe/managed-files.ts';
import type { GuardOrder } from '../ports/guard.ts';
import type { Installer } from '../ports/installer.ts';
import type { Target } from '../decide/state.ts';

/**
 * What the guard has to do where this trial goes wrong unseen: what the agent would do, and a little later.
 *
 * @throws GitopsError `INSTALL_*` where one of the two configs cannot be installed
 */
export async function guardOrderFor(
  { trial, to, watch }: Extract<Action, { readonly do: 'arm-guard' }>,
  payloads: Pick<CheckpointStore['payloads'], 'read'>,
  installer: Pick<Installer, 'plan' | 'fallbackFiles' | 'fallbackLimits'>,
): Promise<GuardOrder> {
  const plan = async (target: Target) => {
    const found = await installableOf(target, payloads);
    return 'lost' in found ? undefined : await installer.plan(found.installable);
  };
  const local = await installer.plan(null);
  const back = await plan(to);
  const there = (await plan(trial.config)) ?? local;
  return {
    trial: trialIdOf(trial),
    to: targetIdOf(back === undefined ? null : to),
    ...(watch === undefined ? guardLimitsOf(trial.config.trial) : { ...bootLimitsOf(trial.config.trial), watch }),
    restore: await installer.fallbackFiles(there, back ?? local),
    limits: await installer.fallbackLimits(there, back ?? local),
  };
}
