import type { Action, Decision } from './decision.ts';
import { guardReadiness, runStartedByGuard } from './trial-guard.ts';
import { pressureBefore } from './node-pressure.ts';
import { verdictOf } from './health-verdict.ts';
import type { Observation } from './observation.ts';
import { type Config, type KubeletRun, type State, type Trial, withoutRejected } from './state.ts';
import { minorIn } from './kubelet-upgrade.ts';

/** Puts a staged config on trial; whatever was on trial before is superseded, lastKnownGood stays what it was. */
export function startTrial(state: State, staged: Config, seen: Observation): Decision {
  const config = overBase(staged, seen);
  const warnings = seen.staged?.outcome === 'ready' ? seen.staged.warnings : [];
  const doing = newTrial(state, config, seen, warnings);
  return firstStep({ ...state, assigned: config, error: null, doing }, doing, seen);
}

/** Has lastKnownGood prove itself over the node's new own config. The way back leads to the one before. */
export function startTrialOverNewBase(state: State, config: Config, seen: Observation): Decision {
  const doing = newTrial(state, config, seen, []);
  return firstStep({ ...state, doing }, doing, seen);
}

/** Without a trial and a restart: the kubelet runs it already. */
export function adoptRunningConfig(state: State, staged: Config, seen: Observation): Decision {
  const config = overBase(staged, seen);
  const known = { assigned: config, lastKnownGood: config, promotedAt: null, error: null, refusedBase: null };
  return {
    next: { ...state, ...known },
    actions: [{ do: 'install', target: config }, { do: 'collect-garbage' }],
    recheckAfterMs: 0,
  };
}

const overBase = (config: Config, { base: { under } }: Observation): Config =>
  under === null ? config : { ...config, base: under };

/** Until the files are in place, the node's own config may still change under a trial. */
export function withInstalledBase(trial: Trial, seen: Observation): Trial {
  const config = overBase(trial.config, seen);
  return trial.change.step !== 'install' || config.base === trial.config.base ? trial : { ...trial, config };
}

/** It was good over no other config of the node's own, and the guard took it back: it has to prove itself again. */
export function startTrialAfterGuard(state: State, config: Config, seen: Observation): Decision {
  const doing: Trial = { ...newTrial(state, config, seen, []), before: null };
  const untried = withoutRejected(state, config);
  return firstStep({ ...untried, lastKnownGood: null, promotedAt: null, doing }, doing, seen);
}

/** Takes a trial back to its first step, without a verdict. */
export function restartTrial(state: State, before: Trial, seen: Observation): Decision {
  const running = runStartedByGuard(state.lastKnownGood, seen) ?? null;
  const doing: Trial = { ...before, ...minorIn(seen), since: seen.at, before: running, change: { step: 'install' } };
  return firstStep({ ...state, doing }, doing, seen);
}

function newTrial(state: State, config: Config, seen: Observation, warnings: readonly string[]): Trial {
  // A trial that is superseded may be why the Node is not Ready now, or the kubelet not healthy.
  const superseded = state.doing.phase === 'trial' ? state.doing : undefined;
  return {
    phase: 'trial',
    config,
    since: seen.at,
    wasReady: superseded?.wasReady === true || seen.nodeReady === 'yes',
    wasHealthy: wasHealthy(state, seen),
    ...minorIn(seen),
    before: runUntouched(state, seen),
    strain: pressureBefore(superseded, seen),
    warnings,
    change: { step: 'install' },
  };
}

/** With nothing left to fall back to, a config has one chance; so everything counts as healthy then. */
function wasHealthy({ doing }: State, seen: Observation): boolean {
  if (doing.phase === 'trial' && doing.wasHealthy) return true;
  return (doing.phase !== 'idle' && doing.phase !== 'trial') || verdictOf(seen).verdict !== 'unhealthy';
}

/** The run that has what the node falls back to, where there is one. */
function runUntouched({ doing }: State, { service, bootId, startedAsInstalled }: Observation): KubeletRun | null {
  if (doing.phase === 'trial') return isUntouched(doing) ? doing.before : null;
  return doing.phase === 'idle' && startedAsInstalled && service.run !== null ? { run: service.run, bootId } : null;
}

/** What a trial begins with, once its guard is ready: the files. */
export function firstStep(next: State, trial: Trial, seen: Observation): Decision {
  const readiness = guardReadiness(trial, next.lastKnownGood, seen);
  const install: Action = { do: 'install', target: trial.config };
  const actions = readiness.guard === 'not-yet' ? readiness.actions : readiness.guard === 'ready' ? [install] : [];
  return { next, actions, recheckAfterMs: 0 };
}

/** No restart or reboot was ordered yet. The run of before may have ended all the same: callers check that. */
export const isUntouched = ({ change }: Trial): boolean => change.step !== 'judge';
