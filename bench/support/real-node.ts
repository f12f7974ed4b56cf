import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { KubeletNode, KubeletNodeStatus, TrialSpec } from '#shared/contract/api/kubelet-node.ts';
import { configMapName, payloadSha256 } from '#shared/contract/config-map-hash.ts';
import { canonicalize } from '#shared/contract/kubelet-config/canonical.ts';
import { nodeSkipReason } from '../../test/cluster/support/binaries.ts';
import { startContainerd } from '../../test/cluster/support/container-runtime.ts';
import { type ControlPlane, startControlPlane } from '../../test/cluster/support/control-plane.ts';
import { type Kubelet, startKubelet } from '../../test/cluster/support/kubelet.ts';
import {
  buildPrograms,
  installManifests,
  NAMESPACE,
  type Program,
  type ProgramPlace,
} from '../../test/cluster/support/programs.ts';
import { until } from '../../test/support/until.ts';
import { manifestMalloc } from '../../test/support/manifest-flags.ts';

export const NODE = 'node-a';

export interface RealNodeOptions {
  /** Trial of every assignment. */
  readonly trial: TrialSpec;
  readonly apiServerArgs?: readonly string[];
  /** Where the first agent runs. */
  readonly agentPlace?: ProgramPlace;
}

/** A config source that waits to be assigned. */
export interface Prepared {
  readonly name: string;
  readonly assign: () => Promise<void>;
}

/** A real API server, a real kubelet under a supervisor, and the agent as it ships, with the manifests' rights. */
export interface RealNode {
  readonly kubelet: Kubelet;
  readonly agent: Program;
  readonly stateDirectory: string;
  /** Of the agent's service account. */
  readonly agentUser: string;
  readonly status: () => Promise<KubeletNodeStatus>;
  readonly prepare: (fields: Readonly<Record<string, unknown>>) => Promise<Prepared>;
  /** Assigns it, and waits until it is lastKnownGood. */
  readonly settle: (fields: Readonly<Record<string, unknown>>) => Promise<void>;
  /** As an operator does it, with nothing to wait for. */
  readonly restartKubelet: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** @throws where there is no real kubelet, or where anything does not come up */
export async function startRealNode(options: RealNodeOptions): Promise<RealNode> {
  const skip = await nodeSkipReason();
  if (skip !== false) throw new Error(`no real kubelet here: ${skip}`);
  const undo: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    for (const each of undo.splice(0).toReversed()) await each();
  };
  try {
    return await start(options, undo, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

async function start(
  { trial, apiServerArgs = [], agentPlace }: RealNodeOptions,
  undo: (() => Promise<unknown>)[],
  stop: () => Promise<void>,
): Promise<RealNode> {
  const directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-bench-'));
  undo.push(() => rm(directory, { recursive: true, force: true }));
  const cluster = await startControlPlane({ apiServerArgs });
  undo.push(cluster.stop);
  const runtime = await startContainerd();
  undo.push(runtime.stop);
  const kubelet = await startKubelet({ controlPlane: cluster, runtime, nodeName: NODE });
  undo.push(kubelet.stop);
  await installManifests(cluster);
  const programs = await buildPrograms(cluster);
  undo.push(programs.remove);
  const stateDirectory = join(directory, 'state');
  const agentEnv = {
    NODE_NAME: NODE,
    STATE_DIR: stateDirectory,
    KUBELET_CONFIG_FILE: kubelet.configFile,
    KUBELET_RESTART_COMMAND: kubelet.restartCommand,
    KUBELET_PID_FILE: kubelet.pidFile,
    KUBELET_SERVING_CERTS: kubelet.servingCertFile,
    HOST_ROOT: '/',
    ...manifestMalloc('agent'),
  };
  const agent = await programs.start('agent', agentEnv, agentPlace);
  undo.push(agent.stop);
  await request(cluster, 'POST', '/apis/kubelet-gitops.dev/v1alpha1/kubeletnodes', {
    apiVersion: 'kubelet-gitops.dev/v1alpha1',
    kind: 'KubeletNode',
    metadata: { name: NODE },
    spec: {},
  });
  const status = async (): Promise<KubeletNodeStatus> =>
    ((await request(cluster, 'GET', PATH)) as unknown as KubeletNode).status ?? {};
  await until('the agent to report', async () => (await status()).phase === 'Idle', {
    withinMs: 30_000,
    evidence: agent.logTail,
  });

  const prepare = (fields: Readonly<Record<string, unknown>>): Promise<Prepared> =>
    prepareSource(cluster, fields, trial);
  return {
    kubelet,
    agent,
    stateDirectory,
    agentUser: `system:serviceaccount:${NAMESPACE}:kubelet-gitops-agent`,
    status,
    prepare,
    async settle(fields) {
      const { name, assign } = await prepare(fields);
      await assign();
      await until(`${name} to be good`, async () => isSettled(await status(), name), {
        withinMs: 90_000,
        evidence: agent.logTail,
      });
    },
    restartKubelet: async () => void (await promisify(execFile)('sh', ['-c', kubelet.restartCommand])),
    stop,
  };
}

const isSettled = ({ phase, lastKnownGood }: KubeletNodeStatus, name: string): boolean =>
  phase === 'Idle' && lastKnownGood?.name === name;

async function prepareSource(
  cluster: ControlPlane,
  fields: Readonly<Record<string, unknown>>,
  trial: TrialSpec,
): Promise<Prepared> {
  const payload = canonicalize({
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    ...fields,
  });
  const name = configMapName('bench', payload);
  const made = await request(cluster, 'POST', `/api/v1/namespaces/${NAMESPACE}/configmaps`, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name },
    immutable: true,
    data: { kubelet: payload },
  });
  const { uid, resourceVersion } = made.metadata;
  const configSource = {
    namespace: NAMESPACE,
    name,
    uid,
    resourceVersion,
    key: 'kubelet',
    sha256: payloadSha256(payload),
  };
  const spec = { pool: 'bench', apply: 'overlay', trial, configSource };
  const assign = async (): Promise<void> =>
    void (await request(cluster, 'PATCH', PATH, { spec }, 'application/merge-patch+json'));
  return { name, assign };
}

const PATH = `/apis/kubelet-gitops.dev/v1alpha1/kubeletnodes/${NODE}`;

interface Answer {
  readonly metadata: { readonly uid: string; readonly resourceVersion: string };
}

async function request(
  cluster: ControlPlane,
  method: string,
  path: string,
  body?: unknown,
  type?: string,
): Promise<Answer> {
  const answer = await cluster.request(method, path, body, type);
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.json())}`);
  return answer.json() as Answer;
}
