import { isDeepStrictEqual } from 'node:util';
import { PAYLOAD_KEY, RELEASE_ANNOTATION } from '#shared/contract/api/group.ts';
import {
  DEFAULT_DRIFT,
  DEFAULT_TRIAL,
  type KubeletNode,
  type KubeletNodeSpec,
} from '#shared/contract/api/kubelet-node.ts';
import type { RolloutStatus } from '#shared/contract/api/kubelet-pool.ts';
import { type Millis, toTimestamp } from '#shared/runtime/clock.ts';
import type { Desired, DesiredPool } from '../desired.ts';
import type { ConfigSourceView, Fleet } from '../fleet.ts';
import type { PlanSettings, Step } from '../steps.ts';
import { type Aimed, aimsOf, forgive } from './aims.ts';
import { type Budgets, budgetsOf } from './budget.ts';
import { decideGroup, type MemberDecision, type Verdict } from './decide-group.ts';
import { beforeRestart, disruptionsIn } from './before-restart.ts';
import { drainSteps } from './drain-steps.ts';
import { haltOf, haltThreshold, releaseOf } from './failures.ts';
import { gateSteps } from './gate-steps.ts';
import { gatesOf, type Signals } from './gates.ts';
import { type Group, type Member, membershipOf, type Membership } from './membership.ts';
import { rememberRollout, type RolloutMemory } from './rollout-status.ts';
import { type WaveProgress, waveProgress } from './wave-progress.ts';
import { wavesOf } from './waves.ts';

/** What was decided for the nodes of one pool (or of none that is known any more). */
export interface GroupPlan {
  /** Every node stands here towards the pool's own payload, whatever it is told meanwhile. */
  readonly group: Group;
  readonly memory: RolloutMemory;
  readonly decisions: readonly MemberDecision[];
}

export interface NodesPlan {
  readonly groups: readonly GroupPlan[];
  readonly untouchable: Membership['untouchable'];
  readonly steps: readonly Step[];
}

export function planNodes(
  desired: Desired,
  fleet: Fleet,
  settings: PlanSettings,
  now: Millis,
  signals: Signals,
): NodesPlan {
  const { groups, untouchable } = membershipOf(desired, fleet, now);
  const aimed = groups.map((group) => aim(group, fleet, now));
  const standing = aimed.map(({ group, aims }) => ({ ...group, members: aims.map(({ member }) => member) }));
  const budgets = budgetsOf(standing, untouchable, desired.policy.maxUnavailable);
  const planned = aimed.map((each, index) =>
    planGroup({ ...each, budgeted: standing[index] ?? each.group }, desired, fleet, budgets, signals, now),
  );
  const steps = planned.flatMap((group) => stepsOf(group, fleet, settings));
  return {
    groups: planned,
    untouchable,
    steps: [
      ...presenceSteps(fleet),
      ...steps,
      ...drainSteps(planned, fleet, now),
      ...gateSteps(planned, desired, fleet),
    ],
  };
}

interface AimedGroup extends Pick<RolloutMemory, 'halt' | 'released'> {
  readonly group: Group;
  readonly aims: readonly Aimed[];
}

function aim(group: Group, fleet: Fleet, now: Millis): AimedGroup {
  const present = fleet.pools.get(group.pool?.name ?? '');
  const before = present?.status;
  const released = releaseOf(group, before, present?.metadata.annotations?.[RELEASE_ANNOTATION]);
  const forgiven = forgive(group, released);
  const halt = haltOf(forgiven, before, released, toTimestamp(now));
  return { group: forgiven, halt, released, aims: aimsOf(forgiven, before, halt, now) };
}

function planGroup(
  { group, aims, halt, released, budgeted }: AimedGroup & { readonly budgeted: Group },
  desired: Desired,
  fleet: Fleet,
  budgets: Budgets,
  signals: Signals,
  now: Millis,
): GroupPlan {
  const present = fleet.pools.get(group.pool?.name ?? '');
  const waves = halt === null ? wavesFor(group, present?.status?.rollout, now) : null;
  const disruption = disruptionsIn(group.pool, fleet);
  const decisions = decideGroup(
    {
      group: budgeted,
      aims,
      halt,
      waves,
      gates: gatesOf(group.pool, present, desired.policy, signals, now),
      finishesWaves: group.pool?.spec.rollout.windows?.overrun === 'finish-wave',
      isAvailable: (name) => sourceOf(name, group.pool, fleet) !== undefined,
      disruption: (aimed) => beforeRestart(aimed, disruption(aimed), group.pool, signals, now),
    },
    budgets,
  );
  return { group, decisions, memory: rememberRollout(group, present?.status, halt, released, waves, now) };
}

function wavesFor(group: Group, before: RolloutStatus | undefined, now: Millis): WaveProgress | null {
  const { pool } = group;
  const config = pool?.config ?? null;
  if (pool === null || config === null) return null;
  const members = group.members.filter(({ target }) => target !== null);
  const same = before?.sha256 === config.sha256 ? before : undefined;
  return waveProgress(wavesOf(pool.spec.rollout, members), members, same, haltThreshold(group) - 1, now);
}

/** A config source of a pool, if the cluster has it and it carries what was decided on. */
function sourceOf(name: string, pool: DesiredPool | null, fleet: Fleet): ConfigSourceView | undefined {
  const wanted = [pool?.config, fleet.pools.get(pool?.name ?? '')?.status?.settled].map((config) =>
    config === null || config === undefined
      ? undefined
      : { name: 'configName' in config ? config.configName : config.name, sha256: config.sha256 },
  );
  const source = fleet.configSources.get(name);
  return wanted.some((config) => config?.name === name && config.sha256 === source?.sha256) ? source : undefined;
}

/** One KubeletNode for every Node, so that every agent has a place to report to, and none for Nodes that are gone. */
function presenceSteps(fleet: Fleet): readonly Step[] {
  const owned = (node: KubeletNode, uid: string): boolean =>
    node.metadata.ownerReferences?.some((owner) => owner.uid === uid) === true;
  const missing = [...fleet.nodes.values()]
    .filter((node) => !fleet.kubeletNodes.has(node.name))
    .map((node): Step => ({ step: 'create-node', node: node.name, uid: node.uid }));
  const left = [...fleet.kubeletNodes.values()]
    .filter((node) => !owned(node, fleet.nodes.get(node.metadata.name)?.uid ?? ''))
    .map((node): Step => ({ step: 'delete-node', node: node.metadata.name, uid: node.metadata.uid ?? '' }));
  return [...left, ...missing];
}

function stepsOf({ group, decisions }: GroupPlan, fleet: Fleet, settings: PlanSettings): readonly Step[] {
  return decisions.flatMap(({ member, aimed, verdict }): readonly Step[] => {
    const { kubeletNode: node, target } = member;
    if (node === undefined) return [];
    if (target === null || aimed.configName === null) return leavingSteps(member, verdict);
    const source = sourceOf(aimed.configName, group.pool, fleet);
    if (group.pool === null || source === undefined) return [];
    const spec = assignmentSpec(group.pool, source, settings.namespace);
    if (verdict.verdict === 'change') {
      const forgive = member.forgive && member.failedAt !== undefined ? { forgive: member.failedAt } : {};
      const { reboot, because } = verdict;
      const order = reboot === undefined ? {} : { reboot };
      return [{ step: 'assign', node, spec: { ...spec, ...forgive, ...order }, because }];
    }
    const told = member.standing !== 'outdated' && member.standing !== 'no-agent';
    return told && !sayTheSame(node.spec, spec)
      ? [
          {
            step: 'amend',
            node,
            spec: { ...spec, ...rebootIn(node) },
            because: 'the pool says something else besides the payload',
          },
        ]
      : [];
  });
}

/** An order to reboot belongs to the change that it was given with, and stays while that change is what the node was told. */
const rebootIn = ({ spec }: KubeletNode): Pick<KubeletNodeSpec, 'reboot'> =>
  spec?.reboot === undefined ? {} : { reboot: spec.reboot };

/** The pool stays in the spec until the node runs its local config, so that its budget goes on counting the node. */
function leavingSteps({ kubeletNode: node, standing }: Member, verdict: Verdict): readonly Step[] {
  const pool = node?.spec?.pool;
  if (node === undefined) return [];
  if (verdict.verdict === 'change') {
    return [{ step: 'unassign', node, spec: pool === undefined ? {} : { pool }, because: verdict.because }];
  }
  const gone = standing === 'settled' && pool !== undefined;
  return gone ? [{ step: 'amend', node, spec: {}, because: 'the node runs its local config again' }] : [];
}

function assignmentSpec(pool: DesiredPool, source: ConfigSourceView, namespace: string): KubeletNodeSpec {
  const { name, uid, resourceVersion, sha256 } = source;
  const { apply, trial, drift = DEFAULT_DRIFT, allowFields = [], tolerate = [] } = pool.spec;
  return {
    pool: pool.name,
    ...(pool.commit === null ? {} : { commit: pool.commit }),
    configSource: { namespace, name, uid, resourceVersion, key: PAYLOAD_KEY, sha256 },
    apply,
    trial,
    // Written only where it says something: a release that brings the field must not write to every node.
    ...(drift === DEFAULT_DRIFT ? {} : { drift }),
    ...(allowFields.length === 0 ? {} : { allowFields }),
    ...(tolerate.length === 0 ? {} : { tolerate }),
  };
}

/**
 * Whether two assignments differ in nothing that a node should hear of. The commit is not compared: a commit that leaves
 * the payload as it was must not write to every node. Nor is the resourceVersion: a label on the ConfigMap changes it.
 */
function sayTheSame(present: KubeletNodeSpec | undefined, wanted: KubeletNodeSpec): boolean {
  const [is, be] = [present?.configSource, wanted.configSource];
  if (is?.name !== be?.name || is?.uid !== be?.uid || is?.sha256 !== be?.sha256) return false;
  if (present?.pool !== wanted.pool || (present?.apply ?? 'overlay') !== (wanted.apply ?? 'overlay')) return false;
  if ((present?.drift ?? DEFAULT_DRIFT) !== (wanted.drift ?? DEFAULT_DRIFT)) return false;
  const essence = ({ trial, allowFields = [], tolerate = [] }: KubeletNodeSpec): unknown => [
    { ...DEFAULT_TRIAL, ...trial },
    allowFields,
    tolerate,
  ];
  return isDeepStrictEqual(essence(present ?? {}), essence(wanted));
}
