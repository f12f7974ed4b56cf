import { isDeepStrictEqual as equal } from 'node:util';
import type { Decision } from './decision.ts';
import { toNodeError } from './node-error.ts';
import type { Failure } from './failure.ts';
import type { Observation } from './observation.ts';
import {
  type Config,
  hasAnotherChance,
  rejectionOf,
  sameConfig,
  type State,
  withoutRejected,
  withRejected,
} from './state.ts';
import { verdictOf } from './health-verdict.ts';
import { isStoppedByPerson, STOPPED_BY_PERSON } from './stopped-by-person.ts';
import { startTrial, adoptRunningConfig } from './start-trial.ts';
import { isTurnGranted, turnNeeded } from './restart-turn.ts';

/**
 * What the intent changes. `turned`: the node is set on another config, and nothing else is decided with this look.
 * `kept`: it goes on with what it is doing.
 */
export interface AssignmentStep {
  readonly outcome: 'turned' | 'kept';
  readonly decision: Decision;
}

export const switchTo = (decision: Decision): AssignmentStep => ({ outcome: 'turned', decision });
export const continueWith = (next: State): AssignmentStep => keptWith({ next, actions: [], recheckAfterMs: Infinity });
const keptWith = (decision: Decision): AssignmentStep => ({ outcome: 'kept', decision });

/** Not to be tried: it failed here, and no other was assigned since. */
export function isRejected(state: State, config: Config): boolean {
  return sameConfig(state.assigned, config) && rejectionOf(state, config) !== undefined;
}

/**
 * Gets a config ready while the kubelet goes on with what it runs, and puts it on trial once it is. Being assigned again
 * is what forgives a config that failed here before.
 */
export function stage(state: State, config: Config, seen: Observation): AssignmentStep {
  const { staged } = seen;
  switch (staged?.outcome) {
    case undefined:
      return fetchAgain(withoutRejected(state, config), config);
    case 'ready':
      return begin(state, config, seen);
    case 'refused': {
      const error = toNodeError(explained(config, staged.failure), config, seen.at, state.error);
      return continueWith(withRejected({ ...state, assigned: config, error }, config, error));
    }
    case 'unavailable': {
      const error = toNodeError(staged.failure, config, seen.at, state.error);
      const next = error === state.error ? state : { ...state, error };
      return staged.retryInMs <= 0 ? fetchAgain(next, config) : keptWith(waiting(next, staged.retryInMs));
    }
  }
}

/** An assignment is a turn, unless the kubelet needs none, or had it. */
function begin(state: State, config: Config, seen: Observation): AssignmentStep {
  const isAtRest = state.doing.phase === 'idle' && verdictOf(seen).verdict === 'healthy';
  const needsNoRestart = isAtRest && config.reboot === undefined && seen.runsStaged;
  if (needsNoRestart) return switchTo(adoptRunningConfig(state, config, seen));
  // A person who stopped the kubelet does not expect to start an untried config, and a Node that is NotReady would prove nothing.
  if (state.doing.phase === 'idle' && isStoppedByPerson(seen)) return continueWith(awaitingStart(state, config, seen));
  // Tried again while the kubelet is as unwell as before, it would not be blamed again, and be tried forever.
  if (hasAnotherChance(state, config) && verdictOf(seen).verdict === 'unhealthy') return continueWith(state);
  if (state.doing.phase === 'idle' && isNodeUnreadable(seen)) return continueWith(awaitingNode(state, config, seen));
  const again = turnNeeded(state, seen);
  const isWaiting = again?.reason === 'StateLost' && !isTurnGranted(again, seen);
  return isWaiting ? continueWith(withoutErrorOf(state, config)) : switchTo(startTrial(state, config, seen));
}

/** What was in the way of a config that waits for its turn is over. */
const withoutErrorOf = (state: State, config: Config): State =>
  state.error?.config === config.source.name ? { ...state, error: null } : state;

/** The API server did not answer. A Node that has no Ready condition yet was read. */
export const isNodeUnreadable = ({ nodeReady, strain }: Observation): boolean =>
  nodeReady === 'unknown' && strain.pressures === null;

function awaitingStart(state: State, config: Config, seen: Observation): State {
  const failure: Failure = {
    reason: 'KubeletStopped',
    message: `${config.source.name} is not tried yet: ${STOPPED_BY_PERSON}`,
  };
  return { ...state, error: toNodeError(failure, config, seen.at, state.error) };
}

/** A Node that was unreadable before the trial proves nothing in it: the config could cost its readiness and be promoted. */
function awaitingNode(state: State, config: Config, seen: Observation): State {
  const message = `${config.source.name} is not tried yet: whether the Node is Ready cannot be read`;
  return { ...state, error: toNodeError({ reason: 'DownloadFailed', message }, config, seen.at, state.error) };
}

function explained(config: Config, { reason, message }: Failure): Failure {
  return { reason, message: `${config.source.name} was refused, and the kubelet left alone: ${message}` };
}

/** Gets back the checkpoint of a config that runs already: without it the node could not fall back to it. */
export function restoreCheckpoint(state: State, config: Config, { staged }: Observation): AssignmentStep {
  const found = pointTo(state, config);
  if (staged?.outcome === 'ready' && !equal(found, state)) return continueWith(found);
  if (staged?.outcome === 'refused') return continueWith(state);
  if (staged?.outcome === 'unavailable' && staged.retryInMs > 0) return keptWith(waiting(state, staged.retryInMs));
  return keptWith({ next: state, actions: [{ do: 'stage', config }], recheckAfterMs: staged === null ? 0 : Infinity });
}

/** The same config, by where its bytes are now. */
function pointTo(state: State, config: Config): State {
  const now = <T extends Config | null>(target: T): T =>
    sameConfig(target, config) ? { ...target, source: config.source } : target;
  const { doing } = state;
  return {
    ...state,
    assigned: now(state.assigned),
    lastKnownGood: now(state.lastKnownGood),
    doing: doing.phase === 'trial' ? { ...doing, config: now(doing.config) } : doing,
  };
}

const fetchAgain = (next: State, config: Config): AssignmentStep =>
  keptWith({ next, actions: [{ do: 'stage', config }], recheckAfterMs: 0 });

const waiting = (next: State, recheckAfterMs: number): Decision => ({ next, actions: [], recheckAfterMs });
