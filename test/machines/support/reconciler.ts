import { stringify } from 'yaml';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import { type SandboxGitServer, startGitServer } from '#sandbox/git-server/server.ts';
import type { ControlPlane } from '../../cluster/support/control-plane.ts';
import { freePorts } from '../../cluster/support/free-ports.ts';
import type { KubeletConfig } from '../../cluster/support/kubelet-probes.ts';
import { buildPrograms, type Program, type Programs } from '../../cluster/support/programs.ts';
import { TRIAL } from '../../node/support/assignments.ts';
import type { StatusWaits } from '../../node/support/status-waits.ts';
import { clusterWithShortTrials } from '../../support/short-trials.ts';

/** The reconciler as it ships, with the right to drain, and a config repository with one pool of all nodes. */
export interface Reconciler {
  /** Commits the pool's config. @returns the commit */
  readonly push: (fields: KubeletConfig, pool?: PoolSettings) => Promise<string>;
  readonly pool: () => Promise<KubeletPool | undefined>;
  /** @param meanwhile at each look */
  readonly settlesOn: (commit: string, meanwhile?: () => Promise<void>) => Promise<KubeletPool>;
  readonly stop: () => Promise<void>;
}

export interface PoolSettings {
  /** Who a change may disturb. */
  readonly disruption?: object;
  readonly suspend?: boolean;
  /** A layer over the config: what a ComputedKubeletConfiguration has besides its kind. */
  readonly computed?: object;
}

const POOL = 'all';

export async function startReconciler(
  cluster: ControlPlane,
  { waits }: Pick<StatusWaits, 'waits'>,
): Promise<Reconciler> {
  const { code, stderr } = await cluster.kubectl(['apply', '-f', 'deploy/components/drain/rbac.yaml']);
  if (code !== 0) throw new Error(`no right to drain: ${stderr}`);
  let git: SandboxGitServer | undefined;
  let programs: Programs | undefined;
  let program: Program | undefined;
  const stop = async (): Promise<void> => {
    await program?.stop();
    await programs?.remove();
    await git?.stop();
  };
  const pool = async (): Promise<KubeletPool | undefined> => {
    const answer = await cluster.request('GET', `/apis/kubelet-gitops.dev/v1alpha1/kubeletpools/${POOL}`);
    return answer.status === 200 ? (answer.json() as KubeletPool) : undefined;
  };
  try {
    const repository = await startGitServer();
    git = repository;
    programs = await buildPrograms(cluster);
    const [healthPort = 0] = await freePorts(1);
    const running = await programs.start('reconciler', {
      CLUSTER: 'machines',
      GIT_URL: repository.url,
      POLL_INTERVAL: '2s',
      NOTES: 'off',
      HEALTH_PORT: String(healthPort),
      METRICS_PORT: '0',
      STATUS_PAGE: 'off',
      POD_NAME: 'reconciler-0',
    });
    program = running;
    return {
      push: (fields, settings = {}) =>
        repository.commit({ files: filesOf(fields, settings), message: 'Change what nodes run' }),
      pool,
      settlesOn: (commit, meanwhile) =>
        waits(`the pool to settle on ${commit.slice(0, 8)}`, async () => {
          if (running.ended() !== undefined) throw new Error(running.logTail());
          await meanwhile?.();
          const now = await pool();
          return now?.status?.phase === 'Settled' && now.status.commit === commit && now;
        }),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function filesOf(fields: KubeletConfig, { computed, ...settings }: PoolSettings): Readonly<Record<string, string>> {
  const spec = {
    nodeSelector: { matchLabels: { 'kubernetes.io/os': 'linux' } },
    layers: ['kubelet.yaml', ...(computed === undefined ? [] : ['computed.yaml'])],
    trial: TRIAL,
    ...settings,
  };
  const kubelet = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration', ...fields };
  const ours = (kind: string, rest: object): string =>
    stringify({ apiVersion: 'kubelet-gitops.dev/v1alpha1', kind, ...rest });
  return {
    ...clusterWithShortTrials('machines'),
    [`pools/${POOL}/pool.yaml`]: ours('KubeletPool', { spec }),
    [`pools/${POOL}/kubelet.yaml`]: stringify(kubelet),
    ...(computed === undefined
      ? {}
      : { [`pools/${POOL}/computed.yaml`]: ours('ComputedKubeletConfiguration', computed) }),
  };
}
