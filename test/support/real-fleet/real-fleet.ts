import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seededRandom } from '#cli/seeded-random.ts';
import { LEASE_TIMING } from '#reconciler/cluster/leader/lease-times.ts';
import { poolJudge } from '#reconciler/policy/config-repo/judge-pool.ts';
import { createVerdictCache } from '#reconciler/policy/config-repo/verdict-cache.ts';
import { NEW_NODE_MS } from '#reconciler/policy/rollout/new-node.ts';
import type { Timing } from '#sandbox/kubelet/kubelet-options.ts';
import { nodesIn, type SandboxNode, type SandboxNodeOptions, startNode } from '#sandbox/sandbox-node.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import { type Kube, KUBELET_POOLS, NODES, PODS } from '#shared/kube/kube.ts';
import { KubeError } from '#shared/kube/kube-error.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { createIdleClock, type IdleClock } from '../idle-clock.ts';
import { type Cluster, startCluster } from '../takeover/cluster.ts';
import { createRepository, type Repository } from '../takeover/git.ts';
import { startReplica } from '../takeover/replica.ts';
import { POOL } from './pool-with.ts';

/**
 * The real reconciler and a real agent for each node, at the pace that they ship with, beside simulated kubelets that take as long
 * as real ones; all on one clock that goes on when they are at rest.
 */
export interface RealFleet {
  readonly clock: IdleClock;
  readonly cluster: Cluster;
  readonly nodes: ReadonlyMap<string, SandboxNode>;
  readonly commit: Repository['commit'];
  readonly commitRepo: Repository['commitRepo'];
  /** Default: that of `poolWith`. */
  pool(name?: string): KubeletPool | undefined;
  stop(): Promise<void>;
}

/** A restart takes six seconds to health, eight until the Node is Ready. See `docs/benchmarks.md`. */
const AS_REAL_ONES: Timing = {
  stopMs: 500,
  loadMs: 1_000,
  startMs: 4_500,
  readyMs: 2_000,
  restartMs: 10_000,
  heartbeatMs: 5 * 60_000,
  lostMs: 40_000,
  rebootMs: 60_000,
};

/** As `agent/kubelet/service-systemd.ts` has it. */
const POLL_MS = 10_000;

const MOST_VERDICTS = 1_000;
const MINUTE = 60_000;

/** A machine, whose pace is as shipped. */
export type RealMachine = Omit<SandboxNodeOptions, 'timing' | 'pollMs' | 'pace' | 'endpoints'>;

/**
 * @param machines  in the order in which they joined, long ago
 * @param mayCount  whether the reconciler may list pods, as by `deploy/components/drain`
 */
export async function startRealFleet(machines: readonly RealMachine[], mayCount = false): Promise<RealFleet> {
  const directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-real-fleet-'));
  const clock = createIdleClock();
  const random = seededRandom(1);
  const cluster = await startCluster(clock);
  const repository = createRepository();
  const nodes = new Map<string, SandboxNode>();
  const { objects } = cluster;
  for (const { name } of machines) {
    objects.seed(NODES, { metadata: { name } });
    // Apart, so that their ages differ to whoever chooses canaries.
    await clock.pass(2 * MINUTE);
  }
  // Nodes that have only just joined would get what their pool settled on without a place in its budget.
  await clock.pass(2 * NEW_NODE_MS);
  const known = nodesIn({ store: objects });
  for (const machine of machines) {
    const { name } = machine;
    const options = { ...machine, timing: AS_REAL_ONES, pollMs: POLL_MS, pace: {}, endpoints: 'direct' } as const;
    const ports = { nodes: { ...known, create: filled }, directory: join(directory, name), log: silentLog };
    nodes.set(name, await startNode(options, { ...ports, kube: cluster.kubeAs(name), clock, random }));
  }
  async function filled({ metadata: { name, labels }, ...rest }: KubeObject): Promise<void> {
    await known.patch(name, { metadata: { labels }, ...rest });
  }
  const replica = startReplica({
    identity: 'reconciler',
    kube: mayCount ? cluster.kubeAs('reconciler') : withoutPods(cluster.kubeAs('reconciler')),
    source: repository.source,
    followed: repository.followed,
    annotator: repository.annotatorOf('reconciler'),
    clock,
    load: repository.load,
    judge: poolJudge(createVerdictCache(MOST_VERDICTS)),
    timing: LEASE_TIMING,
    tells: true,
    pollMs: 60_000,
    notesEveryMs: 30_000,
  });
  replica.ended.catch((error: unknown) => assert.ifError(error));
  await clock.pass(MINUTE);
  return {
    clock,
    cluster,
    nodes,
    commit: repository.commit,
    commitRepo: repository.commitRepo,
    pool: (name = POOL) => cluster.objects.get(KUBELET_POOLS, name) as unknown as KubeletPool | undefined,
    async stop() {
      replica.stop();
      await clock.outlast(Promise.all([replica.ended, ...[...nodes.values()].map((node) => node.stop())]));
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** A client without the right to list pods. */
const withoutPods = (kube: Kube): Kube => ({
  ...kube,
  list: (query, signal) =>
    query.resource === PODS
      ? Promise.reject(new KubeError('KUBE_FORBIDDEN', 'pods is forbidden'))
      : kube.list(query, signal),
});

/** Long enough for every step of a rollout over a hundred nodes. */
export const PATIENCE_MS: Millis = 24 * 3_600_000;
