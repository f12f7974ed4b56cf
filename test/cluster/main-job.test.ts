import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { promisify } from 'node:util';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import { configMapName } from '#shared/contract/config-map-hash.ts';
import { type SandboxGitServer, startGitServer } from '#sandbox/git-server/server.ts';
import { describeOrSkip } from '../support/describe-or-skip.ts';
import { nodeSkipReason } from './support/binaries.ts';
import { type ContainerRuntime, startContainerd } from './support/container-runtime.ts';
import { type ControlPlane, startControlPlane } from './support/control-plane.ts';
import { freePorts } from './support/free-ports.ts';
import { keptProgram } from './support/kept-program.ts';
import { type Kubelet, startKubelet } from './support/kubelet.ts';
import { buildPrograms, installManifests, type Program, type Programs } from './support/programs.ts';
import { until } from '../support/until.ts';
import { clusterWithShortTrials } from '../support/short-trials.ts';

const run = promisify(execFile);
const skip = await nodeSkipReason();
const CLUSTER = 'real';
/** Longest that a change may take here: two restarts of a real kubelet and a trial, on a busy machine. */
const WITHIN = { withinMs: 300_000 };

const POOL = `apiVersion: kubelet-gitops.dev/v1alpha1
kind: KubeletPool
spec:
  nodeSelector: {matchLabels: {kubernetes.io/os: linux}}
  rollout: {maxUnavailable: 1, onFailure: {threshold: 1, action: halt}}
  # The real kubelet takes six seconds to come up here; ten minutes of trial would be ten minutes of test.
  trial: {duration: 5s, startTimeout: 5m, maxRestarts: 2}
`;
const layer = (fields: string): string =>
  `apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n${fields}`;

/** From a pushed commit to a real kubelet, by the programs as they ship, with the rights that the manifests give them. */
describeOrSkip('the main job on a real cluster', { skip }, () => {
  let cluster: ControlPlane;
  let runtime: ContainerRuntime;
  let kubelet: Kubelet;
  let git: SandboxGitServer;
  let programs: Programs;
  let agent: Program;
  let reconciler: Program;
  let directory: string;
  let healthPort: number;

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-main-job-'));
    cluster = await startControlPlane();
    runtime = await startContainerd();
    kubelet = await startKubelet({ controlPlane: cluster, runtime, nodeName: 'node-a', config: { maxPods: 42 } });
    await installManifests(cluster);
    git = await startGitServer();
    programs = await buildPrograms(cluster);
    agent = await programs.start('agent', agentEnv());
    [healthPort = 0] = await freePorts(1);
    reconciler = await keptProgram(startReconciler);
  });

  after(async () => {
    await reconciler?.stop();
    await agent?.stop();
    await programs?.remove();
    await git?.stop();
    await kubelet?.stop();
    await runtime?.stop();
    await cluster?.stop();
    await rm(directory, { recursive: true, force: true });
  });

  const agentEnv = (): Record<string, string> => ({
    NODE_NAME: 'node-a',
    STATE_DIR: join(directory, 'state'),
    KUBELET_CONFIG_FILE: kubelet.configFile,
    KUBELET_RESTART_COMMAND: kubelet.restartCommand,
    KUBELET_PID_FILE: kubelet.pidFile,
    KUBELET_SERVING_CERTS: kubelet.servingCertFile,
  });

  const startReconciler = (): Promise<Program> =>
    programs.start('reconciler', {
      CLUSTER,
      GIT_URL: git.url,
      // One of the configs below needs it.
      ALLOW_FIELDS: 'readOnlyPort',
      POLL_INTERVAL: '2s',
      NOTES_INTERVAL: '1s',
      HEALTH_PORT: String(healthPort),
      METRICS_PORT: '0',
      POD_NAME: 'reconciler-0',
    });

  const push = (fields: string, message: string): Promise<string> =>
    git.commit({
      files: {
        ...clusterWithShortTrials(CLUSTER),
        'pools/all/pool.yaml': POOL,
        'pools/all/kubelet.yaml': layer(fields),
      },
      message,
      author: { name: 'Ada', email: 'ada@example.com' },
    });

  async function get<T>(kind: 'kubeletnodes' | 'kubeletpools', name: string): Promise<T> {
    const answer = await cluster.request('GET', `/apis/kubelet-gitops.dev/v1alpha1/${kind}/${name}`);
    assert.equal(answer.status, 200, answer.text);
    return answer.json() as T;
  }

  const evidence = (): string => `${reconciler.logTail(10)}\n${agent.logTail(20)}`;

  const settledOn = (commit: string): Promise<KubeletPool> =>
    until(
      `the pool settled on ${commit.slice(0, 8)}`,
      async () => {
        const pool = await get<KubeletPool>('kubeletpools', 'all').catch(() => undefined);
        return pool?.status?.phase === 'Settled' && pool.status.commit === commit && pool;
      },
      { ...WITHIN, evidence },
    );

  async function noteOn(commit: string, pattern: RegExp): Promise<string> {
    return until(
      `a note on ${commit.slice(0, 8)} that matches ${pattern}`,
      async () => {
        const text = (await git.readNotes(`refs/notes/kubelet-gitops/${CLUSTER}`)).get(commit) ?? '';
        return pattern.test(text) && text;
      },
      WITHIN,
    );
  }

  it('a commit becomes a payload, an assignment, and what the kubelet runs', async () => {
    assert.equal((await kubelet.configz())['maxPods'], 42);
    const commit = await push('maxPods: 77\n', 'Seventy-seven pods');
    const pool = await settledOn(commit);
    assert.equal((await kubelet.configz())['maxPods'], 77);
    assert.equal(await kubelet.restarts(), 1);
    // What the node was provisioned with is still there underneath.
    assert.equal((await kubelet.configz())['cgroupDriver'], 'cgroupfs');

    const name = pool.status?.configName ?? '';
    const { stdout } = await cluster.kubectl(['-n', 'kubelet-gitops', 'get', 'configmap', name, '-o', 'json']);
    const source = JSON.parse(stdout) as { immutable: boolean; data: { kubelet: string } };
    assert.equal(source.immutable, true);
    assert.equal(name, configMapName('all', source.data.kubelet));
    const node = await get<KubeletNode>('kubeletnodes', 'node-a');
    for (const half of ['assigned', 'active', 'lastKnownGood'] as const)
      assert.equal(node.status?.[half]?.name, name, half);
    assert.equal(node.status?.kubeletVersion, 'v1.20.2');
  });

  it('the note on the commit tells, to anybody who clones the repository', async () => {
    const [head] = await git.log(1);
    await noteOn(head?.oid ?? '', /^real: settled/);
    const clone = join(directory, 'clone');
    await run('git', ['clone', '--quiet', git.url, clone]);
    await run('git', ['-C', clone, 'fetch', '--quiet', 'origin', '+refs/notes/*:refs/notes/*']);
    const { stdout } = await run('git', ['-C', clone, 'log', '-1', '--notes=kubelet-gitops/*']);
    assert.match(stdout, /Notes \(kubelet-gitops\/real\):\s+real: settled \(\d+ pools?, \d+ nodes?\)\n/);
  });

  it('kubectl shows pools and nodes readably', async () => {
    // kubectl remembers which kinds there were when it was first asked, before ours, and looks again once it met an unknown one.
    const look = async (): Promise<string | false> => {
      const { code, stdout } = await cluster.kubectl(['get', 'kpool,knode']);
      return code === 0 && stdout;
    };
    const stdout = await until('kubectl to know the short names', look);
    console.log(stdout);
    assert.match(stdout, /all +0 +1 +1 +0 +0 +True +\w+ +Settled/);
    assert.match(stdout, /node-a +all +Idle +all-\w{10}/);
    const widest = Math.max(...stdout.split('\n').map((line) => line.length));
    assert.ok(widest <= 170, `${widest} columns`);
  });

  it('a config that the machine is not made for is refused on the node, and the kubelet left alone', async () => {
    const before = await kubelet.restarts();
    // More CPUs than there are: only the node itself can know.
    await push(`maxPods: 98\nreservedSystemCPUs: 0-${cpus().length + 7}\n`, 'Too many CPUs');
    const node = await until(
      'refusal',
      async () => {
        const now = await get<KubeletNode>('kubeletnodes', 'node-a');
        return (now.status?.rejected ?? []).length > 0 && now.status?.phase === 'Idle' && now;
      },
      { ...WITHIN, evidence },
    );
    assert.equal(node.status?.error?.reason, 'PreflightFailed');
    assert.match(node.status?.error?.message ?? '', /this node has no CPU/);
    assert.equal(await kubelet.restarts(), before);
    assert.equal((await kubelet.configz())['maxPods'], 77);
  });

  it('a config that validation takes and the kubelet dies of is taken back on the node, which says why', async () => {
    const before = await kubelet.restarts();
    // A port that the kubelet itself takes for something else.
    const bad = await push(`maxPods: 99\nreadOnlyPort: ${kubelet.port}\n`, 'One port twice');
    const node = await until(
      'fallback',
      async () => {
        const now = await get<KubeletNode>('kubeletnodes', 'node-a');
        return (now.status?.rejected ?? []).length > 1 && now.status?.phase === 'Idle' && now;
      },
      { ...WITHIN, evidence },
    );
    await until('the kubelet to be healthy', kubelet.healthy, { ...WITHIN, evidence: kubelet.logTail });
    assert.equal((await kubelet.configz())['maxPods'], 77);
    assert.notEqual(node.status?.error?.reason, undefined);
    const { stdout } = await cluster.kubectl(['get', 'knode', 'node-a']);
    console.log(stdout);
    assert.match(stdout, new RegExp(node.status?.error?.reason ?? 'no reason'));
    assert.ok((await kubelet.restarts()) > before);
    await noteOn(bad, /^real: halted/);
    await until(
      'the pool to say so as well',
      async () => (await get<KubeletPool>('kubeletpools', 'all')).status?.phase === 'Halted',
      { ...WITHIN, evidence },
    );
  });

  it('the revert settles without a restart, because the node runs it already', async () => {
    const before = await kubelet.restarts();
    const commit = await push('maxPods: 77\n', 'Revert "Too many CPUs"');
    await settledOn(commit);
    assert.equal(await kubelet.restarts(), before);
  });

  it('the rights in the manifests are enough: nobody was refused anything', async () => {
    const lines = [...(await reconciler.lines()), ...(await agent.lines())];
    assert.deepEqual(
      lines.filter((line) => /KUBE_FORBIDDEN|KUBE_UNAUTHORIZED/.test(JSON.stringify(line))),
      [],
    );
  });

  it('an agent that starts again while the API server is away restarts nothing', async () => {
    const before = await kubelet.restarts();
    await cluster.stopApiServer();
    await agent.stop();
    agent = await programs.start('agent', agentEnv());
    await agent.said('started');
    // Long enough for the agent to look at its node and to find nobody to ask.
    await until('the agent missing the API server', async () => /KUBE_UNREACHABLE/.test(agent.logTail(50)), WITHIN);
    assert.equal(await kubelet.restarts(), before);
    await cluster.startApiServer();
    const commit = await push('maxPods: 77\n# a comment\n', 'Comment');
    await settledOn(commit);
    assert.equal(await kubelet.restarts(), before);
  });

  it('an allowed removal gives the node its own config back, byte for byte, with one restart', async () => {
    const original = `${JSON.stringify(kubelet.config, undefined, 2)}\n`;
    const before = await kubelet.restarts();
    await git.commit({
      files: {
        'pools/all/pool.yaml': POOL.replace('kubernetes.io/os: linux', 'nobody: here'),
        ...clusterWithShortTrials(CLUSTER, '  maxUnassign: "100%"\n'),
      },
      message: 'Let the node go',
    });
    await until(
      'local config active',
      async () => {
        const { status } = await get<KubeletNode>('kubeletnodes', 'node-a');
        return status?.phase === 'Idle' && status.active?.name === 'local' && (await kubelet.healthy());
      },
      WITHIN,
    );
    assert.equal(await readFile(kubelet.configFile, 'utf8'), original);
    assert.equal((await kubelet.configz())['maxPods'], 42);
    assert.equal(await kubelet.restarts(), before + 1);
  });

  it('neither program logs a token', async () => {
    const lines = [...(await reconciler.lines()), ...(await agent.lines())];
    assert.ok(lines.length > 20);
    assert.deepEqual(
      lines.filter((line) => /eyJ[\w-]{10,}\./.test(JSON.stringify(line))),
      [],
    );
  });
});
