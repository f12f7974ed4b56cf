import { isDeepStrictEqual } from 'node:util';
import { PAYLOAD_KEY } from '#shared/contract/api/group.ts';
import {
  DEFAULT_DRIFT,
  DEFAULT_TRIAL,
  type KubeletNode,
  type KubeletNodeSpec,
} from '#shared/contract/api/kubelet-node.ts';
import type { Halt } from '#shared/contract/api/kubelet-pool.ts';
import { type Millis, toTimestamp } from '#shared/runtime/clock.ts';
import type { Desired, DesiredPool } from '../desired.ts';
import type { ConfigSourceView, Fleet } from '../fleet.ts';
import type { PlanSettings, Step } from '../steps.ts';
import { decideGroup, haltOf, type MemberDecision, type Verdict } from './decide-group.ts';
import { type Group, type Member, type Membership, membershipOf } from './membership.ts';

/** What was decided for the nodes of one pool (or of none that is known any more). */
export interface GroupPlan {
  readonly group: Group;
  readonly halt: Halt | null;
  readonly decisions: readonly MemberDecision[];
}

export interface NodesPlan {
  readonly groups: readonly GroupPlan[];
  readonly untouchable: Membership['untouchable'];
  readonly steps: readonly Step[];
}

export function planNodes(desired: Desired, fleet: Fleet, settings: PlanSettings, now: Millis): NodesPlan {
  const { groups, untouchable } = membershipOf(desired, fleet, now);
  const planned = groups.map((group) => planGroup(group, fleet, now));
  const steps = planned.flatMap((group) => stepsOf(group, fleet, settings));
  return { groups: planned, untouchable, steps: [...presenceSteps(fleet), ...steps] };
}

function planGroup(group: Group, fleet: Fleet, now: Millis): GroupPlan {
  const before = fleet.pools.get(group.pool?.name ?? '')?.status?.halt ?? null;
  const halt = haltOf(group, before, toTimestamp(now));
  const available = sourceOf(group.pool, fleet) !== undefined;
  return { group, halt, decisions: decideGroup(group, halt, available) };
}

/** The config source of a pool, if the cluster has it and it carries what was decided on. */
function sourceOf(pool: DesiredPool | null, fleet: Fleet): ConfigSourceView | undefined {
  const config = pool?.config ?? null;
  const source = config === null ? undefined : fleet.configSources.get(config.name);
  return source?.sha256 === config?.sha256 ? source : undefined;
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
  const source = sourceOf(group.pool, fleet);
  return decisions.flatMap(({ member, verdict }): readonly Step[] => {
    const { kubeletNode: node, target } = member;
    if (node === undefined) return [];
    if (target === null) return leavingSteps(member, verdict);
    if (group.pool === null || source === undefined) return [];
    const spec = assignmentSpec(group.pool, source, settings.namespace);
    if (verdict.verdict === 'change') return [{ step: 'assign', node, spec, because: verdict.because }];
    const told = member.standing !== 'outdated' && member.standing !== 'no-agent';
    return told && !sayTheSame(node.spec, spec)
      ? [{ step: 'amend', node, spec, because: 'the pool says something else besides the payload' }]
      : [];
  });
}

/** The pool stays in the spec until the node runs its local config, so that its budget goes on counting the node. */
function leavingSteps({ kubeletNode: node, standing }: Member, verdict: Verdict): readonly Step[] {
  const pool = node?.spec?.pool;
  if (node === undefined) return [];
  if (verdict.verdict === 'change') {
    return [{ step: 'unassign', node, spec: pool === undefined ? {} : { pool }, because: 'no pool selects the node' }];
  }
  const gone = standing === 'settled' && pool !== undefined;
  return gone ? [{ step: 'amend', node, spec: {}, because: 'the node runs its local config again' }] : [];
}

function assignmentSpec(pool: DesiredPool, source: ConfigSourceView, namespace: string): KubeletNodeSpec {
  const { name, uid, resourceVersion, sha256 } = source;
  const { apply, trial, drift = DEFAULT_DRIFT, allowFields = [] } = pool.spec;
  return {
    pool: pool.name,
    ...(pool.commit === null ? {} : { commit: pool.commit }),
    configSource: { namespace, name, uid, resourceVersion, key: PAYLOAD_KEY, sha256 },
    apply,
    trial,
    // Written only where it says something: a release that brings the field must not write to every node.
    ...(drift === DEFAULT_DRIFT ? {} : { drift }),
    ...(allowFields.length === 0 ? {} : { allowFields }),
  };
}

/**
 * Whether two assignments differ in nothing that a node should hear of. The commit is not compared: a commit that leaves
 * the payload as it was must not write to every node. Nor is the resourceVersion: a label on the ConfigMap changes it.
 */
function sayTheSame(present: KubeletNodeSpec | undefined, wanted: KubeletNodeSpec): boolean {
  const essence = (spec: KubeletNodeSpec | undefined): unknown => [
    spec?.pool,
    spec?.apply ?? 'overlay',
    { ...DEFAULT_TRIAL, ...spec?.trial },
    spec?.drift ?? DEFAULT_DRIFT,
    spec?.allowFields ?? [],
    spec?.configSource?.name,
    spec?.configSource?.uid,
    spec?.configSource?.sha256,
  ];
  return isDeepStrictEqual(essence(present), essence(wanted));
}
