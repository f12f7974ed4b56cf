import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { bundle } from '../../../scripts/build.ts';
import { type ControlPlane, startControlPlane } from '../../cluster/support/control-plane.ts';
import { freePorts } from '../../cluster/support/free-ports.ts';
import { installManifests, NAMESPACE } from '../../cluster/support/programs.ts';
import { until } from '../../support/until.ts';
import { type ReconcilerProcess, startReconcilerProcess } from '../../support/fleet-process/reconciler-process.ts';
import { type FleetProcess, startFleetProcess } from '../../support/fleet-process/start.ts';
import { noteHistory } from './notes.ts';

export const CLUSTER = 'chaos';
export const NODES = 500;
export const POOLS = 10;
/** Of each pool, so that a rollout takes several rounds. */
export const MAX_UNAVAILABLE = '20%';
export const ALLOWED = 10;
const AGENT_STEP_MS = 400;
/** What a note says of a commit that all nodes run. */
export const SETTLED = new RegExp(`^${CLUSTER}: settled\\b`);
/** Before a replica that ended is started again. */
const RESTART_MS = 500;
/** Ends a hang, and measures nothing. */
const PATIENCE_MS = 10 * 60_000;

/** A real API server with etcd, a git server, the agents of simulated nodes, and two replicas of the reconciler. */
export interface Site {
  readonly cluster: ControlPlane;
  readonly fleet: FleetProcess;
  readonly gitDirectory: string;
  /** By name: `a` and `b`. */
  readonly replicas: ReadonlyMap<string, ReconcilerProcess>;
  /** Starts a replica; one that ends, however that comes, is started again after a moment, as a kubelet does with pods. */
  startReplica(name: string): void;
  /** Ends all replicas in order, and starts them no more. */
  stopReplicas(): Promise<void>;
  /** @returns seconds until every node runs this commit and every pool says so */
  settled(commit: string, sinceMs: number): Promise<number>;
  /** Resolves when the rollout of this commit has begun on more nodes than one pool may change at once, or is over. */
  underWay(commit: string): Promise<void>;
  /** Resolves when the notes in git say that these commits are settled. */
  noted(commits: readonly string[]): Promise<void>;
  stop(): Promise<void>;
}

/** With the rights of the manifests and nothing else, as the bundles run in the image. */
export async function startSite(): Promise<Site> {
  const directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-chaos-'));
  // Nothing is forgotten: the history is what the reconciler is judged by.
  const cluster = await startControlPlane({ apiServerArgs: ['--etcd-compaction-interval=0'] });
  await installManifests(cluster);
  await writeFile(join(directory, 'package.json'), '{"type":"module"}');
  await bundle('reconciler', directory);
  const gitDirectory = join(directory, 'config.git');
  const { certificate: cert, key } = cluster.admin;
  const server = { url: cluster.url, credential: { ca: cluster.ca, cert, key } };
  const fleet = await startFleetProcess({
    nodes: NODES,
    pools: POOLS,
    agentStepMs: AGENT_STEP_MS,
    gitDirectory,
    server,
  });
  const token = await cluster.serviceAccountToken(NAMESPACE, 'kubelet-gitops-reconciler');
  const kubeconfig = await cluster.kubeconfigFor({ token });
  let stopped = false;
  const replicas = new Map<string, ReconcilerProcess>();
  const [portA = 0, portB = 0] = await freePorts(2);
  const startReplica = (name: string): void => {
    const healthPort = name === 'a' ? portA : portB;
    const env = { CLUSTER, POD_NAME: name, POLL_INTERVAL: '1s', NOTES_INTERVAL: '2s' };
    const replica = startReconcilerProcess({ directory, kubeconfig, gitUrl: fleet.gitUrl, healthPort, env });
    replicas.set(name, replica);
    void replica.ended.then(() => sleep(RESTART_MS)).then(() => (stopped ? undefined : startReplica(name)));
  };
  const stopReplicas = async (): Promise<void> => {
    stopped = true;
    await Promise.all([...replicas.values()].map((replica) => replica.kill('SIGTERM')));
  };
  return {
    cluster,
    fleet,
    gitDirectory,
    replicas,
    startReplica,
    stopReplicas,
    async settled(commit, sinceMs) {
      const isSettled = async (): Promise<boolean> => {
        const { settled, pools } = await fleet.ask('progress', {});
        return settled === NODES && pools[commit] === POOLS;
      };
      await until(`every pool to settle on ${commit}`, isSettled, { withinMs: PATIENCE_MS });
      return (performance.now() - sinceMs) / 1000;
    },
    async underWay(commit) {
      const look = async (): Promise<boolean> => {
        const { settled, pools } = await fleet.ask('progress', {});
        return settled < NODES - ALLOWED || pools[commit] === POOLS;
      };
      await until('nodes to be in a change', look, { withinMs: PATIENCE_MS, everyMs: 50 });
    },
    async noted(commits) {
      const look = async (): Promise<boolean> => {
        const notes = await noteHistory(gitDirectory, CLUSTER);
        return commits.every((commit) => SETTLED.test(notes.get(commit)?.at(-1) ?? ''));
      };
      await until(`notes of ${commits.join(', ')}`, look, { withinMs: PATIENCE_MS, everyMs: 1_000 });
    },
    async stop() {
      await stopReplicas();
      await fleet.stop();
      await cluster.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
