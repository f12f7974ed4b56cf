import { type BackoffOptions, backoffDelay } from '#shared/runtime/backoff.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { CheckpointStore } from './checkpoint/store.ts';
import { withDeadline } from './deadline.ts';
import type { Action } from './decision.ts';
import type { FailureReason } from './failure.ts';
import { installableOf } from './files.ts';
import type { Installer } from './kubelet/installer.ts';
import type { KubeletService } from './kubelet/service.ts';
import type { Memory } from './memory.ts';
import { stageConfig, type StageOptions } from './staging/stage.ts';
import { type Config, nameOf, sameConfig, type State, type Target } from './state.ts';

export interface ActOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly service: KubeletService;
  readonly installer: Installer;
  readonly store: CheckpointStore;
  readonly staging: StageOptions;
  readonly memory: Memory;
}

/** @returns whether it was done; otherwise what comes after it has to wait */
export type Act = (action: Action, state: State, signal: AbortSignal) => Promise<boolean>;

export const STAGING_BACKOFF: BackoffOptions = { firstMs: 2_000, maxMs: 5 * 60_000, jitter: 0.5 };
const STAGING_TIMEOUT_MS = 60_000;
/** systemd gives a unit 90 s to stop before it kills it. */
const RESTART_TIMEOUT_MS = 2 * 60_000;

/** Carries actions out. Decides nothing; never throws: what went wrong is in the next observation, or in the status. */
export function createAct(options: ActOptions): Act {
  const { clock, random, log, service, installer, store, memory } = options;

  const stage = async (config: Config, signal: AbortSignal): Promise<boolean> => {
    const faultsBefore = sameConfig(memory.staged?.config ?? null, config) ? (memory.staged?.faults ?? 0) : 0;
    const result = await withDeadline(clock, STAGING_TIMEOUT_MS, signal, (inTime) =>
      stageConfig(config, options.staging, inTime),
    );
    const faults = result.outcome === 'unavailable' ? faultsBefore + 1 : 0;
    const retryAt = clock.monotonic() + backoffDelay(faults, STAGING_BACKOFF, random());
    memory.staged = { config, result, retryAt, faults };
    return true;
  };

  const install = async (target: Target): Promise<boolean> => {
    const found = await installableOf(target, store.payloads);
    if ('lost' in found) return false;
    return attempt('CannotInstall', `${nameOf(target)} cannot be installed`, async () => {
      await installer.install(await installer.plan(found.installable));
    });
  };

  const restart = (because: string, signal: AbortSignal): Promise<boolean> => {
    memory.restart = 'none';
    memory.lastExit = undefined;
    return attempt('RestartFailed', 'the kubelet cannot be restarted', async () => {
      memory.restart = 'failed';
      await withDeadline(clock, RESTART_TIMEOUT_MS, signal, (inTime) => service.restart(because, inTime));
      memory.restart = 'done';
    });
  };

  const attempt = async (reason: FailureReason, what: string, work: () => Promise<void>): Promise<boolean> => {
    try {
      await work();
      memory.fault = null;
      return true;
    } catch (error) {
      const message = `${what}: ${reasonOf(error)}`;
      if (memory.fault?.message !== message) log.error({ err: error, reason }, 'action failed');
      memory.fault = { reason, message };
      return false;
    }
  };

  const collectGarbage = async (state: State): Promise<boolean> => {
    try {
      await store.collectGarbage(state);
    } catch (error) {
      log.warn({ err: error }, 'old checkpoints cannot be removed');
    }
    return true;
  };

  return (action, state, signal) => {
    switch (action.do) {
      case 'stage':
        return stage(action.config, signal);
      case 'install':
        return install(action.target);
      case 'restart-kubelet':
        return restart(action.because, signal);
      case 'collect-garbage':
        return collectGarbage(state);
    }
  };
}
