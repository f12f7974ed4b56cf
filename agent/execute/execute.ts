import type { Clock } from '#shared/runtime/clock.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { CheckpointStore } from '../checkpoint/checkpoint-store.ts';
import { withDeadline } from '../host/deadline.ts';
import { isDiskFull } from '../host/disk/disk-full.ts';
import { isTransientDiskError } from '../host/disk/transient-errors.ts';
import type { Action } from '../decide/decision.ts';
import type { FailureReason } from '../decide/failure.ts';
import { installableOf } from '../observe/managed-files.ts';
import type { Guard } from '../ports/guard.ts';
import { guardFaultAfter } from './guard-fault.ts';
import { guardOrderFor } from './guard-order.ts';
import type { Installer } from '../ports/installer.ts';
import type { KubeletService } from '../ports/kubelet-service.ts';
import { createLogLimiter } from '../report/log-limiter.ts';
import type { MutableMemory } from './mutable-memory.ts';
import type { Rebooter } from './rebooter.ts';
import { stageConfig, type StageOptions } from '../staging/stage.ts';
import { addRepair } from '../decide/repair-limit.ts';
import type { TriedConfig } from '../decide/process-memory.ts';
import { activeOf, type Config, nameOf, neededBases, type State, type Target } from '../decide/state.ts';
import { stagingResultAfter } from './staging-result.ts';

export interface ExecuteOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly service: KubeletService;
  readonly installer: Installer;
  readonly guard: Guard;
  readonly rebooter: Rebooter;
  /** Takes everything of ours off the node. @throws where that cannot be done (yet) */
  readonly leave: () => Promise<void>;
  readonly store: CheckpointStore;
  readonly staging: StageOptions;
  readonly memory: MutableMemory;
}

/** @returns whether it was done; otherwise what comes after it has to wait */
export type Execute = (action: Action, state: State, signal: AbortSignal) => Promise<boolean>;

const STAGING_TIMEOUT_MS = 60_000;
/** systemd gives a unit 90 s to stop before it kills it. */
const RESTART_TIMEOUT_MS = 2 * 60_000;

type Recheck = Extract<Action, { readonly do: 'recheck' }>;

/** Carries actions out. Decides nothing; never throws: what went wrong is in the next observation, or in the status. */
export function createExecute(options: ExecuteOptions): Execute {
  const { clock, random, log, service, installer, guard, rebooter, store, memory } = options;
  const faults = createLogLimiter(log, clock);

  const check = async (
    config: Config,
    before: TriedConfig | null,
    signal: AbortSignal,
    staging = options.staging,
  ): Promise<TriedConfig> => {
    const result = await withDeadline(clock, STAGING_TIMEOUT_MS, signal, (inTime) =>
      stageConfig(config, staging, inTime),
    );
    return stagingResultAfter(before, config, result, clock.monotonic(), random());
  };

  const stage = async (config: Config, signal: AbortSignal): Promise<boolean> => {
    memory.staged = await check(config, memory.staged, signal);
    return true;
  };

  const checkCandidate = async (config: Config, retry: string, signal: AbortSignal): Promise<boolean> => {
    const staging = { ...options.staging, beforeDrain: true };
    memory.candidate = { ...(await check(config, memory.candidate, signal, staging)), retry };
    return true;
  };

  const recheck = async ({ config, remedy }: Recheck, signal: AbortSignal): Promise<boolean> => {
    memory.rechecked = { ...(await check(config, memory.rechecked, signal)), remedy, isNew: true };
    return true;
  };

  const install = async (target: Target, { lastKnownGood }: State): Promise<boolean> => {
    const found = await installableOf(target, store.payloads);
    if ('lost' in found) return false;
    return attempt('CannotInstall', `${nameOf(target)} cannot be installed`, async () => {
      if (lastKnownGood === null && target !== null) await installer.takeAsLocal();
      await installer.install(await installer.plan(found.installable));
    });
  };

  const repair = async (target: Target, state: State): Promise<boolean> => {
    memory.repairs = addRepair(memory.repairs, clock.monotonic());
    log.warn({ config: nameOf(target) }, 'putting back what somebody else changed');
    const isDone = await install(target, state);
    // At rest, of all that the node's owner wrote only the last is still of use.
    return isDone && state.doing.phase === 'idle' ? collectGarbage(state) : isDone;
  };

  const restart = async (target: Target, because: string, signal: AbortSignal): Promise<boolean> => {
    memory.restart = 'none';
    memory.restarts += 1;
    const found = await installableOf(target, store.payloads);
    return attempt('RestartFailed', 'the kubelet cannot be restarted', async () => {
      memory.restart = 'failed';
      // A kubelet that still runs may have written its managers' state again since that was put aside.
      if (!('lost' in found)) await installer.install(await installer.plan(found.installable));
      await withDeadline(clock, RESTART_TIMEOUT_MS, signal, (inTime) => service.restart(because, inTime));
      memory.restart = 'done';
    });
  };

  const startDown = async (target: Target, because: string, signal: AbortSignal): Promise<boolean> => {
    memory.startedAt = clock.monotonic();
    const order = (inTime: AbortSignal): Promise<void> =>
      service.start === undefined ? service.restart(because, inTime) : service.start(because, inTime);
    const found = await installableOf(target, store.payloads);
    return attempt('RestartFailed', 'the kubelet cannot be started', async () => {
      if (!('lost' in found)) await installer.install(await installer.plan(found.installable));
      await withDeadline(clock, RESTART_TIMEOUT_MS, signal, order);
    });
  };

  const attempt = async (reason: FailureReason, what: string, work: () => Promise<void>): Promise<boolean> => {
    try {
      await work();
      memory.fault = null;
      return true;
    } catch (error) {
      const message = `${what}: ${reasonOf(error)}`;
      faults.error({ err: error, reason }, 'action failed');
      memory.fault = {
        reason,
        message,
        isFull: isDiskFull(error),
        ...(isTransientDiskError(error) ? { mayPass: true } : {}),
      };
      return false;
    }
  };

  const withdrawReboot = async (): Promise<boolean> => {
    try {
      await rebooter.withdraw();
    } catch (error) {
      faults.warn({ err: error }, 'the order to reboot cannot be taken back');
    }
    return true;
  };

  const arm = async (action: Extract<Action, { readonly do: 'arm-guard' }>): Promise<boolean> => {
    try {
      await guard.arm(await guardOrderFor(action, store.payloads, installer));
      memory.guardFault = null;
      return true;
    } catch (error) {
      faults.error({ err: error }, 'the guard cannot be made ready');
      memory.guardFault = guardFaultAfter(memory.guardFault, action.trial, error, clock.monotonic(), random());
      return false;
    }
  };

  /** What comes after must not wait for it: the way back is worth more than its guard. */
  const callGuard = async (what: 'disarm' | 'heartbeat'): Promise<boolean> => {
    try {
      await guard[what]();
      if (what === 'disarm') memory.guardFault = null;
    } catch (error) {
      faults.warn({ err: error, what }, 'the guard cannot be reached');
    }
    return true;
  };

  const leave = (): Promise<boolean> =>
    attempt('CannotInstall', 'not everything of ours can be taken off this node', async () => {
      await options.leave();
      memory.left = true;
      log.info({}, 'everything of ours is off this node');
    });

  const collectGarbage = async (state: State): Promise<boolean> => {
    try {
      await store.collectGarbage(state, memory.staged?.config);
      await installer.forgetState();
      await installer.settle({
        config: activeOf(state),
        needed: neededBases(state),
        refused: state.refusedBase?.sha256 ?? null,
      });
    } catch (error) {
      faults.warn({ err: error }, 'old checkpoints cannot be removed');
    }
    return true;
  };

  return (action, state, signal) => {
    switch (action.do) {
      case 'stage':
        return stage(action.config, signal);
      case 'check':
        return checkCandidate(action.config, action.retry, signal);
      case 'recheck':
        return recheck(action, signal);
      case 'install':
        return install(action.target, state);
      case 'restart-kubelet':
        return restart(action.target, action.because, signal);
      case 'start-kubelet':
        return startDown(action.target, action.because, signal);
      case 'repair':
        return repair(action.target, state);
      case 'reboot':
        return attempt('RebootFailed', 'the machine cannot be rebooted', () =>
          withDeadline(clock, RESTART_TIMEOUT_MS, signal, (inTime) =>
            rebooter.order(action.reboot, action.because, inTime),
          ),
        );
      case 'withdraw-reboot':
        return withdrawReboot();
      case 'arm-guard':
        return arm(action);
      case 'reassure-guard':
        return callGuard('heartbeat');
      case 'disarm-guard':
        return callGuard('disarm');
      case 'leave':
        return leave();
      case 'collect-garbage':
        return collectGarbage(state);
    }
  };
}
