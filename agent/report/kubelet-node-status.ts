import { writtenKeep } from '#shared/contract/api/config-identity.ts';
import {
  type ConfigReference,
  type KubeletNodeStatus,
  LOCAL,
  MAX_WARNING_LENGTH,
  MAX_WARNINGS,
  type NodeError,
  type NodePhase,
  UNKNOWN_CONFIG,
} from '#shared/contract/api/kubelet-node.ts';
import type { Condition } from '#shared/contract/api/object.ts';
import { whyGuardNotReady } from '../decide/trial-guard.ts';
import { isOverdue } from '../decide/change.ts';
import { isUnhealthyLapse } from '../decide/health-verdict.ts';
import { type Drift, driftOf } from '../decide/drift.ts';
import { preflightAnswer, keepAnswerTime } from './preflight-answer.ts';
import { willBeRepaired } from './describe-drift.ts';
import { toNodeError, keepErrorTime } from '../decide/node-error.ts';
import type { Failure } from '../decide/failure.ts';
import type { Observation } from '../decide/observation.ts';
import { DEFAULT_TIMING } from '../decide/timing.ts';
import { turnNeeded } from '../decide/restart-turn.ts';
import { guardOf, healthOf, visibilityOf, storageOf } from './conditions.ts';
import { pendingAssignment } from './pending-assignment.ts';
import { type PlainCondition, kstatusConditions } from './kstatus-conditions.ts';
import { activeOf, nameOf, type State, type Target, type Trial } from '../decide/state.ts';
import type { StatusFacts } from './status-facts.ts';
import { unknownActive } from '../decide/unknown-active.ts';

/**
 * What one turn has to say about the node. Made once a turn, for the KubeletNode and for metrics; `statusOf` adds what
 * depends on what the KubeletNode said before.
 */
export interface NodeReport {
  readonly phase: NodePhase;
  /** Without conditions, and as if the KubeletNode had no status yet. */
  readonly status: Omit<KubeletNodeStatus, 'phase' | 'conditions' | 'heartbeat'>;
  readonly conditions: readonly PlainCondition[];
  /** The kubelet may not have read what is active yet: until its restart it runs what it ran before. */
  readonly isOnItsWay: boolean;
  /** The error is not part of the state on disk: only the KubeletNode knows since when it holds. */
  readonly isFault: boolean;
  /** Time of the look, RFC 3339. */
  readonly at: string;
}

export function nodeReportOf(facts: StatusFacts): NodeReport {
  const { state, seen, agentVersion } = facts;
  const { generation, kubeletVersion, kubeletFlags, numaNodes } = seen;
  const drift = driftOf(state, seen);
  const awaitsTurn = turnNeeded(state, seen);
  const phase = phaseOf(facts, drift);
  const error = errorIn(facts, drift);
  const health = healthOf(facts, drift);
  const progress = kstatusConditions({
    phase,
    error,
    health,
    repairs: willBeRepaired(drift),
    stuck: stuckIn(state, seen),
    mayPass: mayPass(error, facts),
    pending: pendingAssignment(state, seen),
  });
  const trial = state.doing.phase === 'trial' ? trialOf(state.doing, seen) : undefined;
  const isUnknown = unknownActive(state, seen) !== undefined;
  return {
    phase,
    status: {
      ...(generation === undefined ? {} : { observedGeneration: generation }),
      ...(state.obeyed && { obeyedOrder: state.obeyed.order }),
      assigned: referenceTo(state.assigned),
      active: isUnknown ? UNKNOWN : referenceTo(activeOf(state)),
      lastKnownGood: isUnknown ? UNKNOWN : referenceTo(state.lastKnownGood),
      ...(error === null ? {} : { error }),
      ...(state.rejected.length === 0 ? {} : { rejected: state.rejected }),
      ...(awaitsTurn === null ? {} : { awaitsTurn: shortened(awaitsTurn) }),
      ...(state.refusedBase === null ? {} : { refusedBase: shortened(state.refusedBase) }),
      ...(trial === undefined ? {} : { trial }),
      ...(state.promotedAt === null ? {} : { promotedAt: state.promotedAt }),
      preflight: preflightAnswer(seen),
      ...(seen.measures === undefined ? {} : { measures: seen.measures }),
      ...(kubeletVersion === undefined ? {} : { kubeletVersion }),
      ...(kubeletFlags && { kubeletFlags }),
      ...(seen.commandLine && { commandLine: seen.commandLine }),
      ...(numaNodes && { numaNodes }),
      ...(facts.kubeletUnit === undefined ? {} : { kubeletUnit: facts.kubeletUnit }),
      bootID: seen.bootId,
      agentVersion,
    },
    conditions: [...progress, health, storageOf(facts), guardOf(facts), visibilityOf(facts)],
    isOnItsWay: isOnItsWay(state),
    isFault: error !== state.error,
    at: seen.at,
  };
}

/**
 * The status of the node without the heartbeat. Equal accounts give equal statuses, so the agent writes only changes.
 *
 * @param before what the KubeletNode says now: times of conditions that still hold are kept
 */
export function statusOf(
  { phase, status, conditions, isOnItsWay, isFault, at }: NodeReport,
  before: KubeletNodeStatus,
): KubeletNodeStatus {
  // An agent that was just started has heard of no assignment yet, and still is where the one before it was.
  const observedGeneration = status.observedGeneration ?? before.observedGeneration;
  const generation = observedGeneration === undefined ? {} : { observedGeneration };
  const { error } = status;
  return {
    phase,
    ...status,
    ...generation,
    ...(isOnItsWay && before.active !== undefined ? { active: before.active } : {}),
    ...(status.preflight ? { preflight: keepAnswerTime(status.preflight, before.preflight ?? null) } : {}),
    ...(isFault && error ? { error: keepErrorTime(error, before.error ?? null) } : {}),
    conditions: conditions.map((condition) => ({ ...settled(condition, before, at), ...generation })),
  };
}

function isOnItsWay({ doing }: State): boolean {
  return (doing.phase === 'trial' || doing.phase === 'falling-back') && doing.change.step !== 'judge';
}

function phaseOf({ state, seen, actions }: StatusFacts, drift: Drift): NodePhase {
  switch (state.doing.phase) {
    case 'trial':
      return 'Trial';
    case 'falling-back':
      return 'FallingBack';
    case 'broken':
      return 'Broken';
    case 'idle':
      // Another try at what could not be had is no news.
      if (seen.staged?.outcome !== 'unavailable' && actions.some((action) => action.do === 'stage')) return 'Staging';
      return drift.drift === 'none' ? 'Idle' : 'Drifted';
  }
}

const UNKNOWN: ConfigReference = { name: UNKNOWN_CONFIG };

function referenceTo(target: Target): ConfigReference {
  if (target === null) return { name: LOCAL };
  const { name, sha256, uid, resourceVersion } = target.source;
  return { name, sha256, apply: target.apply, ...writtenKeep(target), uid, resourceVersion };
}

/** At rest, a disk that refuses keeps everything else from happening. In a change, why that ended is worth more. */
function errorIn(facts: StatusFacts, drift: Drift): NodeError | null {
  const { state, seen, fault, unsaved = null } = facts;
  if (state.doing.phase !== 'idle') return state.error ?? faultIn(facts);
  const unrepaired = fault !== null && drift.drift !== 'none' && drift.drift !== 'reported' ? fault : null;
  const why = unsaved ?? (state.error === null ? (unrepaired ?? blockedIn(state, seen)) : null);
  if (why === null) return state.error;
  const wanted = seen.intent.intent === 'config' ? seen.intent.config : undefined;
  return toNodeError(why, wanted, seen.at, null);
}

/** What cannot be carried out. */
function faultIn({ state, seen, fault, unsaved = null }: StatusFacts): NodeError | null {
  const why = whyGuardNotReady(state, seen) ?? fault ?? unsaved;
  return why === null ? null : toNodeError(why, activeOf(state) ?? undefined, seen.at, null);
}

function mayPass(error: NodeError | null, { seen: { staged }, fault, unsaved }: StatusFacts): boolean {
  const failures = [unsaved, fault, staged !== null && 'failure' in staged ? staged.failure : null];
  return failures.some((failure) => failure?.mayPass === true && failure.message === error?.message);
}

/** What only a person gets a node out of, also before anything is assigned: settings that do not fit, a config that is not known. */
function blockedIn(state: State, seen: Observation): Failure | null {
  const unknown = unknownActive(state, seen);
  const unfit = seen.guard.guard === 'none' && seen.guard.isUnfit === true ? seen.guard.why : undefined;
  const message = unfit ?? (unknown?.needsPerson === true ? unknown.message : undefined);
  return message === undefined ? null : { reason: 'CannotInstall', message };
}

/** A fallback has no time limit: a fault that holds it up is reported. */
function stuckIn(state: State, seen: Observation): Failure | null {
  const [{ doing }, { fault }] = [state, seen];
  const isStuck = doing.phase === 'falling-back' && isOverdue(doing.change, doing.terms, DEFAULT_TIMING);
  if (!isStuck) return blockedIn(state, seen);
  if (fault?.mayPass === true) return null;
  return fault ?? { reason: 'RestartFailed', message: 'the kubelet was told to restart, and runs on as it was' };
}

/**
 * In twelve steps, half a minute at most: the status is no progress bar for the API server to draw. A probation is a third of a trial
 * unless the pool sets another, so that one of the steps ends with it. A kubelet that is not in order shows nothing of what it had proved.
 */
function trialOf(
  { config, since, change, warnings }: Trial,
  { intent }: Observation,
): NonNullable<KubeletNodeStatus['trial']> {
  const wanted =
    intent.intent === 'config' && intent.config.source.sha256 === config.source.sha256 ? intent.config : config;
  const durationSeconds = Math.ceil(wanted.trial.durationMs / 1000);
  const step = Math.min(30, Math.max(1, durationSeconds / 12));
  const healthy = change.step === 'judge' && !isUnhealthyLapse(change.judged) ? change.judged.healthyMs / 1000 : 0;
  return {
    config: nameOf(config),
    since,
    healthySeconds: Math.floor(Math.floor(healthy / step) * step),
    durationSeconds,
    restarts: change.step === 'judge' ? change.judged.restarts : 0,
    ...(change.step === 'reboot' && config.reboot !== undefined ? { awaitsReboot: config.reboot.by } : {}),
    ...(warnings.length === 0 ? {} : { warnings: bounded(warnings) }),
  };
}

/** The same bound as for one warning: kubelets and service managers have the last word in these. */
const shortened = <T extends { readonly message: string }>(entry: T): T =>
  entry.message.length <= MAX_WARNING_LENGTH
    ? entry
    : { ...entry, message: entry.message.slice(0, MAX_WARNING_LENGTH) };

/** The API server refuses the whole status where there is more. */
const bounded = (warnings: readonly string[]): readonly string[] =>
  warnings.slice(0, MAX_WARNINGS).map((text) => text.slice(0, MAX_WARNING_LENGTH));

function settled(condition: PlainCondition, before: KubeletNodeStatus, at: string): Condition {
  const same = before.conditions?.find(({ type }) => type === condition.type);
  const since = same?.status === condition.status ? same.lastTransitionTime : undefined;
  return { ...condition, lastTransitionTime: since ?? at };
}
