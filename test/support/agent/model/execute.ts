import type { Execute } from '#agent/execute/execute.ts';
import type { Action } from '#agent/decide/decision.ts';
import { guardFaultAfter } from '#agent/execute/guard-fault.ts';
import type { MutableMemory } from '#agent/execute/mutable-memory.ts';
import { stagingResultAfter } from '#agent/execute/staging-result.ts';
import { addRepair } from '#agent/decide/repair-limit.ts';
import type { TriedConfig } from '#agent/decide/process-memory.ts';
import type { StageResult } from '#agent/decide/observation.ts';
import { activeOf, type Config, neededBases, neededConfigs, type State, type Target } from '#agent/decide/state.ts';
import type { ModelFiles } from './files.ts';
import type { ModelGuard } from './guard.ts';
import type { Fate, Host } from './host.ts';
import type { ModelKubelet } from './kubelet.ts';
import type { ModelRecords } from './records.ts';

export interface ActOptions {
  readonly host: Host;
  readonly kubelet: ModelKubelet;
  readonly guard: ModelGuard;
  readonly files: ModelFiles;
  readonly records: ModelRecords;
  readonly checkpoints: Set<string>;
  readonly fateOf: (target: Target) => Fate;
  readonly memory: MutableMemory;
}

/** Where a payload lies. */
export const checkpointOf = ({ source }: Config): string => `${source.uid}/${source.sha256}`;

type DoAction = (action: Action, state: State) => Awaited<ReturnType<Execute>>;

/** Carries actions out on the model: as `agent/execute/execute.ts` does. */
export function createModelExecute(options: ActOptions): DoAction {
  const { host, kubelet, guard, files, records, checkpoints, fateOf, memory } = options;
  const has = (target: Target): boolean => target === null || checkpoints.has(checkpointOf(target));

  const stageConfig = (config: Config): StageResult => {
    if (!has(config)) {
      if (host.isApiAway) return unavailable('DownloadFailed');
      if (host.isDiskFull()) {
        host.count('payload that could not be kept');
        return unavailable('CheckpointFailed');
      }
      checkpoints.add(checkpointOf(config));
    }
    return fateOf(config) === 'refused'
      ? { outcome: 'refused', failure: { reason: 'ConfigInvalid', message: 'no such field' } }
      : { outcome: 'ready', warnings: [] };
  };
  const check = (config: Config, before: TriedConfig | null): TriedConfig =>
    stagingResultAfter(before, config, stageConfig(config), host.now, 0.5);
  const install = (target: Target, { lastKnownGood }: Pick<State, 'lastKnownGood'>): boolean => {
    if (!has(target)) return false;
    if (host.isDiskFull() && !files.isInstalled(target)) {
      host.count('installation that failed');
      memory.fault = { reason: 'CannotInstall', message: 'no room', isFull: true, mayPass: true };
      return false;
    }
    if (lastKnownGood === null && target !== null) files.takeAsLocal();
    files.install(target);
    memory.fault = null;
    return true;
  };
  const restart = (target: Target, state: State): boolean => {
    memory.restart = 'failed';
    if (has(target) && !install(target, state)) return false;
    if (host.restartFaults > 0) {
      host.restartFaults -= 1;
      host.refusedRestarts += 1;
      host.count('restart not taken');
      memory.fault = { reason: 'RestartFailed', message: 'it is denied', isFull: false };
      return false;
    }
    kubelet.start('order');
    memory.restart = 'done';
    return true;
  };
  const arm = ({ trial, to }: Extract<Action, { do: 'arm-guard' }>): boolean => {
    try {
      guard.arm(trial, has(to) ? to : null);
      memory.guardFault = null;
      return true;
    } catch (error) {
      memory.guardFault = guardFaultAfter(memory.guardFault, trial, error, host.now, 0.5);
      return false;
    }
  };
  const leave = (): boolean => {
    files.forget();
    guard.disarm();
    checkpoints.clear();
    records.forget();
    memory.left = true;
    host.count('everything of ours taken away');
    return true;
  };
  const collect = (state: State): boolean => {
    const needed = neededConfigs(state, memory.staged?.config ?? null).map(checkpointOf);
    for (const checkpoint of checkpoints) if (!needed.includes(checkpoint)) checkpoints.delete(checkpoint);
    const refused = state.refusedBase?.sha256 ?? null;
    files.settle({ config: activeOf(state), needed: neededBases(state), refused });
    return true;
  };

  return (action, state) => {
    switch (action.do) {
      case 'stage':
        memory.staged = check(action.config, memory.staged);
        return true;
      case 'check':
        return true;
      case 'recheck':
        memory.rechecked = { ...check(action.config, memory.rechecked), remedy: action.remedy, isNew: true };
        return true;
      case 'install':
        return install(action.target, state);
      case 'repair':
        host.count('drift repaired');
        memory.repairs = addRepair(memory.repairs, host.now);
        return install(action.target, state);
      case 'restart-kubelet':
        return restart(action.target, state);
      case 'start-kubelet':
        memory.startedAt = host.now;
        if (!install(action.target, state)) return false;
        host.count('kubelet that was down started');
        if (kubelet.status().run === null) kubelet.start('order');
        return true;
      // No story of the model orders reboots: machines in it reboot by themselves.
      case 'reboot':
      case 'withdraw-reboot':
        return true;
      case 'arm-guard':
        return arm(action);
      case 'reassure-guard':
        guard.heartbeat();
        return true;
      case 'disarm-guard':
        guard.disarm();
        if (memory.guardFault !== null) memory.guardFault = null;
        return true;
      case 'leave':
        return leave();
      case 'collect-garbage':
        return collect(state);
    }
  };
}

const unavailable = (reason: 'DownloadFailed' | 'CheckpointFailed'): StageResult => ({
  outcome: 'unavailable',
  failure: { reason, message: 'not now' },
});
