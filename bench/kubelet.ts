import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { configMapName, payloadSha256 } from '#shared/contract/config-map.ts';
import { canonicalize } from '#shared/contract/kubelet-config/canonical.ts';
import { whyNoNode } from '../test/cluster/support/binaries.ts';
import { startContainerd } from '../test/cluster/support/container-runtime.ts';
import { type ControlPlane, startControlPlane } from '../test/cluster/support/control-plane.ts';
import { type Kubelet, startKubelet } from '../test/cluster/support/kubelet.ts';
import { buildPrograms, installManifests, NAMESPACE } from '../test/cluster/support/programs.ts';
import { until } from '../test/cluster/support/until.ts';
import { median, type Measurement } from './report.ts';

const RUNS = 5;
const NODE = 'node-a';
const run = promisify(execFile);

/** From an assignment to a kubelet that runs it, against a bare restart of the same kubelet, in turn. */
export async function measure(): Promise<readonly Measurement[]> {
  const skip = await whyNoNode();
  if (skip !== false) throw new Error(`no real kubelet here: ${skip}`);
  const directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-bench-'));
  const cluster = await startControlPlane();
  const runtime = await startContainerd();
  const kubelet = await startKubelet({ controlPlane: cluster, runtime, nodeName: NODE });
  await installManifests(cluster);
  const programs = await buildPrograms(cluster);
  const agent = await programs.start('agent', {
    NODE_NAME: NODE,
    STATE_DIR: join(directory, 'state'),
    KUBELET_CONFIG_FILE: kubelet.configFile,
    KUBELET_RESTART_COMMAND: kubelet.restartCommand,
    KUBELET_PID_FILE: kubelet.pidFile,
    KUBELET_SERVING_CERTS: kubelet.servingCertFile,
  });
  try {
    await request(cluster, 'POST', '/apis/kubelet-gitops.dev/v1alpha1/kubeletnodes', {
      apiVersion: 'kubelet-gitops.dev/v1alpha1',
      kind: 'KubeletNode',
      metadata: { name: NODE },
      spec: {},
    });
    await until('the agent to report', async () => (await statusOf(cluster))?.phase === 'Idle', { withinMs: 30_000 });

    const bare: number[] = [];
    const assigned: number[] = [];
    for (let round = 0; round < RUNS; round += 1) {
      bare.push(
        await secondsUntil(
          kubelet,
          () => run('sh', ['-c', kubelet.restartCommand]),
          () => true,
        ),
      );
      const maxPods = 60 + round;
      const spec = await prepare(cluster, maxPods);
      assigned.push(
        await secondsUntil(
          kubelet,
          () => assign(cluster, spec),
          (config) => config['maxPods'] === maxPods,
        ),
      );
      await until('promotion', async () => (await statusOf(cluster))?.lastKnownGood?.name === spec.configSource.name, {
        withinMs: 60_000,
      });
    }
    const slower = median(assigned) - median(bare);
    return [
      {
        what: 'assignment to a kubelet that runs it',
        unit: 's',
        subject: assigned,
        baseline: { what: 'bare restart', values: bare },
        promise: { text: 'at most a restart and 1 s', kept: slower <= 1 },
      },
    ];
  } finally {
    await agent.stop();
    await programs.remove();
    await kubelet.stop();
    await runtime.stop();
    await cluster.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

/** Seconds from an act until the kubelet was started anew, is healthy, and its running config is as expected. */
async function secondsUntil(
  kubelet: Kubelet,
  act: () => Promise<unknown>,
  expected: (config: Readonly<Record<string, unknown>>) => boolean,
): Promise<number> {
  const before = await kubelet.restarts();
  const begun = performance.now();
  await act();
  await until(
    'the kubelet',
    async () => {
      if ((await kubelet.restarts()) === before || !(await kubelet.healthy())) return false;
      const config = await kubelet.configz().catch(() => null);
      return config !== null && expected(config);
    },
    { withinMs: 60_000, everyMs: 20 },
  );
  return (performance.now() - begun) / 1000;
}

interface AssignmentSpec {
  readonly pool: string;
  readonly apply: 'overlay';
  readonly trial: { readonly duration: string; readonly startTimeout: string; readonly maxRestarts: number };
  readonly configSource: { readonly name: string; readonly [field: string]: string };
}

async function prepare(cluster: ControlPlane, maxPods: number): Promise<AssignmentSpec> {
  const payload = canonicalize({ apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration', maxPods });
  const name = configMapName('bench', payload);
  const made = await request(cluster, 'POST', `/api/v1/namespaces/${NAMESPACE}/configmaps`, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name },
    immutable: true,
    data: { kubelet: payload },
  });
  const { uid, resourceVersion } = made.metadata;
  return {
    pool: 'bench',
    apply: 'overlay',
    trial: { duration: '1s', startTimeout: '30s', maxRestarts: 1 },
    configSource: { namespace: NAMESPACE, name, uid, resourceVersion, key: 'kubelet', sha256: payloadSha256(payload) },
  };
}

const PATH = `/apis/kubelet-gitops.dev/v1alpha1/kubeletnodes/${NODE}`;

const assign = (cluster: ControlPlane, spec: AssignmentSpec): Promise<unknown> =>
  request(cluster, 'PATCH', PATH, { spec }, 'application/merge-patch+json');

async function statusOf(
  cluster: ControlPlane,
): Promise<{ phase?: string; lastKnownGood?: { name: string } } | undefined> {
  return (await request(cluster, 'GET', PATH)).status;
}

interface Answer {
  readonly metadata: { readonly uid: string; readonly resourceVersion: string };
  readonly status?: { phase?: string; lastKnownGood?: { name: string } };
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
