import { RELEASE_ANNOTATION } from '#shared/contract/api/group.ts';
import type { AnalysisStatus, FailedWrite, KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import { type Millis, toTimestamp } from '#shared/runtime/clock.ts';
import type { Desired } from './desired.ts';
import type { ConfigSourceView, Fleet } from './fleet.ts';
import type { PlanSettings, Step } from './steps.ts';
import { type Targeted, targetsOf, withForgivenFailures } from './rollout/targets.ts';
import { type NodeSpecs, nodeSpecsOf } from './rollout/node-spec.ts';
import { type Budgets, budgetsOf } from './rollout/max-unavailable.ts';
import { cohortOf } from './rollout/cohort.ts';
import { decideGroup, type MemberDecision } from './rollout/decide-group.ts';
import { beforeRestart } from './rollout/before-restart.ts';
import { nodeDisruptions } from './rollout/node-disruption.ts';
import { drainSteps } from './rollout/drain-steps.ts';
import { inTurn } from './rollout/pool-turns.ts';
import { lockOutVerdict } from './rollout/lock-out.ts';
import { createPayloadReader } from './payload-reader.ts';
import { haltOf, releaseOf, withInheritedStatus } from './rollout/halt.ts';
import { withCause } from './rollout/halt-cause.ts';
import { removedWhileDown } from './rollout/removed-while-down.ts';
import { holdForLabelGrace, type LabelGrace, rememberLabelLosses } from './rollout/label-grace.ts';
import type { Signals } from './signals.ts';
import { windowsState } from './windows/windows-state.ts';
import { type Group, isConfigurable, membershipOf, type Membership } from './rollout/membership.ts';
import { analysisOf, measureSteps } from './rollout/rollout-analysis.ts';
import type { NodeTarget } from './rollout/node-progress.ts';
import { isAllProven, wavesOfPool } from './rollout/pool-waves.ts';
import { poolProof } from './rollout/pool-proof.ts';
import { NO_PROOF } from './proof/record.ts';
import { nodeSteps, currentTrialTerms } from './rollout/node-steps.ts';
import { isCompared, rememberRollout, type RolloutMemory, type RolloutNow } from './rollout/rollout-status.ts';

/** What was decided for the nodes of one pool (or of none that is known any more). */
export interface GroupPlan {
  /** Every node stands here towards the pool's own payload, whatever it is told meanwhile. */
  readonly group: Group;
  readonly memory: RolloutMemory;
  readonly decisions: readonly MemberDecision[];
}

export interface NodesPlan {
  readonly groups: readonly GroupPlan[];
  readonly skipped: Membership['skipped'];
  /** What to tell people where more nodes lost their labels than may be unassigned; null where not. */
  readonly labelLoss: string | null;
  readonly steps: readonly Step[];
  /** Which of them, and of those of pools, were tried before and fail again and again. Absent for none. */
  readonly unwritten?: readonly FailedWrite[];
}

/** Decides for every node of the cluster, and what has to be written for it. Pure. */
export function planNodes(
  desired: Desired,
  fleet: Fleet,
  settings: PlanSettings,
  now: Millis,
  signals: Signals,
): NodesPlan {
  const { groups, skipped } = membershipOf(desired, fleet, now);
  const nameOf = configNames(fleet);
  const aimed = groups.map((group) => aim(group, fleet, signals, nameOf, now));
  const told = aimed.map(({ group, aims }) => ({ ...group, members: aims.map(({ member }) => member) }));
  const budgets = budgetsOf(
    told,
    skipped,
    fleet,
    [desired.policy.maxUnavailable, desired.policy.former?.maxUnavailable ?? null],
    now,
  );
  const guard = holdForLabelGrace(desired, fleet, now);
  const sources = new Map([...fleet.configSources.values()].map((source) => [source.sha256, source]));
  const budgeted = aimed.map((each, index) => ({ ...each, budgeted: told[index] ?? each.group }));
  const inOrder = inTurn(budgeted).map((each) => {
    const assignments = nodeSpecsOf(each.group.pool, fleet, settings.namespace, each.aims);
    const asked = { ...each, assignments, sources };
    const plan = planGroup(asked, desired, fleet, { budgets, guard, signals }, now);
    const isHearsay = hearsayOf(desired, each.group) !== undefined;
    const terms = currentTrialTerms(asked.budgeted, budgets);
    return { plan, steps: isHearsay ? [] : nodeSteps(plan.decisions, assignments, terms) };
  });
  const byPool = new Map(inOrder.map((each) => [each.plan.group.pool, each]));
  const planned = groups.flatMap(({ pool }) => byPool.get(pool) ?? []);
  const plans = planned.map(({ plan }) => plan);
  return {
    groups: plans,
    skipped,
    labelLoss: guard.warning,
    ...(signals.unwritten === undefined ? {} : { unwritten: signals.unwritten }),
    steps: [
      ...rememberLabelLosses(fleet),
      ...plans.flatMap(({ group, memory }) => measureSteps(group, memory.rollout)),
      ...planned.flatMap(({ steps }) => steps),
      ...drainSteps(plans, skipped, fleet, now),
    ],
  };
}

interface AimedGroup extends Pick<RolloutNow, 'halt' | 'released' | 'lost'> {
  /** The pool's status as decisions take it. */
  readonly before: KubeletPoolStatus | undefined;
  readonly group: Group;
  readonly aims: readonly Targeted[];
}

function aim(
  of: Group,
  fleet: Fleet,
  { records, rendered }: Signals,
  nameOf: ReturnType<typeof configNames>,
  now: Millis,
): AimedGroup {
  const name = of.pool?.name ?? '';
  const present = fleet.pools.get(name);
  const own = records?.get(name);
  const isOwn = own !== undefined && own.uid === (present?.metadata.uid ?? '');
  const before = withInheritedStatus(of, isOwn ? own.status : present?.status, fleet);
  const released = releaseOf(of, before, present?.metadata.annotations?.[RELEASE_ANNOTATION]);
  const forgiven = withForgivenFailures(of, released);
  const lost = removedWhileDown(forgiven, before, fleet);
  const halt = haltOf(forgiven, before, released, toTimestamp(now), lost);
  if (of.pool === null)
    return { group: forgiven, before, halt, released, lost, aims: targetsOf(forgiven, halt, nameOf(''), now) };
  const proof = poolProof(forgiven, { status: before, isOwn, rendered: rendered?.get(name) }, now);
  const group = { ...forgiven, proof };
  return { group, before, halt, released, lost, aims: targetsOf(group, halt, nameOf(name), now) };
}

/** By pool, the ConfigMap that carries a config: its own before one of another pool, and a name that there is none of where there is none. */
function configNames({ configSources }: Fleet): (pool: string) => (target: NonNullable<NodeTarget>) => string {
  let bySha: ReadonlyMap<string, readonly ConfigSourceView[]> | undefined;
  return (pool) =>
    ({ sha256 }) => {
      bySha ??= Map.groupBy(configSources.values(), (source) => source.sha256);
      const found = (bySha.get(sha256) ?? []).filter(({ defect }) => defect === undefined);
      return (found.find((source) => source.pool === pool) ?? found[0])?.name ?? `${pool}-${sha256.slice(0, 10)}`;
    };
}

interface AskedGroup extends AimedGroup {
  /** The same nodes as they stand towards what they are told now, which may be another config than the pool's. */
  readonly budgeted: Group;
  readonly assignments: NodeSpecs;
  /** The config sources of the cluster, by the SHA-256 of what they carry. */
  readonly sources: ReadonlyMap<string, ConfigSourceView>;
}

function planGroup(
  { group, before: known, aims, halt, released, lost = [], budgeted, assignments, sources }: AskedGroup,
  desired: Desired,
  fleet: Fleet,
  { budgets, guard, signals }: { readonly budgets: Budgets; readonly guard: LabelGrace; readonly signals: Signals },
  now: Millis,
): GroupPlan {
  const present = fleet.pools.get(group.pool?.name ?? '');
  const { proof = NO_PROOF } = group;
  const before = proof.rollout;
  const cohort = cohortOf(group.members.filter(isConfigurable), before, group.pool?.spec.rollout.canary);
  const waves =
    halt === null
      ? wavesOfPool(group, cohort, before, { released, annotations: present?.metadata.annotations }, now)
      : null;
  // What is proven has been compared: who goes back to it does not wait.
  const isNew = before?.analysis !== undefined || !isAllProven(group);
  const analysis =
    waves === null || !isNew ? before?.analysis : analysisOf(group, cohort, waves, before, now, signals.queries);
  const payloadOf = createPayloadReader(group.pool, sources);
  const disruption = nodeDisruptions(payloadOf);
  const hearsay = hearsayOf(desired, group);
  const doubted = group.members.flatMap(({ node }) => (node.doubted === true ? [node.name] : []));
  const decisions = decideGroup(
    {
      group: budgeted,
      now,
      unverified: hearsay,
      doubted,
      targets: aims,
      present,
      policy: desired.policy,
      windows: windowsState(
        [desired.policy.windows, desired.policy.former?.windows, group.pool?.spec.rollout.windows],
        now,
      ),
      blockers: signals.blockers.get(group.pool?.name ?? ''),
      halt,
      waves,
      analysis: released === null ? written(analysis, before?.analysis) : undefined,
      cohort: cohort.names,
      refusedBases: refusedBasesOf(group),
      isAvailable: (name, target) => assignments(name, target) !== undefined,
      unselected: guard.holds,
      lockOut: (aimed) => lockOutVerdict(aimed, payloadOf, signals.pods, now),
      disruption: (aimed) => beforeRestart(aimed, disruption(aimed), group.pool, signals, now),
    },
    budgets,
  );
  const { by } = desired;
  const explained = halt === null ? null : withCause(halt, group, known, payloadOf, by);
  const onTrial = budgets.onTrial(budgeted);
  const rollout = { halt: explained, released, waves, cohort, analysis, onTrial, lost, by };
  return { group, decisions, memory: rememberRollout(group, known, rollout, now) };
}

/** Then no node is written to. */
const hearsayOf = (desired: Desired, { pool }: Group): 'all' | 'pool' | undefined =>
  desired.unverified === true ? 'all' : pool?.unverified === true ? 'pool' : undefined;

function refusedBasesOf({ members }: Group): ReadonlyMap<string, string> {
  return new Map(
    members.flatMap(({ node, kubeletNode }) => {
      const sha256 = kubeletNode?.status?.refusedBase?.sha256;
      return sha256 === undefined ? [] : [[sha256, node.name] as const];
    }),
  );
}

/** A verdict that nobody begins by before it is in the pool's record. */
function written(analysis: AnalysisStatus | undefined, known: AnalysisStatus | undefined): AnalysisStatus | undefined {
  const isFresh = analysis !== undefined && analysis.verdict !== known?.verdict;
  return isFresh && isCompared(analysis) ? { ...analysis, verdict: 'waiting' } : analysis;
}
