import {
  type ConfigIdentity,
  identityIn,
  sameIdentity,
  type WrittenIdentity,
  writtenKeep,
} from '#shared/contract/api/config-identity.ts';
import {
  type ConfigReference,
  type KubeletNode,
  LOCAL,
  type PreflightAnswer,
  type TurnRequest,
} from '#shared/contract/api/kubelet-node.ts';
import { isAgentAlive } from '#shared/contract/api/silent-agent.ts';
import { fromTimestamp, type Millis } from '#shared/runtime/clock.ts';

/** What identifies a config on a node; null is the node's own local config. */
export type NodeTarget = ConfigIdentity | null;

/**
 * Where a node stands towards a target, as its agent reports it.
 *
 * settled: it runs the target and has proven it. updating: it was told and is not done. failed: it was told and took it back.
 * broken: its kubelet is healthy with none of its configs, and its agent does not blame the target. `failed` where it does.
 * outdated: it has yet to be told. awaits-turn: it asks for a restart that it has yet to be granted. no-agent: nobody listens there.
 */
export type Progress = 'settled' | 'updating' | 'failed' | 'broken' | 'outdated' | 'awaits-turn' | 'no-agent';

/** Whether a pool's record of a rollout or a halt is about this target; without a word on it, the payload was laid over. */
export const isRecordOfTarget = (record: WrittenIdentity, target: NodeTarget): boolean =>
  sameTarget(identityIn(record), target);

/** How a target is written into such a record. */
export const targetRecordOf = ({ sha256, apply, keepFields }: ConfigIdentity): WrittenIdentity =>
  apply === 'overlay' ? { sha256 } : { sha256, apply, ...writtenKeep({ keepFields }) };

/** The assignment that a node has now, as the API server knows it. */
export function assignmentOf(node: KubeletNode | undefined): NodeTarget {
  const { configSource: source, apply = 'overlay', keepFields } = node?.spec ?? {};
  return source === undefined ? null : { sha256: source.sha256, apply, ...writtenKeep({ keepFields }) };
}

/** The same bytes, with the same of the local config under them. */
export const sameTarget = (a: NodeTarget, b: NodeTarget): boolean =>
  a === null || b === null ? a === b : sameIdentity(a, b);

/** For how long a config has been proven, and so soaking, is for the pool to judge. */
export function progressOf(node: KubeletNode | undefined, target: NodeTarget, now: Millis): Progress {
  return node === undefined || !isAgentAlive(node, now) ? 'no-agent' : standingOfLiving(node, target);
}

function standingOfLiving(node: KubeletNode, target: NodeTarget): Progress {
  const status = node.status ?? {};
  // Nothing was decided for this object yet: it is new, or was lost and made again while the node ran on.
  if (node.spec === undefined) return target === null && refersTo(status.active, null) ? 'settled' : 'outdated';
  if (!sameTarget(assignmentOf(node), target))
    return refusedUnassigned(node, target) === undefined ? 'outdated' : 'failed';

  if ((status.observedGeneration ?? 0) < (node.metadata.generation ?? 0)) return 'updating';
  if (failedAt(node, target) !== undefined) return 'failed';
  if (status.phase === 'Broken') return 'broken';

  const asks = turnAskedBy(node);
  // A turn is bound to what the agent saw: once it has seen anything else, the node has to be granted another one.
  if (asks !== undefined) return node.spec.turn?.seen === asks.seen ? 'updating' : 'awaits-turn';

  const quiet = status.phase === 'Idle' || status.phase === 'Drifted';
  const hasProved = quiet && refersTo(status.active, target) && refersTo(status.lastKnownGood, target);
  return hasProved ? 'settled' : 'updating';
}

/**
 * The restart that a node at rest asks for, granted or not. It counts only where it is for what the node was assigned: an agent that
 * was just told another config goes on asking for the one before until it begins.
 */
export function turnAskedBy(node: KubeletNode | undefined): TurnRequest | undefined {
  const { awaitsTurn = null, phase } = node?.status ?? {};
  const rests = phase === 'Idle' || phase === 'Drifted' || phase === 'Staging';
  if (!rests || awaitsTurn === null) return undefined;
  const assignment = assignmentOf(node);
  if (assignment === null) return isForLocal(awaitsTurn) ? awaitsTurn : undefined;
  const { reason, config = assignment.sha256 } = awaitsTurn;
  const isForIt = reason === 'StateLost' ? config === assignment.sha256 : hasProved(node, assignment);
  return isForIt ? awaitsTurn : undefined;
}

const isForLocal = ({ reason, config }: TurnRequest): boolean => reason === 'StateLost' && config === undefined;

/** The agent's word for a config that failed on a kubelet which was not healthy before: it tries that one again. */
const UNBLAMED = 'UnhealthyBefore';

/** Whether its agent took its assignment back without blaming it, and is at rest until the node is well. */
export const waitsToRecover = ({ status }: Pick<KubeletNode, 'status'> = {}): boolean =>
  status?.phase === 'Idle' && status.error?.reason === UNBLAMED;

/**
 * When a node took this config back, in its agent's words; undefined where it did not, or does not blame the config. A rejection from
 * before another assignment is forgotten once the agent hears of this one again.
 */
export function failedAt(node: KubeletNode | undefined, target: NodeTarget): string | undefined {
  const { rejected = [], assigned } = node?.status ?? {};
  const refusal = refusedUnassigned(node, target);
  if (refusal !== undefined) return refusal.at;
  if (assigned !== undefined && !refersTo(assigned, target)) return undefined;
  return rejected.find((each) => each.reason !== UNBLAMED && isRecordOfTarget(each, target))?.at;
}

/** The same, unless it was told to try once more. */
export function takenBackAt(node: KubeletNode | undefined, target: NodeTarget): string | undefined {
  const at = failedAt(node, target);
  return at === node?.spec?.forgive ? undefined : at;
}

/** The answer of a node that was asked about a config which it does not have; undefined where it was not, or cannot be. */
export function preflightAnswerOf(node: KubeletNode | undefined, target: NodeTarget): PreflightAnswer | undefined {
  const answer = node?.status?.preflight ?? undefined;
  if (answer?.sha256 === undefined) return undefined;
  return isRecordOfTarget({ ...answer, sha256: answer.sha256 }, target) ? answer : undefined;
}

/** It would not start with this config, and says so before anything was done to it. */
export function refusedUnassigned(
  node: KubeletNode | undefined,
  target: NodeTarget,
): (PreflightAnswer & { readonly at: string }) | undefined {
  const answer = preflightAnswerOf(node, target);
  const wasAsked = node?.spec?.preflight?.configSource.sha256 === target?.sha256;
  if (answer?.outcome !== 'refused' || answer.at === undefined || !wasAsked) return undefined;
  return sameTarget(assignmentOf(node), target) ? undefined : { ...answer, at: answer.at };
}

function refersTo(reference: ConfigReference | undefined, target: NodeTarget): boolean {
  if (target === null) return reference === undefined || reference.name === LOCAL;
  return sameTarget(targetIn(reference), target);
}

/** Whether the node has proven any config of ours. One that ran its first one already was not restarted for it, and has no `promotedAt`. */
export const hasProvedAny = (node: KubeletNode | undefined): boolean =>
  (node?.status?.promotedAt ?? null) !== null || provenConfigOf(node) !== null;

/** The config of ours that the node has proven last; null for its local one, and where its agent does not know. */
export const provenConfigOf = (node: KubeletNode | undefined): NodeTarget => targetIn(node?.status?.lastKnownGood);

/** The config of ours that its kubelet runs; null for its local one, and where its agent does not know. */
export const activeConfigOf = (node: KubeletNode | undefined): NodeTarget => targetIn(node?.status?.active);

function targetIn({ sha256, ...way }: Partial<ConfigReference> = {}): NodeTarget {
  return sha256 === undefined ? null : identityIn({ ...way, sha256 });
}

/**
 * Agents say at least every half minute that a kubelet is healthy on trial. For how long it was is worth nothing when nobody has said
 * so for this long: the agent may be dead, and the config taken back.
 */
const UNSEEN_MS: Millis = 2 * 60_000;

/**
 * Whether the node is past its probation with what it was told: its agent, by its own clock, saw the kubelet healthy with it for so
 * long, and goes on to see it so. A restart with what it has proven already has no probation.
 */
export function isPastProbation(node: KubeletNode | undefined, probationMs: Millis, now: Millis): boolean {
  const { phase, active, trial, observedGeneration = 0, heartbeat } = node?.status ?? {};
  const target = assignmentOf(node);
  if (phase !== 'Trial' || target === null || !trial || observedGeneration < (node?.metadata.generation ?? 0))
    return false;
  const isOfIt = refersTo(active, target) && trial.config === active?.name && !hasProved(node, target);
  const isPast = isOfIt && trial.awaitsReboot === undefined && trial.healthySeconds * 1000 >= probationMs;
  return isPast && now - (fromTimestamp(heartbeat) ?? 0) <= UNSEEN_MS;
}

/** Whether the node has proven this config: it is what it falls back to. */
export function hasProved(node: KubeletNode | undefined, target: NodeTarget): boolean {
  return refersTo(node?.status?.lastKnownGood, target);
}

/**
 * Whether the node runs this config already, has proven it and is at rest, so that being told of it costs nothing. A node that asks
 * for a restart may take any other assignment for its turn, unless it asks for what an older assignment wants.
 */
export function runsAlready(node: KubeletNode | undefined, target: NodeTarget): boolean {
  const { phase, active, awaitsTurn = null } = node?.status ?? {};
  const rests = phase === 'Idle' && (awaitsTurn === null || awaitsTurn.reason === 'StateLost');
  return rests && target !== null && refersTo(active, target) && hasProved(node, target);
}

/**
 * Whether the agent is in the middle of a change, or about to begin one that it was told of: whatever it was told since,
 * its kubelet restarts or may do so at any moment.
 */
export function inTransition(node: KubeletNode | undefined, now: Millis): boolean {
  return isAtWork(node) || progressOf(node, assignmentOf(node), now) === 'updating';
}

/** Whether a node whose agent is silent was told what it neither runs nor took back: nobody sees when it begins. */
export function isAssignmentUnheard(node: KubeletNode | undefined, now: Millis): boolean {
  if (node?.spec === undefined || isAgentAlive(node, now) || turnAskedBy(node) !== undefined) return false;
  const told = assignmentOf(node);
  return !refersTo(node.status?.active, told) && failedAt(node, told) === undefined;
}

/** One that asks for a turn waits until it has it, and its kubelet runs on. */
export function isAtWork(node: KubeletNode | undefined): boolean {
  if (turnAskedBy(node) !== undefined) return false;
  const phase = node?.status?.phase;
  return phase === 'Staging' || phase === 'Trial' || phase === 'FallingBack' || phase === 'Broken';
}
