import assert from 'node:assert/strict';
import { NEW_NODE_MS } from '#reconciler/policy/rollout/new-node.ts';
import { LOCAL, type KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import type { LoadedPool, ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { type KubeletSource, SOURCE_NAME } from '#shared/contract/api/kubelet-source.ts';
import { KUBELET_SOURCES, type Kube, KUBELET_NODES, KUBELET_POOLS } from '#shared/kube/kube.ts';
import type { LeaseTiming } from '#reconciler/cluster/leader/lease-times.ts';
import type { CommitTrust } from '#reconciler/git/trust/commit-trust.ts';
import type { Clock, Millis } from '#shared/runtime/clock.ts';
import type { StoredObject } from '#sandbox/api-server/stored-object.ts';
import { createManualClock, type ManualClock } from '../manual-clock.ts';
import { validPool } from '../fleet.ts';
import { type Cluster, startCluster } from './cluster.ts';
import { createRepository, type Repository } from './git.ts';
import { createKillInjection, type Kill, type KillInjection } from './kill-injection.ts';
import { type Replica, startReplica } from './replica.ts';

const TICK_MS = 250;
const PATIENCE_TICKS = 600;
const QUICK_LEASE: LeaseTiming = { leaseMs: 3_000, renewMs: 2_000, retryMs: 400 };

export interface Process {
  readonly replica: Replica;
  readonly mortality: KillInjection;
}

/** Nodes, agents, a repository, and whatever reconcilers are started: all on one clock that the story moves. */
export interface Story {
  readonly clock: ManualClock;
  readonly cluster: Cluster;
  readonly repository: Repository;
  start(identity: string, options?: StartOptions): Process;
  /** Lets agents work and a little time pass. */
  tick(): Promise<void>;
  /** Called after every tick. */
  onTick(look: () => void): void;
  /** The agent of this node stands still until it is told to go on. */
  readonly asleep: Set<string>;
  /** @throws AssertionError where it does not come */
  until(what: string, condition: () => boolean): Promise<void>;
}

export interface StartOptions {
  readonly death?: Kill | null;
  readonly clock?: Clock;
  readonly timing?: LeaseTiming;
  /** What lies between this process and the API server. */
  readonly network?: (kube: Kube) => Kube;
  readonly tells?: boolean;
  /** The folder that it follows. */
  readonly path?: string;
  /** Whose commits it takes. Default: everybody's. */
  readonly trust?: CommitTrust;
}

/** What a story may go on from: as another one left it. */
export interface Chapter {
  readonly nowMs: Millis;
  readonly objects: readonly StoredObject[];
  readonly commits: readonly (readonly LoadedPool[])[];
  readonly notes: ReadonlyMap<string, string>;
}

export async function beginStory(nodes: Readonly<Record<string, string>>, from?: Chapter): Promise<Story> {
  const clock = createManualClock(from?.nowMs);
  const cluster = await startCluster(clock, from?.objects);
  const repository = createRepository(from?.notes);
  for (const pools of from?.commits ?? []) repository.commit(...pools);
  if (from === undefined) {
    for (const [name, pool] of Object.entries(nodes)) cluster.addNode(name, { pool });
    // Nodes that have only just joined would get what their pool settled on without a place in its budget.
    await clock.advance(2 * NEW_NODE_MS);
  }
  const looks: (() => void)[] = [];
  const asleep = new Set<string>();
  const story: Story = {
    clock,
    cluster,
    repository,
    start(
      identity,
      {
        death = null,
        clock: own = clock,
        timing = QUICK_LEASE,
        network = (kube: Kube): Kube => kube,
        tells = false,
        path = '',
        trust,
      } = {},
    ) {
      const mortality = createKillInjection(death);
      const replica = startReplica({
        identity,
        kube: mortality.kube(network(cluster.kubeAs(identity))),
        source: mortality.source(repository.source),
        followed: mortality.followed(repository.followed),
        annotator: mortality.annotator(repository.annotatorOf(identity)),
        clock: mortality.clock(own),
        load: repository.load,
        timing,
        tells,
        path,
        ...(trust && { trust }),
      });
      replica.ended.catch((error: unknown) => assert.ifError(error));
      return { replica, mortality };
    },
    asleep,
    onTick: (look) => looks.push(look),
    async tick() {
      cluster.agentsStep(asleep);
      await clock.advance(TICK_MS);
      for (const look of looks) look();
    },
    async until(what, condition) {
      for (let ticks = 0; ticks < PATIENCE_TICKS; ticks += 1) {
        if (condition()) return;
        await story.tick();
      }
      assert.fail(`${what}: not within ${(PATIENCE_TICKS * TICK_MS) / 1000} s`);
    },
  };
  return story;
}

const budget = (maxUnavailable: number) => ({
  rollout: { maxUnavailable, soak: '0s', onFailure: { threshold: 1, action: 'halt' as const } },
});

/** What the story begins with and what it goes to: a payload changed twice over, a pool that goes and one that comes. */
export const NODES = {
  'w-1': 'workers',
  'w-2': 'workers',
  'w-3': 'workers',
  'g-1': 'gpu',
  'g-2': 'gpu',
  'o-1': 'old',
  'n-1': 'new',
  // In no pool, and before all others wherever it is put.
  'a-1': 'none',
};
export const BUDGETS: Readonly<Record<string, number>> = { workers: 2, gpu: 1, old: 1, new: 1 };
export const BEFORE: readonly ValidPool[] = [
  validPool('workers', 110, budget(2)),
  validPool('gpu', 50, budget(1)),
  validPool('old', 30, budget(1)),
];
export const AFTER: readonly ValidPool[] = [
  validPool('workers', 120, budget(2)),
  validPool('gpu', 60, budget(1)),
  validPool('new', 40, budget(1)),
];

export const LATER: readonly ValidPool[] = [
  validPool('workers', 130, budget(2)),
  validPool('gpu', 70, budget(1)),
  validPool('new', 45, budget(1)),
];

/** Everybody on the first commit, and the reconciler gone in good order. */
export async function settledOnce(): Promise<Chapter> {
  const story = await beginStory(NODES);
  const first = story.repository.commit(...BEFORE);
  const { replica } = story.start('before');
  await story.until('settled on the first commit', () => isSettledOn(story, first, BEFORE));
  replica.stop();
  await story.tick();
  await replica.ended;
  const { clock, cluster, repository } = story;
  return { nowMs: clock.now(), objects: cluster.copy(), commits: [BEFORE], notes: repository.notes };
}

const kubeletNodes = ({ cluster }: Story): readonly KubeletNode[] =>
  cluster.objects.list(KUBELET_NODES) as unknown as readonly KubeletNode[];

/** The name of the config that each node is to run. */
export function wantedConfigs(pools: readonly LoadedPool[]): ReadonlyMap<string, string> {
  const byPool = new Map(
    pools.flatMap((pool) => (pool.status === 'valid' ? [[pool.name, pool.configName] as const] : [])),
  );
  return new Map(Object.entries(NODES).map(([node, pool]) => [node, byPool.get(pool) ?? LOCAL]));
}

/** Everybody runs what the commit says, the pools and the record say so, and so does the note. */
export function isSettledOn(story: Story, commit: string, pools: readonly LoadedPool[]): boolean {
  const { objects } = story.cluster;
  const wanted = wantedConfigs(pools);
  const nodes = kubeletNodes(story);
  const record: KubeletSource | undefined = objects.get(KUBELET_SOURCES, SOURCE_NAME);
  const present = objects.list(KUBELET_POOLS) as unknown as readonly KubeletPool[];
  return (
    record?.status?.commit === commit &&
    nodes.length === wanted.size &&
    nodes.every(
      ({ metadata, spec, status }) =>
        status?.phase === 'Idle' &&
        status.lastKnownGood?.name === wanted.get(metadata.name) &&
        (spec?.configSource?.name ?? LOCAL) === wanted.get(metadata.name) &&
        (spec === undefined || status.observedGeneration === metadata.generation),
    ) &&
    present.length === pools.length &&
    present.every(({ status }) => status?.phase === 'Settled' || status?.phase === 'Empty') &&
    (story.repository.notes.get(commit) ?? '').startsWith('demo: settled')
  );
}
