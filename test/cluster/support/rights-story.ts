import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import { startGitServer } from '#sandbox/git-server/server.ts';
import { type Asked, type Audit, prepareAudit } from './audit.ts';
import { startContainerd } from './container-runtime.ts';
import { type ControlPlane, startControlPlane } from './control-plane.ts';
import { freePorts } from './free-ports.ts';
import { keptProgram } from './kept-program.ts';
import { startKubelet } from './kubelet.ts';
import { buildPrograms, installManifests, type Program } from './programs.ts';
import { until } from '../../support/until.ts';
import { clusterWithShortTrials } from '../../support/short-trials.ts';

const OURS = '/apis/kubelet-gitops.dev/v1alpha1';
/** Of KubeletNodes by both, of Nodes, KubeletPools and ConfigMaps by the reconciler. */
const WATCHES = 5;
const WITHIN = { withinMs: 300_000 };
/** Events are told a moment after what they tell of. */
const SOON = { withinMs: 20_000 };
const KUBELET = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
const pool = (selector: string, more = '', budget = 1): string => `apiVersion: kubelet-gitops.dev/v1alpha1
kind: KubeletPool
spec:
  nodeSelector: {matchLabels: {${selector}}}
  rollout: {maxUnavailable: ${budget}}
  trial: {duration: 3s, startTimeout: 5m, maxRestarts: 2}
${more}`;
const DISRUPTIVE = `  disruption: {allow: [restart, drain]}
  blockers: {pods: {namespace: backup, selector: {matchLabels: {app: backup}}}}
`;
const all = (budget: number): string => pool('kubernetes.io/os: linux', DISRUPTIVE, budget);

/** Manifests that are not the base, and grant something. */
export const COMPONENTS = globSync('deploy/components/*/rbac.yaml').toSorted();

/** A cluster in which both programs did everything that they ever do, under their own service accounts. */
export interface RightsStory {
  readonly cluster: ControlPlane;
  readonly audit: Audit;
  /** What was asked until all of it was done. */
  readonly asked: readonly Asked[];
  /** Lines of both programs that tell of a missing right. */
  readonly refusals: readonly string[];
  readonly stop: () => Promise<void>;
}

/**
 * Takes a real node through its life, by the programs as they ship: a config, a change that drains the node, the way
 * back, a node that goes away, a pool that is taken out, and old config sources that are pruned.
 *
 * @param isAll whether nothing is left to come of what the programs ask for
 */
export async function runRightsStory(isAll: (asked: readonly Asked[]) => boolean): Promise<RightsStory> {
  const directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-rights-'));
  await mkdir(join(directory, 'audit'));
  const audit = await prepareAudit(join(directory, 'audit'));
  await using stack = new AsyncDisposableStack();
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  const cluster = await startControlPlane({ apiServerArgs: audit.apiServerArgs });
  stack.defer(cluster.stop);
  const runtime = await startContainerd();
  stack.defer(runtime.stop);
  const kubelet = await startKubelet({ controlPlane: cluster, runtime, nodeName: 'node-a', config: { maxPods: 42 } });
  stack.defer(kubelet.stop);
  await installManifests(cluster);
  await apply(cluster, ...COMPONENTS.map((file) => ['-f', file]).flat());
  const git = await startGitServer();
  stack.defer(git.stop);
  const programs = await buildPrograms(cluster);
  stack.defer(programs.remove);
  const agent = await programs.start('agent', {
    NODE_NAME: 'node-a',
    STATE_DIR: join(directory, 'state'),
    KUBELET_CONFIG_FILE: kubelet.configFile,
    KUBELET_RESTART_COMMAND: kubelet.restartCommand,
    KUBELET_PID_FILE: kubelet.pidFile,
    KUBELET_SERVING_CERTS: kubelet.servingCertFile,
  });
  stack.defer(agent.stop);
  const env = {
    CLUSTER: 'real',
    GIT_URL: git.url,
    POLL_INTERVAL: '1s',
    KEEP_UNUSED: '1s',
    HEALTH_PORT: String((await freePorts(1))[0]),
    METRICS_PORT: '0',
    POD_NAME: 'reconciler-0',
  };
  const reconciler = await keptProgram(() => programs.start('reconciler', env));
  stack.defer(reconciler.stop);
  const evidence = (): string => `${reconciler.logTail(15)}\n${agent.logTail(15)}`;
  const story = { cluster, evidence, commit: git.commit };
  const thereAndBack = await tell(story);
  const isTold = async (): Promise<boolean> => (await audit.asked()).some(isSeries);
  // A reconciler that began again meanwhile knows of no repetition: it has to see one itself.
  for (let tries = 0; tries < 5 && !(await until('a series', isTold, SOON).catch(() => false)); tries += 1) {
    await thereAndBack();
  }
  await until('all of it in the audit log', isTold, { ...WITHIN, evidence });
  // Where something never comes, the test that looks for it says what.
  await until('the rest of it', async () => isAll(await audit.asked())).catch(() => undefined);
  const refusals = await missingRights([agent, reconciler]);
  // Watches are taken down when they end.
  await agent.stop();
  await reconciler.stop();
  const asked = await until(
    'the watches in the audit log',
    async () => {
      const all = await audit.asked();
      return all.filter(({ verb }) => verb === 'watch').length >= WATCHES && all;
    },
    { evidence },
  );
  const kept = stack.move();
  return { cluster, audit, asked, refusals, stop: () => kept.disposeAsync() };
}

/** The Event of a config that was assigned twice is counted, after everything else. */
const isSeries = ({ verb, resource }: Asked): boolean => verb === 'patch' && resource === 'events';

interface Telling {
  readonly cluster: ControlPlane;
  readonly evidence: () => string;
  readonly commit: Awaited<ReturnType<typeof startGitServer>>['commit'];
}

/** @returns what assigns another config, and then the same once more */
async function tell({ cluster, evidence, commit }: Telling): Promise<() => Promise<void>> {
  const exists = async (kind: 'kubeletnodes' | 'kubeletpools', name: string): Promise<boolean> =>
    (await cluster.request('GET', `${OURS}/${kind}/${name}`)).status === 200;
  const settledOn = (oid: string): Promise<unknown> =>
    until(
      `the pool settled on ${oid.slice(0, 8)}`,
      async () => {
        const { status } = (await cluster.request('GET', `${OURS}/kubeletpools/all`)).json() as KubeletPool;
        return status?.phase === 'Settled' && status.commit === oid;
      },
      { ...WITHIN, evidence },
    );

  await apply(cluster, '-f', '-', GHOST);
  const first = {
    ...clusterWithShortTrials('real'),
    'pools/all/pool.yaml': all(1),
    'pools/all/kubelet.yaml': `${KUBELET}maxPods: 77\n`,
  };
  const ghosts = {
    'pools/ghosts/pool.yaml': pool('ghost: "yes"'),
    'pools/ghosts/kubelet.yaml': `${KUBELET}maxPods: 9\n`,
  };
  await settledOn(await commit({ files: { ...first, ...ghosts }, message: 'Two pools' }));
  await until('a KubeletNode of the ghost', () => exists('kubeletnodes', 'ghost'), { ...WITHIN, evidence });

  // One Node goes away, and one pod is to be moved.
  await cluster.kubectl(['delete', 'node', 'ghost']);
  await until('no KubeletNode of the ghost', async () => !(await exists('kubeletnodes', 'ghost')), {
    ...WITHIN,
    evidence,
  });
  await apply(cluster, '-f', '-', POD);
  const drained = `${KUBELET}maxPods: 77\nhairpinMode: none\n`;
  const second = await commit({
    files: { 'pools/all/pool.yaml': all(2), 'pools/all/kubelet.yaml': drained, 'pools/ghosts': null },
    message: 'A change that drains, another budget, and one pool fewer',
  });
  await until(
    'the eviction',
    async () => {
      const answer = await cluster.request('GET', '/api/v1/namespaces/default/pods/work');
      const pod = answer.json() as { readonly metadata: { readonly deletionTimestamp?: string } };
      return answer.status === 404 || pod.metadata.deletionTimestamp !== undefined;
    },
    { ...WITHIN, evidence },
  );
  // Its containers never came to run: there is no registry here.
  await cluster.kubectl(['delete', 'pod', 'work', '--force', '--grace-period=0', '--wait=false']);
  await settledOn(second);
  await until('the end of the pool', async () => !(await exists('kubeletpools', 'ghosts')), { ...WITHIN, evidence });
  // What was assigned once is assigned again: the same Event, which is counted.
  await settledOn(await commit({ files: first, message: 'Back' }));
  return async () => {
    const other = { 'pools/all/kubelet.yaml': `${KUBELET}maxPods: 78\n` };
    await settledOn(await commit({ files: other, message: 'There' }));
    await settledOn(await commit({ files: first, message: 'And back' }));
  };
}

const GHOST = JSON.stringify({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'ghost', labels: { ghost: 'yes' } } });
const POD = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'work', namespace: 'default' },
  spec: {
    nodeName: 'node-a',
    containers: [{ name: 'work', image: 'nowhere.invalid/work' }],
    automountServiceAccountToken: false,
    tolerations: [{ operator: 'Exists' }],
  },
});

/** Arguments of kubectl apply; what follows `-f -` is its input. */
async function apply(cluster: ControlPlane, ...args: readonly string[]): Promise<void> {
  const input = args[1] === '-' ? (args[2] ?? '') : '';
  const { code, stderr } = await cluster.kubectl(['apply', ...(input === '' ? args : args.slice(0, 2))], { input });
  assert.equal(code, 0, stderr);
}

async function missingRights(programs: readonly Program[]): Promise<readonly string[]> {
  const lines = await Promise.all(programs.map((program) => program.lines()));
  return lines
    .flat()
    .map((line) => JSON.stringify(line))
    .filter((line) => /KUBE_FORBIDDEN|KUBE_UNAUTHORIZED/.test(line));
}
