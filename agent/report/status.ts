import {
  type ConfigReference,
  type KubeletNodeStatus,
  LOCAL,
  MAX_WARNING_LENGTH,
  MAX_WARNINGS,
  type NodeError,
  type NodePhase,
} from '#shared/contract/api/kubelet-node.ts';
import type { Condition } from '#shared/contract/api/object.ts';
import { wantOfGuard } from '../decide/guard.ts';
import { verdictOf } from '../decide/judge.ts';
import type { Decision } from '../decide/decision.ts';
import { asError } from '../decide/as-error.ts';
import type { Failure } from '../decide/failure.ts';
import type { Observation } from '../decide/observation.ts';
import { firstOf } from '../decide/first-of.ts';
import { type PlainCondition, progressOf } from './progress.ts';
import { activeOf, nameOf, type State, type Target, type Trial } from '../decide/state.ts';

/** All that a status speaks of. */
export interface StatusFacts {
  /** After the decision, and so before its actions. */
  readonly state: State;
  readonly seen: Observation;
  readonly actions: Decision['actions'];
  readonly agentVersion: string;
  /** What could not be carried out lately. */
  readonly fault: Failure | null;
  /** What is wrong with the agent's own files, in sentences. */
  readonly diskProblems: readonly string[];
}

/**
 * What the agent says of its node, but for the heartbeat. Equal observations give equal statuses, so that nothing is
 * written for nothing.
 *
 * @param before what the KubeletNode says now: times of conditions that still hold are kept
 */
export function statusOf(told: StatusFacts, before: KubeletNodeStatus): KubeletNodeStatus {
  const { state, seen } = told;
  const { kubeletVersion } = seen;
  // An agent that was just started has heard of no assignment yet, and still is where the one before it was.
  const observedGeneration = seen.generation ?? before.observedGeneration;
  const error = errorIn(told, before);
  const phase = phaseOf(told);
  const health = healthOf(told);
  const progress = progressOf({ phase, error, health, repairs: seen.repair.repair === 'ready' });
  const trial = state.doing.phase === 'trial' ? trialOf(state.doing, seen) : undefined;
  return {
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
    phase,
    assigned: referenceTo(state.assigned),
    active: isOnItsWay(state) ? (before.active ?? referenceTo(activeOf(state))) : referenceTo(activeOf(state)),
    lastKnownGood: referenceTo(state.lastKnownGood),
    ...(error === null ? {} : { error }),
    ...(state.rejected.length === 0 ? {} : { rejected: state.rejected }),
    ...(trial === undefined ? {} : { trial }),
    ...(state.promotedAt === null ? {} : { promotedAt: state.promotedAt }),
    ...(kubeletVersion === undefined ? {} : { kubeletVersion }),
    bootID: seen.bootId,
    agentVersion: told.agentVersion,
    conditions: [...progress, health, storageOf(told), guardOf(told)].map((condition) => ({
      ...settled(condition, before, seen.at),
      ...(observedGeneration === undefined ? {} : { observedGeneration }),
    })),
  };
}

/** The kubelet has yet to read what is installed, or may have to: until it was restarted, it runs what it ran. */
function isOnItsWay({ doing }: State): boolean {
  return (doing.phase === 'trial' || doing.phase === 'falling-back') && doing.change.step !== 'judge';
}

function phaseOf({ state, seen, actions }: StatusFacts): NodePhase {
  switch (state.doing.phase) {
    case 'trial':
      return 'Trial';
    case 'falling-back':
      return 'FallingBack';
    case 'broken':
      return 'Broken';
    case 'idle':
      if (actions.some((action) => action.do === 'stage')) return 'Staging';
      return driftIn(seen) === undefined ? 'Idle' : 'Drifted';
  }
}

function driftIn({ files, running, repair }: Observation): string | undefined {
  const drift =
    files.files === 'differ'
      ? `${files.path ?? 'a managed file'} on the node is not what was installed`
      : running.running === 'contradicts'
        ? `the kubelet runs ${firstOf(running.differences)}`
        : undefined;
  if (drift === undefined) return undefined;
  switch (repair.repair) {
    case 'refused':
      return `${drift}; it is not put back, because it would not do any more: ${repair.failure.message}`;
    case 'paused':
      return `${drift}; it was put back ${repair.times} times within the hour, and now is left as it is`;
    case 'none':
    case 'ready':
      return drift;
  }
}

function referenceTo(target: Target): ConfigReference {
  if (target === null) return { name: LOCAL };
  const { name, sha256, uid, resourceVersion } = target.source;
  return { name, sha256, apply: target.apply, uid, resourceVersion };
}

function errorIn({ state, seen, fault }: StatusFacts, before: KubeletNodeStatus): NodeError | null {
  const why = wantOfGuard(state, seen) ?? fault;
  if (state.error !== null || why === null || state.doing.phase === 'idle') return state.error;
  return asError(why, activeOf(state) ?? undefined, seen.at, before.error ?? null);
}

/** In steps of a tenth of the trial, half a minute at most: the status is no progress bar for the API server to draw. */
function trialOf(
  { config, since, change, warnings }: Trial,
  { intent }: Observation,
): NonNullable<KubeletNodeStatus['trial']> {
  const wanted =
    intent.intent === 'config' && intent.config.source.sha256 === config.source.sha256 ? intent.config : config;
  const durationSeconds = Math.ceil(wanted.trial.durationMs / 1000);
  const step = Math.min(30, Math.max(1, Math.floor(durationSeconds / 10)));
  const healthy = change.step === 'judge' ? change.judged.healthyMs / 1000 : 0;
  return {
    config: nameOf(config),
    since,
    healthySeconds: Math.floor(healthy / step) * step,
    durationSeconds,
    restarts: change.step === 'judge' ? change.judged.restarts : 0,
    ...(change.step === 'reboot' && config.reboot !== undefined ? { awaitsReboot: config.reboot.by } : {}),
    ...(warnings.length === 0 ? {} : { warnings: bounded(warnings) }),
  };
}

/** The API server refuses the whole status where there is more. */
const bounded = (warnings: readonly string[]): readonly string[] =>
  warnings.slice(0, MAX_WARNINGS).map((text) => text.slice(0, MAX_WARNING_LENGTH));

/** Whether the kubelet does well with the config that it has: what an alert wants to know of a node. */
function healthOf({ state, seen }: StatusFacts): PlainCondition {
  const type = 'KubeletConfigHealthy';
  const name = nameOf(activeOf(state));
  const verdict = verdictOf(seen);
  const why = verdict.verdict === 'unhealthy' ? verdict.why : '';
  if (state.doing.phase === 'broken') {
    const message = state.error?.message ?? 'the kubelet is healthy with none of its configs';
    return { type, status: 'False', reason: 'Broken', message };
  }
  if (state.doing.phase !== 'idle') {
    const reason = state.doing.phase === 'trial' ? 'OnTrial' : 'FallingBack';
    const message = `${name} has yet to prove itself${why === '' ? '' : `; the kubelet is not healthy: ${why}`}`;
    return { type, status: 'Unknown', reason, message };
  }
  if (why !== '') return { type, status: 'False', reason: 'NotHealthy', message: `the kubelet is not healthy: ${why}` };
  const drift = driftIn(seen);
  if (drift !== undefined) return { type, status: 'False', reason: 'Drifted', message: drift };
  if (verdict.verdict === 'healthy') return { type, status: 'True', reason: 'Healthy', message: `it runs ${name}` };
  return { type, status: 'Unknown', reason: 'NotSeen', message: 'the kubelet cannot be seen' };
}

/** Whether the agent could start anew, on this or after the next boot, and know where the node stands. */
function storageOf({ diskProblems, seen: { files } }: StatusFacts): PlainCondition {
  const type = 'CheckpointsIntact';
  const problems = files.files === 'lost' ? [...diskProblems, files.message] : diskProblems;
  if (problems.length === 0) {
    return { type, status: 'True', reason: 'Intact', message: 'the state directory is in order' };
  }
  return { type, status: 'False', reason: 'Damaged', message: firstOf(problems) };
}

/** Whether there is somebody to take a trial back when the agent cannot. */
function guardOf({ state, seen: { guard, guardFault } }: StatusFacts): PlainCondition {
  const type = 'Guarded';
  if (guard.guard === 'none') return { type, status: 'False', reason: 'NoGuard', message: guard.why };
  if (guardFault !== null) return { type, status: 'False', reason: 'GuardFailed', message: guardFault.message };
  return state.doing.phase === 'trial'
    ? { type, status: 'True', reason: 'Armed', message: 'the guard takes the trial back if the agent cannot' }
    : { type, status: 'True', reason: 'Ready', message: 'the guard is set up for every trial' };
}

function settled(condition: PlainCondition, before: KubeletNodeStatus, at: string): Condition {
  const same = before.conditions?.find(({ type }) => type === condition.type);
  return { ...condition, lastTransitionTime: same?.status === condition.status ? same.lastTransitionTime : at };
}
