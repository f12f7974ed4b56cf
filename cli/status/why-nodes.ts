import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import { CONFIG_MAPS, type Kube, KUBELET_NODES, KUBELET_POOLS, NODES } from '#shared/kube/kube.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { desiredState } from '#reconciler/desired.ts';
import type { Fleet } from '#reconciler/fleet.ts';
import {
  CONFIG_SOURCE_SELECTOR,
  viewConfigSource,
  viewKubeletNode,
  viewKubeletPool,
  viewNode,
} from '#reconciler/observe.ts';
import { plan } from '#reconciler/plan.ts';
import { recordedPolicy } from '#reconciler/rollout/cluster-policy.ts';
import type { MemberDecision } from '#reconciler/rollout/decide-group.ts';
import type { Signals } from '#reconciler/rollout/gates.ts';

/** Where a node stands now, and why it is changed or not. */
export interface NodeReason {
  readonly node: string;
  readonly pool: string;
  readonly standing: string;
  /** `change now`, `nothing to do`, or the reason it is held for, such as `budget`. */
  readonly now: string;
  readonly because: string;
}

/** Everything that the planner looks at, read once. Throws a `KubeError` where a call fails. */
export async function readFleet(kube: Kube, namespace: string, signal?: AbortSignal): Promise<Fleet> {
  const [nodes, kubeletNodes, pools, sources] = await Promise.all([
    kube.list<KubeObject>({ resource: NODES }, signal),
    kube.list<KubeletNode>({ resource: KUBELET_NODES }, signal),
    kube.list<KubeletPool>({ resource: KUBELET_POOLS }, signal),
    kube.list<KubeObject>({ resource: CONFIG_MAPS, namespace, labelSelector: CONFIG_SOURCE_SELECTOR }, signal),
  ]);
  const named = <T>(items: readonly KubeObject[], view: (item: KubeObject) => T): ReadonlyMap<string, T> =>
    new Map(items.map((item) => [item.metadata.name, view(item)]));
  return {
    nodes: named(nodes.items, viewNode),
    kubeletNodes: named(kubeletNodes.items, viewKubeletNode),
    pools: named(pools.items, viewKubeletPool),
    configSources: named(sources.items, viewConfigSource),
  };
}

/**
 * What the planner says of every node now: the reconciler's own decision, made once more on what the cluster holds. What it
 * asks others for (blockers) is taken from what the pools' status says of it.
 *
 * @param policy the recorded policy of the cluster, as JSON
 */
export function whyNodes(fleet: Fleet, policy: string, namespace: string, now: Millis): readonly NodeReason[] {
  const desired = desiredState(null, fleet, () => [], recordedPolicy(policy));
  const settings = { namespace, keepUnusedMs: Number.POSITIVE_INFINITY };
  const { groups, untouchable } = plan(desired, fleet, settings, now, toldBy(fleet)).nodes;
  const decided = groups.flatMap(({ group, decisions }) =>
    decisions.map((decision) => reasonOf(group.pool?.name ?? '-', decision)),
  );
  const left = untouchable.map(({ node, choice }) => ({
    node: node.name,
    pool: '-',
    standing: '-',
    now: choice.choice,
    because:
      choice.choice === 'conflict'
        ? `${choice.pools.join(' and ')} select it with the same priority: give one of them a higher one`
        : 'a label on the node keeps us off it',
  }));
  const known = new Set([...decided, ...left].map(({ node }) => node));
  const free = [...fleet.nodes.keys()].filter((node) => !known.has(node));
  const unselected = free.map((node) => ({
    node,
    pool: '-',
    standing: '-',
    now: 'nothing to do',
    because: 'no pool selects it, and it runs its local config',
  }));
  const collator = new Intl.Collator('en', { numeric: true });
  return [...decided, ...left, ...unselected].sort((a, b) => collator.compare(a.node, b.node));
}

function reasonOf(pool: string, { member, verdict }: MemberDecision): NodeReason {
  const { node, standing } = member;
  switch (verdict.verdict) {
    case 'rest':
      return { node: node.name, pool, standing, now: 'nothing to do', because: restOf(member) };
    case 'change':
      return { node: node.name, pool, standing, now: 'change now', because: verdict.because };
    case 'drain':
      return { node: node.name, pool, standing, now: 'drain', because: verdict.because };
    case 'hold':
      return { node: node.name, pool, standing, now: verdict.hold, because: verdict.because };
  }
}

function restOf({ standing, kubeletNode }: MemberDecision['member']): string {
  const by = kubeletNode?.status?.trial?.awaitsReboot;
  return standing === 'updating' && by !== undefined
    ? `it waits for its machine to boot anew (${by})`
    : (RESTS[standing] ?? '');
}

const RESTS: Readonly<Record<string, string>> = {
  settled: 'it runs what it is to run, and has proved it',
  soaking: 'it runs what it is to run, and holds its place in the budget until it has soaked',
  updating: 'it was told and is at it',
  failed: 'it took the config back and does not try it again',
};

function toldBy(fleet: Fleet): Signals {
  const blockers = [...fleet.pools].map(([name, { status }]) => {
    const blocked = status?.holds?.find(({ reason }) => reason === 'blocked');
    return [name, { quiet: blocked === undefined, because: blocked?.message ?? '' }] as const;
  });
  return { blockers: new Map(blockers), drains: new Map() };
}
