import assert from 'node:assert/strict';
import { nodesFrom } from '#cli/inventory/read-inventory.ts';
import type { InventoryNode } from '#cli/inventory/inventory-node.ts';
import { makePlan } from '#cli/plan/make-plan.ts';
import type { MergePlan } from '#cli/plan/merge-plan.ts';
import { seededRandom } from '#cli/seeded-random.ts';
import { type Simulation, simulate } from '#cli/simulate/simulate.ts';
import type { LoadedRepo } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { RESTART_MS } from '#reconciler/policy/forecast/duration-range.ts';
import { approvalValue, awaitedApprovals } from '#shared/contract/api/approval.ts';
import { APPROVE_ANNOTATION } from '#shared/contract/api/group.ts';
import type { KubeletPool, KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import { AGENT_SILENT_MS, HEARTBEAT_MS } from '#shared/contract/api/silent-agent.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import { KUBELET_NODES, KUBELET_POOLS, NODES, PODS } from '#shared/kube/kube.ts';
import { fromTimestamp, type Millis } from '#shared/runtime/clock.ts';
import type { Written } from '../takeover/cluster.ts';
import type { World } from './random-change.ts';
import { PATIENCE_MS, type RealFleet, startRealFleet } from './real-fleet.ts';

const MINUTE = 60_000;
const HORIZON_MS = 300 * 60 * MINUTE;

/** Longer than any wait of these worlds that ends by itself: of trials, a soak, and windows after it. */
const REST_MS = 9 * MINUTE;
/** The past has none of these. */
const SHORT_REST_MS = 3 * MINUTE;

/** A node that was told something, in order. */
export interface Told {
  readonly atMs: Millis;
  readonly node: string;
  /** `went`: it was sent back to its own config. `returned`: it runs that. */
  readonly event: 'began' | 'refused' | 'proved' | 'went' | 'returned';
}

/** What two commands say of a commit, and what happened after it. */
export interface Accounts {
  readonly plan: MergePlan;
  readonly simulation: Simulation;
  /** Times count from when the reconciler took the commit. */
  readonly happened: readonly Told[];
  readonly nodes: readonly InventoryNode[];
  readonly approves: boolean;
  /** When the last wave of each pool was done, of those that are. */
  readonly finished: ReadonlyMap<string, Millis>;
  readonly statuses: Readonly<Record<string, KubeletPoolStatus | undefined>>;
}

/** The nodes as `kubelet-gitops plan --context` finds them. */
function inventoryOf({ cluster: { objects } }: RealFleet): readonly InventoryNode[] {
  const kinds = [NODES, KUBELET_NODES, PODS];
  return nodesFrom(
    kinds.flatMap((resource) => objects.list(resource).map((each) => ({ ...each, kind: resource.kind }))),
  );
}

/** A world in which `base` is in force, with what is wrong with its nodes, until the end of `use`. */
export async function inWorld<T>(world: World, use: (fleet: RealFleet) => Promise<T>): Promise<T> {
  const { machines, states, vital, base, mayCount } = world;
  const ill = new Set<string>();
  const fleet = await startRealFleet(
    machines.map((machine) => ({
      ...machine,
      fault: () => (ill.has(machine.name) ? { fault: 'not-ready', reason: 'its network is not there' } : null),
    })),
    mayCount,
  );
  const { clock, cluster } = fleet;
  const { objects } = cluster;
  try {
    for (const { name, host } of machines) {
      for (let pod = 0; pod < (host?.pods ?? 0); pod += 1)
        objects.seed(PODS, podOn(name, pod, pod === 0 ? vital.get(name) : undefined));
    }
    fleet.commitRepo(atOnce(base));
    await comesToRest(fleet, SHORT_REST_MS);
    // Apart from what the nodes run: one commit with both would be held to the stricter limits of the two.
    fleet.commitRepo(base);
    await clock.pass(SHORT_REST_MS);
    for (const [name, state] of states) {
      if (state === 'cordoned') objects.patch(NODES, name, { spec: { unschedulable: true } });
      if (state === 'leaving')
        objects.patch(NODES, name, {
          spec: { taints: [{ key: 'ToBeDeletedByClusterAutoscaler', effect: 'NoSchedule' }] },
        });
      if (state === 'silent') await clock.outlast(fleet.nodes.get(name)?.stopAgent() ?? Promise.resolve());
      if (state !== 'not-ready') continue;
      ill.add(name);
      fleet.nodes.get(name)?.kubelet.kill();
    }
    await clock.pass([...states.values()].includes('silent') ? AGENT_SILENT_MS + 2 * HEARTBEAT_MS : MINUTE);
    return await use(fleet);
  } finally {
    await fleet.stop();
  }
}

const podOn = (node: string, index: number, memoryGi: number | undefined): KubeObject =>
  ({
    metadata: { name: `${node}-${index}`, namespace: 'kubelet-gitops' },
    spec: {
      nodeName: node,
      ...(memoryGi !== undefined && {
        priorityClassName: 'system-node-critical',
        containers: [{ name: 'c', resources: { requests: { cpu: '100m', memory: `${memoryGi * 1024}Mi` } } }],
      }),
    },
    status: { phase: 'Running' },
  }) as KubeObject;

/** Commits `head` where `base` is in force, and waits until nothing moves any more. */
export async function accountsOf(fleet: RealFleet, { base, head, asksKubelets, approves }: World): Promise<Accounts> {
  const { cluster, clock } = fleet;
  const nodes = inventoryOf(fleet).map((node) => {
    const running = asksKubelets ? fleet.nodes.get(node.name)?.kubelet.running() : null;
    return running === null || running === undefined ? node : { ...node, running };
  });
  const [start, began] = [clock.now(), clock.monotonic()];
  const plan = makePlan({
    base: { name: 'base', commit: undefined, repo: base, kept: new Map() },
    head: { name: 'head', repo: head },
    cluster: 'demo',
    nodes,
    inForce: undefined,
    now: start,
  });
  const approvesAfterMs = approves ? 0 : Infinity;
  const manners = { failureRate: 0, restartMs: RESTART_MS, random: seededRandom(1), approvesAfterMs };
  const simulation = simulate({ base, head, nodes, manners, start, horizonMs: HORIZON_MS });
  const from = cluster.written.length;
  fleet.commitRepo(head);
  await comesToRest(fleet, REST_MS, approves ? () => approveAll(fleet) : undefined);
  const writes = cluster.written.slice(from);
  const took = writes.find(({ resource, by }) => by === 'reconciler' && resource.plural === KUBELET_POOLS.plural);
  const tookMs = took?.atMs ?? 0;
  const happened = writes.flatMap((write) => toldBy(write, tookMs));
  const names = new Set([...base.pools, ...head.pools].map(({ name }) => name));
  return {
    plan,
    simulation,
    happened,
    nodes,
    approves,
    finished: new Map(
      [...names].flatMap((name) => {
        const at = fromTimestamp(fleet.pool(name)?.status?.rollout?.finishedAt) ?? -Infinity;
        return at < start ? [] : [[name, at - start - tookMs + began] as const];
      }),
    ),
    statuses: Object.fromEntries([...names].map((name) => [name, fleet.pool(name)?.status])),
  };
}

/** Until for long no node was told anything, and none did anything but live. */
async function comesToRest({ cluster, clock }: RealFleet, restMs: Millis, approve = (): void => {}): Promise<void> {
  let read = cluster.written.length;
  let last = clock.monotonic();
  await clock.until(
    'the world to come to rest',
    () => clock.monotonic() - last >= restMs,
    PATIENCE_MS,
    () => {
      const moves = cluster.written.slice(read).some(isMove);
      read = cluster.written.length;
      if (moves) last = clock.monotonic();
      approve();
    },
  );
}

/** What a person does who is asked. */
function approveAll({ cluster: { objects } }: RealFleet): void {
  for (const { metadata, status } of objects.list(KUBELET_POOLS) as readonly KubeletPool[]) {
    const value = awaitedApprovals(status).map(approvalValue)[0];
    if (value === undefined || metadata.annotations?.[APPROVE_ANNOTATION] === value) continue;
    objects.patch(KUBELET_POOLS, metadata.name, { metadata: { annotations: { [APPROVE_ANNOTATION]: value } } });
  }
}

/** Whether it is more than a sign of life. */
function isMove({ resource, before, after }: Written): boolean {
  if (resource.plural !== KUBELET_NODES.plural) return false;
  const said = (node: KubeletNode | null): string => {
    const { heartbeat: _, ...status } = node?.status ?? {};
    return JSON.stringify([node?.spec, status]);
  };
  return said(before as KubeletNode | null) !== said(after as KubeletNode | null);
}

/** What a write says of the node's change. */
function toldBy({ resource, before, after, atMs }: Written, since: Millis): readonly Told[] {
  if (resource.plural !== KUBELET_NODES.plural || after === null) return [];
  const [was, is] = [before as KubeletNode | null, after as KubeletNode];
  const say = (event: Told['event']): readonly Told[] => [{ atMs: atMs - since, node: is.metadata.name, event }];
  const [had, has] = [was?.spec?.configSource?.sha256, is.spec?.configSource?.sha256];
  const isTold = had !== has || was?.spec?.apply !== is.spec?.apply;
  if (isTold) return say(has === undefined ? 'went' : 'began');
  if (was?.status?.phase === 'FallingBack' && is.status?.phase === 'Idle') return say('returned');
  const rejects = (node: KubeletNode | null): boolean =>
    node?.status?.rejected?.some(({ sha256, reason }) => sha256 === has && reason === 'PreflightFailed') === true;
  if (rejects(is) && !rejects(was)) return say('refused');
  const [knew, knows] = [was?.status?.lastKnownGood?.sha256, is.status?.lastKnownGood?.sha256];
  return knows !== knew && knows === has && has !== undefined ? say('proved') : [];
}

/** The pools as they are where nothing takes long, for the past of a world: what they give their nodes is the same. */
function atOnce(repo: LoadedRepo): LoadedRepo {
  const pools = repo.pools.map((pool) => {
    assert.ok(pool.status === 'valid', JSON.stringify(pool.findings));
    const { onFailure } = pool.spec.rollout;
    const rollout = { maxUnavailable: '100%', probation: 'full', soak: '0s', onFailure };
    return { ...pool, spec: { ...pool.spec, rollout, trial: { ...pool.spec.trial, duration: '30s' }, suspend: false } };
  });
  const cluster = { ...repo.cluster, maxUnavailable: null, maxChange: '100%', suspend: false, windows: null };
  return { ...repo, pools, cluster };
}
