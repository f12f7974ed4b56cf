import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { promisify } from 'node:util';
import { parse, stringify } from 'yaml';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import { type SandboxGitServer, startGitServer } from '#sandbox/git-server/server.ts';
import { describeOrSkip } from '../support/describe-or-skip.ts';
import { fencedBlocks } from '../support/fenced-blocks.ts';
import { without } from '../support/required-tools.ts';
import { nodeSkipReason } from './support/binaries.ts';
import { type ContainerRuntime, startContainerd } from './support/container-runtime.ts';
import { type ControlPlane, startControlPlane } from './support/control-plane.ts';
import { freePorts } from './support/free-ports.ts';
import { type Kubelet, startKubelet } from './support/kubelet.ts';
import { buildPrograms, type Programs } from './support/programs.ts';
import { until } from '../support/until.ts';
import { runWorkloads, type Workloads } from './support/workloads.ts';
import { clusterWithShortTrials } from '../support/short-trials.ts';

const run = promisify(execFile);
/** One that knows kustomize's components; that of our control plane is 1.20. */
const KUBECTL = 'kubectl';
const skip =
  (await nodeSkipReason()) ||
  without(KUBECTL, ['version', '--client'], 'nothing proves that the installation’s commands work');

interface Kustomization {
  readonly components?: readonly string[];
  readonly patches?: readonly object[];
  readonly images: readonly { readonly name: string; readonly newName: string; readonly newTag: string }[];
}

const POOL = `apiVersion: kubelet-gitops.dev/v1alpha1
kind: KubeletPool
spec:
  nodeSelector: {matchLabels: {kubernetes.io/os: linux}}
  trial: {duration: 5s, startTimeout: 5m, maxRestarts: 2}
`;
const LAYER = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: 77\n';

/** The commands of the documentation, as they stand, on a real API server with a real kubelet. */
describeOrSkip('installed, upgraded and uninstalled by the book', { skip }, () => {
  let cluster: ControlPlane;
  let runtime: ContainerRuntime;
  let kubelet: Kubelet;
  let git: SandboxGitServer;
  let images: Readonly<Record<string, Programs>>;
  let workloads: Workloads;
  let directory: string;

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-by-the-book-'));
    cluster = await startControlPlane();
    runtime = await startContainerd();
    kubelet = await startKubelet({ controlPlane: cluster, runtime, nodeName: 'node-a', config: { maxPods: 42 } });
    git = await startGitServer();
    const files = {
      ...clusterWithShortTrials('my-cluster'),
      'pools/all/pool.yaml': POOL,
      'pools/all/kubelet.yaml': LAYER,
    };
    await git.commit({ files, message: 'Begin' });
    images = { '0.1.0': await buildPrograms(cluster), '0.2.0': await buildPrograms(cluster, '0.2.0') };
    await layOut();
    workloads = runWorkloads({
      cluster,
      imageOf: (tag) => images[tag] ?? assert.fail(`no image ${tag}`),
      here: { agent: agentHere(), reconciler: await reconcilerHere() },
    });
  });

  after(async () => {
    await workloads?.stop();
    for (const image of Object.values(images ?? {})) await image.remove();
    await git?.stop();
    await kubelet?.stop();
    await runtime?.stop();
    await cluster?.stop();
    await rm(directory, { recursive: true, force: true });
  });

  const agentHere = (): Record<string, string> => ({
    NODE_NAME: 'node-a',
    STATE_DIR: join(directory, 'state'),
    HOST_ROOT: '/',
    KUBELET_CONFIG_FILE: kubelet.configFile,
    KUBELET_RESTART_COMMAND: kubelet.restartCommand,
    KUBELET_PID_FILE: kubelet.pidFile,
    KUBELET_SERVING_CERTS: kubelet.servingCertFile,
    METRICS_PORT: '',
  });
  const reconcilerHere = async (): Promise<Record<string, string>> => ({
    GIT_CREDENTIALS_DIR: '',
    POLL_INTERVAL: '2s',
    HEALTH_PORT: String((await freePorts(1))[0]),
    METRICS_PORT: '0',
    POD_NAME: 'reconciler-0',
  });

  const kustomizationFile = (): string => join(directory, 'my-cluster/kustomization.yaml');

  /** A checkout, a kustomization beside it as docs/install.md has it, and kubectl for this cluster at the front of the PATH. */
  async function layOut(): Promise<void> {
    for (const name of ['my-cluster', 'bin', 'home', 'state']) await mkdir(join(directory, name));
    await symlink(process.cwd(), join(directory, 'kubelet-gitops'));
    const program = join(directory, 'bin/kubectl');
    await writeFile(
      program,
      `#!/bin/sh\nexec ${await which(KUBECTL)} --kubeconfig '${cluster.adminKubeconfig}' "$@"\n`,
    );
    await chmod(program, 0o755);
    const example = fencedBlocks('docs/install.md', 'yaml').find((text) =>
      text.startsWith('# my-cluster/kustomization.yaml'),
    );
    await writeFile(kustomizationFile(), (example ?? '').replace(/GIT_URL=.*/, `GIT_URL=${git.url}`));
    // As its table says: this control plane and its kubelet are of 1.20.
    const old = ['apparmor-before-1.30', 'configz-before-1.33', 'events-before-1.23'];
    await change((now) => ({ ...now, components: old.map((name) => `../kubelet-gitops/deploy/components/${name}`) }));
  }

  async function change(edit: (now: Kustomization) => Kustomization): Promise<void> {
    const now = parse(await readFile(kustomizationFile(), 'utf8')) as Kustomization;
    await writeFile(kustomizationFile(), stringify(edit(now)));
  }

  const which = async (program: string): Promise<string> =>
    (await run('sh', ['-c', `command -v ${program}`])).stdout.trim();

  /** Types a block of commands as somebody would, and stops at the first that fails. @returns what was shown */
  async function type(commands: string): Promise<string> {
    const env = { PATH: `${join(directory, 'bin')}:${process.env['PATH']}`, HOME: join(directory, 'home') };
    const { stdout, stderr } = await run('sh', ['-exc', commands], { cwd: directory, env, timeout: 600_000 }).catch(
      (error: { readonly stdout: string; readonly stderr: string }) =>
        assert.fail(
          `${error.stdout}${error.stderr}${workloads.program('agent')?.logTail(15)}${workloads.program('reconciler')?.logTail(15)}`,
        ),
    );
    return stdout + stderr;
  }

  /** Commands of a page that name one of these words, in the page's order. */
  const commands = (page: string, pattern: RegExp): string =>
    fencedBlocks(page, 'sh')
      .filter((text) => pattern.test(text))
      .join('');

  const get = async (name: string): Promise<KubeletNode> =>
    JSON.parse((await cluster.kubectl(['get', name, '-o', 'json'])).stdout) as KubeletNode;
  const node = (): Promise<KubeletNode> => get('knode/node-a');

  it('install: the pool is Ready, and so is the node, after one restart', async () => {
    const shown = await type(commands('docs/install.md', /kubectl apply -k/));
    assert.match(shown, /successfully rolled out/);
    assert.match(shown, /kubeletpool\.kubelet-gitops\.dev\/all condition met/);
    await type(commands('docs/upgrade.md', /kubectl wait knode/));
    assert.equal((await kubelet.configz())['maxPods'], 77);
    assert.equal(await kubelet.restarts(), 1);
  });

  it('kubectl describe shows on the Node how its kubelet does, and what happened', async () => {
    const shown = await until(
      'the condition and the event',
      async () => {
        const text = await type('kubectl describe node node-a');
        return /KubeletConfigHealthy +True/.test(text) && /ConfigApplied/.test(text) && text;
      },
      { everyMs: 1000 },
    );
    assert.match(shown, /ConfigAssigned/);
  });

  it('kubectl wait is answered by what stands now: a generation that nobody has seen is waited for', async () => {
    for (const name of ['knode/node-a', 'kpool/all']) {
      await until(`${name} to speak of what stands`, async () => {
        const { metadata, status } = await get(name);
        const conditions = status?.conditions ?? [];
        return (
          conditions.length >= 4 &&
          conditions.every(({ observedGeneration }) => observedGeneration === metadata.generation)
        );
      });
    }
    await type('kubectl wait knode/node-a --for=condition=KubeletConfigHealthy --timeout=120s');
    await type('kubectl wait knode/node-a kpool/all --for=condition=Stalled=false --timeout=120s');
  });

  it('upgrade: both programs are of the next release, and no kubelet was restarted', async () => {
    const before = { restarts: await kubelet.restarts(), state: await fingerprints(join(directory, 'state')) };
    await change((now) => ({ ...now, images: now.images.map((image) => ({ ...image, newTag: '0.2.0' })) }));
    const shown = await type(commands('docs/upgrade.md', /kubectl diff/));
    assert.match(shown, /kubelet-gitops:0\.2\.0/);
    await until('the new agent’s report', async () => (await node()).status?.agentVersion === '0.2.0');
    assert.match(await type(commands('docs/upgrade.md', /kubectl get knode/)), /node-a +0\.2\.0 +all-\w{10}/);
    await type('kubectl wait kpool/all --for=condition=Ready --timeout=300s');
    assert.equal(await kubelet.restarts(), before.restarts);
    assert.ok(before.state.length > 1);
    assert.deepEqual(await fingerprints(join(directory, 'state')), before.state);
  });

  it('back again: the release before goes on from what is there', async () => {
    const before = await kubelet.restarts();
    await change((now) => ({ ...now, images: now.images.map((image) => ({ ...image, newTag: '0.1.0' })) }));
    await type(commands('docs/upgrade.md', /kubectl diff/));
    await until('the old agent’s report', async () => (await node()).status?.agentVersion === '0.1.0');
    assert.equal(await kubelet.restarts(), before);
  });

  it('uninstall: the node is back to its own config, byte for byte, and nothing of ours is left', async () => {
    const before = await kubelet.restarts();
    await type(commands('docs/uninstall.md', /delete deployment/));
    const [added = ''] = fencedBlocks('docs/uninstall.md', 'yaml').filter((text) => text.includes('components:'));
    const { components = [], patches = [] } = parse(added) as Kustomization;
    await change((now) => ({ ...now, components: [...(now.components ?? []), ...components], patches }));
    const shown = await type(commands('docs/uninstall.md', /kubectl apply/));
    assert.match(shown, /successfully rolled out/);
    assert.match(shown, /node-a +all +Idle +local +local +local/);
    assert.equal(await kubelet.restarts(), before + 1);
    assert.equal(await readFile(kubelet.configFile, 'utf8'), `${JSON.stringify(kubelet.config, undefined, 2)}\n`);
    assert.equal((await kubelet.configz())['maxPods'], 42);
    assert.deepEqual(await readdir(join(directory, 'state')), []);

    await type(commands('docs/uninstall.md', /kubectl delete -k/));
    for (const kind of ['crd', 'clusterrole', 'clusterrolebinding', 'role', 'rolebinding', 'namespace']) {
      const { stdout } = await cluster.kubectl(['get', kind, '-A', '-o', 'name']);
      assert.doesNotMatch(stdout, /kubelet-gitops/);
    }
    assert.equal(await kubelet.restarts(), before + 1);
  });
});

/** Names and contents of what lies there, without what changes with every start. */
async function fingerprints(directory: string): Promise<readonly string[]> {
  const files = await readdir(directory, { recursive: true, withFileTypes: true });
  const kept = files.filter(
    (file) => file.isFile() && /checkpoints?|local|assigned|last/.test(join(file.parentPath, file.name)),
  );
  return Promise.all(
    kept.map(async (file) => `${file.name} ${await readFile(join(file.parentPath, file.name), 'utf8')}`),
  );
}
