import type {
  AwaitedPayload,
  FailedWrite,
  Halt,
  KubeletPool,
  KubeletPoolStatus,
  PoolCounts,
  PoolFailure,
  PoolPhase,
} from '#shared/contract/api/kubelet-pool.ts';
import { type Finding, formatFinding, hasErrors } from '#shared/contract/finding.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import type { DesiredPool } from '../desired.ts';
import type { UnreadableObject } from '../fleet.ts';
import type { MemberDecision } from '../rollout/decide-group.ts';
import { type HoldReason } from '../rollout/holds/hold.ts';
import { failedMembers } from '../rollout/halt.ts';
import type { Group, Member } from '../rollout/membership.ts';
import { isProven } from '../rollout/on-trial.ts';
import type { GroupPlan } from '../plan-nodes.ts';
import type { RolloutMemory } from '../rollout/rollout-status.ts';
import { isRecordOfTarget, refusedUnassigned } from '../rollout/node-progress.ts';
import type { KubeObject, Condition } from '#shared/contract/api/object.ts';
import { firstFew, firstLines } from '#shared/runtime/first-few.ts';
import { haltImpact } from './halt-impact.ts';
import { awaitedLines } from './approval-lines.ts';
import { classStatuses } from './class-statuses.ts';
import { summariseHolds } from './holds-summary.ts';

const MOST_FAILURES = 10;
const MOST_FINDINGS = 5;

/** What the cluster and git have of a pool, besides what was decided for its nodes. */
interface PoolFacts {
  readonly present: KubeletPool | undefined;
  /** Its config source, where that cannot be read. */
  readonly source?: UnreadableObject | undefined;
  /** Why the newest commit was not let into force, where it was not. */
  readonly refused?: string | undefined;
  /** Writes about it and its nodes that fail again and again. */
  readonly unwritten?: readonly FailedWrite[];
  /** What waits for a person before it comes into force. */
  readonly awaits?: AwaitedPayload | undefined;
}

/** Status of one pool: a pure function of what was decided for its nodes. */
export function poolStatus(
  pool: DesiredPool,
  { group, memory, decisions }: GroupPlan,
  { present, source, refused, unwritten = [], awaits }: PoolFacts,
  at: string,
): KubeletPoolStatus {
  const { halt, released, settled, proof, rollout } = memory;
  const counts = countsOf(group.members);
  const holds = summariseHolds(decisions);
  const phase = phaseOf(group.members, memory, decisions);
  const message = messageOf(group, counts, memory, decisions);
  return {
    ...(present?.metadata.generation === undefined ? {} : { observedGeneration: present.metadata.generation }),
    ...(pool.commit === null ? {} : { commit: pool.commit }),
    ...(pool.config === null ? {} : { configName: pool.config.name, sha256: pool.config.sha256 }),
    ...(pool.classes === undefined ? {} : { classes: classStatuses(pool.classes, group.members) }),
    phase,
    message,
    counts,
    ...(halt === null ? {} : { halt, impact: haltImpact(group.members, decisions) }),
    ...(released === null ? {} : { released }),
    ...(settled === null ? {} : { settled }),
    ...(proof === null ? {} : { proof }),
    ...(rollout === null ? {} : { rollout }),
    ...(awaits === undefined ? {} : { awaits }),
    ...(holds.length === 0 ? {} : { holds }),
    ...(unwritten.length === 0 ? {} : { unwritten: unwritten.slice(0, MOST_FAILURES) }),
    failures: failedMembers(group.members).slice(0, MOST_FAILURES).map(failureOf),
    conditions: settleConditions(
      [...conditionsOf(pool, phase, message, refused), ...paused(pool.name, memory), ...unreadSource(source)],
      present,
      at,
    ),
  };
}

function countsOf(members: readonly Member[]): PoolCounts {
  const count = {
    settled: 0,
    failing: 0,
    soaking: 0,
    updating: 0,
    outdated: 0,
    'awaits-turn': 0,
    broken: 0,
    failed: 0,
    'no-agent': 0,
  };
  let drifted = 0;
  for (const member of members) {
    const { shown, updated } = member.lifecycle;
    count[updated ? 'settled' : shown] += 1;
    if (member.kubeletNode?.status?.phase === 'Drifted') drifted += 1;
  }
  return {
    nodes: members.length,
    updated: count.settled,
    updating: count.updating,
    pending: count.outdated + count['awaits-turn'] + count.broken,
    failed: count.failed,
    noAgent: count['no-agent'],
    drifted,
  };
}

function phaseOf(
  members: readonly Member[],
  { halt, rollout }: RolloutMemory,
  decisions: readonly MemberDecision[],
): PoolPhase {
  if (members.length === 0) return 'Empty';
  if (halt !== null) return 'Halted';
  // A new node that was told a proven config changes nothing for the pool; one whose agent is missing does.
  const begun = decisions.filter(({ member }) => member.joining && member.lifecycle.shown === 'updating');
  const joining = new Set(begun.map(({ member }) => member.node.name));
  const lasting = members.filter(({ node }) => !joining.has(node.name));
  // Until its waves are done, a payload that all nodes run is proven for none.
  const isOver = rollout === null || rollout.finishedAt !== undefined;
  if (lasting.every(({ lifecycle }) => lifecycle.updated) && !decisions.some(isTurnUnderWay))
    return !isOver ? 'Progressing' : members.some(isFailing) ? 'Waiting' : 'Settled';
  const isMoving = decisions.some(({ member, verdict }) => {
    const { shown } = member.lifecycle;
    const isUnderWay = shown === 'updating' || shown === 'soaking';
    return isUnderWay || verdict.verdict === 'change' || verdict.verdict === 'drain';
  });
  return isMoving ? 'Progressing' : 'Waiting';
}

/**
 * A restart that a node asks for is given now, or as soon as others are done. While it waits for a window or a person, a pool whose
 * nodes all run and have proven its payload is settled nevertheless.
 */
function isTurnUnderWay({ member, verdict }: MemberDecision): boolean {
  if (member.turnRequest === undefined) return false;
  return verdict.verdict === 'change' || (verdict.verdict === 'hold' && BOUNDS.has(verdict.hold));
}

const BOUNDS: ReadonlySet<HoldReason> = new Set(['budget', 'zone-budget', 'overall-budget', 'control-plane']);

/** What it has proven stays proven; it is not in order with it. */
const isFailing = ({ lifecycle }: Member): boolean => lifecycle.shown === 'failing';

function messageOf(
  group: Group,
  counts: PoolCounts,
  { halt, rollout, proof }: Pick<RolloutMemory, 'halt' | 'rollout' | 'proof'>,
  decisions: readonly MemberDecision[],
): string {
  if (counts.nodes === 0) return 'no node matches the selector';
  if (halt !== null) return haltMessage(halt, group, decisions);
  const done = `${counts.updated} of ${counts.nodes} nodes run ${whatRuns(group.pool)}`;
  const because = firstWait(decisions);
  // Nobody is to take it for a config whose canaries passed.
  const unjudged = rollout?.analysis?.verdict === 'unknown' ? `; its canaries: ${rollout.analysis.message}` : '';
  const unrecorded =
    proof?.unrecorded === undefined
      ? ''
      : `; there are too many classes of machines to record: ${proof.unrecorded} count as unproven`;
  const { superseded = 0 } = rollout ?? {};
  const unproven =
    superseded < 2 ? '' : `; ${superseded} configs in a row were replaced by newer ones before any of them was proven`;
  const failing = group.members
    .filter(isFailing)
    .map(({ node: { name, kubeletVersion } }) =>
      kubeletVersion === '' ? name : `${name} (kubelet ${kubeletVersion})`,
    );
  const unwell = failing.length === 0 ? '' : `; not in order with what they had proven: ${firstFew(failing)}`;
  const broken = group.members.filter(({ lifecycle }) => lifecycle.shown === 'broken').map(({ node }) => node.name);
  const down =
    broken.length === 0
      ? ''
      : `; the kubelet runs with none of its configs, and this one is not to blame: ${firstFew(broken)}`;
  return `${done}${unwell}${down}${unjudged}${unrecorded}${unproven}${because}`;
}

/** What a person has to end comes before what keeps a single node. */
function firstWait(decisions: readonly MemberDecision[]): string {
  const holds = decisions.flatMap(({ member, verdict }) =>
    verdict.verdict === 'hold' ? [{ ...verdict, node: member.node.name }] : [],
  );
  const asked = holds.find((each) => each.hold === 'approval');
  if (asked !== undefined) return `; ${asked.because}`;
  const [first] = holds;
  return first === undefined ? '' : `; ${first.node} waits: ${first.because}`;
}

/** No node runs the template of a pool with computed values. */
const whatRuns = (pool: DesiredPool | null): string =>
  pool?.classes === undefined ? (pool?.config?.name ?? 'the local config') : 'the config of their class of machines';

/** What failed, how far the way back has come where there is one, and which nodes have none and keep what failed. */
function haltMessage(halt: Halt, group: Group, decisions: readonly MemberDecision[]): string {
  if (halt.action !== 'revert') return halt.message;
  const back = decisions.filter(({ aimed }) => aimed.targetKind !== 'config');
  const there = back.filter(({ member }) => member.lifecycle.updated).length;
  const keep = decisions.filter(
    ({ aimed, member }) =>
      aimed.targetKind === 'config' && member.isAssigned && !isProven(group, member.node.name, member.target),
  );
  const names = firstFew(keep.map(({ member }) => member.node.name));
  const kept = keep.length === 0 ? '' : `; ${keep.length} without a config to go back to: ${names}`;
  return `${halt.message}; ${there} of ${back.length + keep.length} nodes are back${kept}`;
}

/**
 * What the newest commit wants of a pool and does not get counts as much as its nodes: they may all be well, and whoever waits for what they
 * pushed would wait for nothing.
 */
function conditionsOf(
  pool: DesiredPool,
  phase: PoolPhase,
  message: string,
  refused: string | undefined,
): readonly ConditionNow[] {
  const is = (truth: boolean): 'True' | 'False' => (truth ? 'True' : 'False');
  const invalid = hasErrors(pool.findings);
  const findings = summarise(pool.findings);
  const stop = stopOf(phase, message, invalid ? findings : '', refused);
  const about = { reason: stop?.reason ?? phase, message: stop?.message ?? message };
  return [
    { type: 'Ready', status: is(stop === undefined && (phase === 'Settled' || phase === 'Empty')), ...about },
    { type: 'Reconciling', status: is(stop === undefined && phase === 'Progressing'), reason: about.reason, message },
    { type: 'Stalled', status: is(stop !== undefined), reason: about.reason, message: stop?.message ?? '' },
    {
      type: 'ConfigValid',
      status: is(!invalid),
      reason: invalid ? 'Refused' : pool.origin === 'retiring' ? 'Retiring' : 'Accepted',
      message: findings,
    },
  ];
}

/** Absent where nothing waits for a person. */
const paused = (name: string, { halt, rollout }: RolloutMemory): readonly ConditionNow[] =>
  awaitedLines(name, { ...(halt && { halt }), ...(rollout && { rollout }) }).map((message) => ({
    type: 'WaitsForApproval',
    status: 'True',
    reason: 'Paused',
    message,
  }));

/** Absent where it can be read. */
function unreadSource(source: UnreadableObject | undefined): readonly ConditionNow[] {
  if (source === undefined) return [];
  const message = `nobody makes, fixes or deletes the ConfigMap ${source.name}: ${reasonOf(source.error)}`;
  return [{ type: 'ConfigSourceReadable', status: 'False', reason: 'CannotBeRead', message }];
}

/** What only a person or another commit gets going again; the nodes first. */
function stopOf(
  phase: PoolPhase,
  message: string,
  errors: string,
  refused: string | undefined,
): Pick<ConditionNow, 'reason' | 'message'> | undefined {
  if (phase === 'Halted') return { reason: phase, message };
  if (refused !== undefined) return { reason: 'CommitRefused', message: `the newest commit is refused: ${refused}` };
  return errors === '' ? undefined : { reason: 'ConfigRefused', message: errors };
}

/** The first few findings, for a place where not all of them fit. */
function summarise(findings: readonly Finding[]): string {
  const errorsFirst = [...findings].sort((a, b) => Number(b.severity === 'error') - Number(a.severity === 'error'));
  return firstLines(errorsFirst.map(formatFinding), MOST_FINDINGS);
}

/** The very rejection that it counts as failed for: the same bytes may have failed before, laid over in another way. */
function failureOf({ kubeletNode, node, target, failedAt }: Member): PoolFailure {
  const { spec = {}, status = {} } = kubeletNode ?? {};
  const refused = refusedUnassigned(kubeletNode, target);
  if (refused !== undefined) {
    const { reason = 'PreflightFailed', message = '', at } = refused;
    return { node: node.name, config: spec.preflight?.configSource.name ?? '', reason, message, at };
  }
  const rejected = status.rejected?.find((entry) => entry.at === failedAt && isRecordOfTarget(entry, target));
  const { reason = 'Unknown', message = '', at = '' } = rejected ?? status.error ?? {};
  return { node: node.name, config: rejected?.name ?? spec.configSource?.name ?? '', reason, message, at };
}

/** A condition as it is now; since when, the object says. */
export type ConditionNow = Omit<Condition, 'lastTransitionTime' | 'observedGeneration'>;

/** An object as far as its conditions go. */
interface Present extends KubeObject {
  readonly status?: { readonly conditions?: readonly Condition[] };
}

/** Conditions as they are to be written, of this generation: the transition time is kept where the status did not change. */
export function settleConditions(
  now: readonly ConditionNow[],
  present: Present | undefined,
  at: string,
): readonly Condition[] {
  const generation = present?.metadata.generation;
  return now.map((condition) => {
    const last = present?.status?.conditions?.find((other) => other.type === condition.type);
    return {
      ...condition,
      // A server whose CRD lacks the field leaves it out.
      lastTransitionTime: (last?.status === condition.status ? last.lastTransitionTime : undefined) ?? at,
      ...(generation === undefined ? {} : { observedGeneration: generation }),
    };
  });
}
