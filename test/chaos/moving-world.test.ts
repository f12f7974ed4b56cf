import assert from 'node:assert/strict';
import { readFile, rm, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startGitServer, type SandboxGitServer } from '#sandbox/git-server/server.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import { KUBELET_NODES, KUBELET_POOLS } from '#shared/kube/kube.ts';
import { bundle } from '../../scripts/build.ts';
import { controlPlaneSkipReason } from '../cluster/support/binaries.ts';
import { type ControlPlane, startControlPlane } from '../cluster/support/control-plane.ts';
import { freePorts } from '../cluster/support/free-ports.ts';
import { installManifests, NAMESPACE } from '../cluster/support/programs.ts';
import { describeOrSkip } from '../support/describe-or-skip.ts';
import { startReconcilerProcess } from '../support/fleet-process/reconciler-process.ts';
import { until } from '../support/until.ts';
import { readHistory } from './support/etcd-history.ts';
import { checkMoves, unorderedStarts } from './support/check-moves.ts';
import { createRealAgents, type RealAgents } from './support/real-agents.ts';

const skip = await controlPlaneSkipReason();

const POOLS = ['blue', 'green'] as const;
const MACHINES = 16;
const ALLOWED = 2;
const ROUNDS = 4;
/** With this many pods, a kubelet dies as soon as it is up. */
const DEADLY = 666;
const PATIENCE_MS = 5 * 60_000;

const ownConfig = (words: string): string => `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
cgroupDriver: systemd
clusterDomain: cluster.local
rotateCertificates: true
${words}
`;

const baseFile = (maxPods: number): string =>
  `apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: ${maxPods}\n`;

const files = (maxPods: number): Readonly<Record<string, string>> => ({
  // Its rounds change the layer of all pools.
  'clusters/moves.yaml':
    'apiVersion: kubelet-gitops.dev/v1alpha1\nkind: ClusterConfig\nspec: {maxChange: 100%, trial: {minDuration: 1s}}\n',
  'base/kubelet.yaml': baseFile(maxPods),
  ...Object.fromEntries(
    POOLS.map((pool) => [
      `pools/${pool}/pool.yaml`,
      `apiVersion: kubelet-gitops.dev/v1alpha1
kind: KubeletPool
spec:
  nodeSelector:
    matchLabels:
      pool: ${pool}
  layers: [base/kubelet.yaml]
  rollout:
    maxUnavailable: ${ALLOWED}
    soak: 0s
  trial:
    duration: 1s
    startTimeout: 30s
`,
    ]),
  ),
});

/**
 * Real agents on a real API server, while machines join and leave, lose their labels for a moment, have their own config
 * files rewritten, and the reconciler is killed. Judged by etcd's history of every write and by the starts of kubelets.
 */
describeOrSkip('rollouts in a world that moves', { skip }, () => {
  let directory: string;
  let cluster: ControlPlane;
  let git: SandboxGitServer;
  let agents: RealAgents;
  let stopReconciler = async (): Promise<void> => undefined;
  let killReconciler = (): void => undefined;
  let startReconciler = (): void => undefined;
  let machines = 0;
  let maxPods = 100;
  /** Of machines that are gone, what their kubelets were restarted in all. */
  const restarts = new Map<string, number>();

  const joinOne = async (): Promise<string> => {
    const name = `machine-${(machines += 1)}`;
    await until(`${name} to join`, () => agents.join(name, POOLS[machines % POOLS.length] ?? 'blue'));
    return name;
  };
  const count = (name: string): void => void restarts.set(name, (agents.nodes.get(name)?.kubelet.starts() ?? 1) - 1);

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-moves-'));
    cluster = await startControlPlane({ apiServerArgs: ['--etcd-compaction-interval=0'] });
    await installManifests(cluster);
    await writeFile(join(directory, 'package.json'), '{"type":"module"}');
    await bundle('reconciler', directory);
    git = await startGitServer({});
    agents = createRealAgents(cluster, directory, (config) =>
      config['maxPods'] === DEADLY ? { fault: 'crash', afterMs: 100, reason: 'too many pods' } : null,
    );
    await git.commit({ files: files(maxPods), message: 'Begin' });
    const token = await cluster.serviceAccountToken(NAMESPACE, 'kubelet-gitops-reconciler');
    const kubeconfig = await cluster.kubeconfigFor({ token });
    const [healthPort = 0] = await freePorts(1);
    let stopped = true;
    const start = (): void => {
      stopped = false;
      const env = { CLUSTER: 'moves', POD_NAME: 'a', POLL_INTERVAL: '1s', NOTES_INTERVAL: '2s' };
      const replica = startReconcilerProcess({ directory, kubeconfig, gitUrl: git.url, healthPort, env });
      killReconciler = () => void replica.kill('SIGKILL');
      stopReconciler = async () => {
        stopped = true;
        await replica.kill('SIGTERM');
      };
      void replica.ended.then(() => sleep(500)).then(() => (stopped ? undefined : start()));
    };
    for (let index = 0; index < MACHINES; index += 1) await joinOne();
    startReconciler = start;
    start();
    await settledOn(maxPods);
  });

  after(async () => {
    await stopReconciler();
    await agents?.stop();
    await git?.stop();
    await cluster?.stop();
    await rm(directory, { recursive: true, force: true });
  });

  /** Every kubelet runs it, every agent is at rest and waits for nothing, and every pool says so. */
  async function settledOn(pods: number): Promise<void> {
    let unsettled = '';
    const look = async (): Promise<boolean> => {
      unsettled = await whoIsNot(pods);
      return unsettled === '';
    };
    await until(`every node to run maxPods ${pods}`, look, {
      withinMs: PATIENCE_MS,
      everyMs: 500,
      evidence: () => unsettled,
    });
  }
  async function whoIsNot(pods: number): Promise<string> {
    const { items } = await agents.kube.list<KubeletNode>({ resource: KUBELET_NODES });
    const pools = await agents.kube.list<KubeletPool>({ resource: KUBELET_POOLS });
    const nodes = [...agents.nodes].flatMap(([name, { kubelet }]) => {
      const { spec, status } = items.find(({ metadata }) => metadata.name === name) ?? {};
      const isThere = kubelet.running()?.['maxPods'] === pods && status?.phase === 'Idle' && !status.awaitsTurn;
      return isThere ? [] : [`${name}: ${JSON.stringify({ runs: kubelet.running()?.['maxPods'], spec, status })}`];
    });
    const others = pools.items.flatMap(({ metadata, status }) =>
      status?.phase === 'Settled' ? [] : [`${metadata.name}: ${JSON.stringify(status)}`],
    );
    return [...nodes, ...others].join('\n');
  }

  const rewrite = async (names: readonly string[], words: string): Promise<void> => {
    for (const name of names) {
      const path = agents.nodes.get(name)?.kubelet.configFile;
      if (path !== undefined) await writeFile(path, ownConfig(words));
    }
  };
  const present = (): readonly string[] => [...agents.nodes.keys()];

  /** What is written more than four times an hour is left alone: so each machine has its file rewritten once a round at most. */
  async function trouble(round: number): Promise<void> {
    const six = Array.from({ length: 6 }, (_, index) => present()[(round * 6 + index) % present().length] ?? '');
    const others = present().filter((name) => !six.includes(name));
    const strikes: readonly (() => Promise<unknown>)[] = [
      joinOne,
      async () => {
        const name = others[round] ?? '';
        count(name);
        await agents.leave(name);
      },
      () => rewrite(six, `registryBurst: ${20 + round}`),
      () => rewrite(others, `# written in round ${round}`),
      async () => {
        const name = present().at(-1) ?? '';
        const { pool = '' } = await agents.labelsOf(name);
        await agents.label(name, { pool: null });
        await sleep(3_000);
        await agents.label(name, { pool });
      },
      async () => killReconciler(),
    ];
    for (let index = 0; index < strikes.length; index += 1) {
      await strikes[(index * 5 + round) % strikes.length]?.();
      await sleep(400);
    }
  }

  it('come to their end, round after round', async (t) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      await git.commit({ files: { 'base/kubelet.yaml': baseFile((maxPods += 1)) }, message: `Round ${round}` });
      await trouble(round);
      const began = performance.now();
      await settledOn(maxPods);
      t.diagnostic(`round ${round}: ${agents.nodes.size} nodes, quiet for ${Math.round(performance.now() - began)} ms`);
    }
  });

  it('expose no more nodes to a config that kills kubelets than may be unavailable, whoever joins', async () => {
    await git.commit({ files: { 'base/kubelet.yaml': baseFile(DEADLY) }, message: 'Deadly' });
    const joined = await Promise.all([joinOne(), joinOne(), joinOne()]);
    await until('both pools to halt', async () => {
      const { items } = await agents.kube.list<KubeletPool>({ resource: KUBELET_POOLS });
      return items.every(({ status }) => status?.phase === 'Halted');
    });
    for (const name of joined) {
      await until(
        `${name} to run what was settled`,
        () => agents.nodes.get(name)?.kubelet.running()?.['maxPods'] === maxPods,
      );
    }
    await git.commit({ files: { 'base/kubelet.yaml': baseFile(maxPods) }, message: 'Revert' });
    await settledOn(maxPods);
  });

  it('by etcd’s history: no budget was exceeded, no node lost its config, and every restart had its turn', async (t) => {
    await stopReconciler();
    const history = await readHistory<KubeletNode>(cluster.etcd.url, '/registry/kubelet-gitops.dev/kubeletnodes/');
    const moves = checkMoves(history, ALLOWED);
    for (const name of present()) count(name);
    const turns = [...moves.turns.values()].reduce((sum, each) => sum + each, 0);
    const starts = [...restarts.values()].reduce((sum, each) => sum + each, 0);
    t.diagnostic(
      `${history.length} writes, ${turns} turns, ${starts} restarts, at most ${moves.mostAtOnce} nodes of a pool at once`,
    );
    assert.deepEqual(moves.wrongs.slice(0, 10), []);
    assert.ok(moves.mostAtOnce > 0);
    const { items } = await agents.kube.list<KubeletNode>({ resource: KUBELET_NODES });
    const dead = new Set(items.flatMap(({ status }) => (status?.rejected ?? []).map(({ name }) => name)));
    for (const name of dead) {
      assert.ok(
        (moves.told.get(name)?.size ?? 0) <= ALLOWED,
        `${name} was told to ${moves.told.get(name)?.size} nodes`,
      );
    }
    // A kubelet that dies is started again by its service manager.
    const victims = new Set([...dead].flatMap((name) => [...(moves.told.get(name) ?? [])]));
    const others = new Map([...restarts].filter(([name]) => !victims.has(name)));
    assert.deepEqual(unorderedStarts(moves, others), []);
    const [anyPath] = [...agents.nodes.values()].map(({ kubelet }) => kubelet.configFile);
    assert.match(await readFile(anyPath ?? '', 'utf8'), /^# Managed by kubelet-gitops/);
  });

  it('restart nothing once etcd is restored from a backup, until they are told again', async () => {
    const starts = (): readonly number[] => [...agents.nodes.values()].map(({ kubelet }) => kubelet.starts());
    const restore = await cluster.backup();
    startReconciler();
    await git.commit({ files: { 'base/kubelet.yaml': baseFile((maxPods += 1)) }, message: 'After the backup' });
    await settledOn(maxPods);
    const orders = await ordersByNode();
    const before = starts();
    await restore();
    await until('orders above all that were followed', async () => {
      const now = await ordersByNode();
      return [...now].every(([name, { order, isFollowed }]) => isFollowed && order > (orders.get(name)?.order ?? 0));
    });
    await settledOn(maxPods);
    assert.deepEqual(starts(), before);
  });

  async function ordersByNode(): Promise<
    ReadonlyMap<string, { readonly order: number; readonly isFollowed: boolean }>
  > {
    const { items } = await agents.kube.list<KubeletNode>({ resource: KUBELET_NODES });
    return new Map(
      items.map(({ metadata, spec, status }) => {
        const order = spec?.order ?? 0;
        return [metadata.name, { order, isFollowed: order === status?.obeyedOrder }];
      }),
    );
  }
});
