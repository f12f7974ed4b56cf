import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { readClusterStatus } from '#cli/status/read-status.ts';
import type { StatusView } from '#cli/status/render.ts';
import { startReconciler } from '#sandbox/sandbox-reconciler.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { createRealAgents } from '../../chaos/support/real-agents.ts';
import { controlPlaneSkipReason } from '../../cluster/support/binaries.ts';
import { startControlPlane } from '../../cluster/support/control-plane.ts';
import { installManifests } from '../../cluster/support/programs.ts';
import { configOf, phaseOf, settled } from '../../stories/support.ts';
import { describeOrSkip } from '../../support/describe-or-skip.ts';
import { until } from '../../support/until.ts';
import { type Clone, cloneInto } from '../support/forge-repository.ts';
import { GITEA, type Gitea, startGitea } from '../support/gitea.ts';

const OURS = 'apiVersion: kubelet-gitops.dev/v1alpha1\n';
const cluster = (spec = ''): string => `${OURS}kind: ClusterConfig\nspec: {trial: {minDuration: 200ms}${spec}}\n`;
const layer = (fields: string): string =>
  `apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n${fields}\n`;
const SETTLED_FOR_MS = 5_000;
const GENERAL = 'pools/general/kubelet.yaml';
const FILES = {
  'pools/general/pool.yaml':
    `${OURS}kind: KubeletPool\nspec:\n  nodeSelector: {matchLabels: {pool: general}}\n` +
    '  rollout: {maxUnavailable: 2, onFailure: {threshold: 1, action: halt}, soak: 0s}\n' +
    '  trial: {duration: 200ms, startTimeout: 30s}\n',
  [GENERAL]: layer('maxPods: 110'),
  'clusters/staging.yaml': cluster(),
  'clusters/production.yaml': cluster(`, follows: {clusters: [staging], settledFor: ${SETTLED_FOR_MS}ms}`),
};

/** An API server of its own, one node with a real agent, and the reconciler of that name. */
interface World {
  readonly status: () => Promise<StatusView>;
  readonly inForce: () => Promise<string>;
  /** Resolves once all pools have settled on this commit. */
  readonly on: (commit: string) => Promise<unknown>;
  readonly notesRef: string;
}

const skip = GITEA.skip || (await controlPlaneSkipReason());

describeOrSkip('two API servers and one Gitea', { skip }, () => {
  const stack = new AsyncDisposableStack();
  let directory: string;
  let gitea: Gitea;
  let clone: Clone;
  let ada: string;
  let staging: World;
  let production: World;

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-following-'));
    stack.defer(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }));
    gitea = await startGitea();
    stack.defer(gitea.stop);
    ada = gitea.account('ada');
    const made = await gitea.call(ada, 'POST', '/user/repos', { name: 'config', private: true });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    clone = await cloneInto(join(directory, 'clone'), `${gitea.url.replace('//', `//ada:${ada}@`)}/ada/config.git`);
    await clone.push(FILES, 'Begin');
    [staging, production] = await Promise.all([world('staging'), world('production')]);
  });
  after(() => stack.disposeAsync());

  /** Each has a credential of its own for the forge, and none for the other's API server. */
  async function world(name: string): Promise<World> {
    const robot = `robot-${name}`;
    const token = gitea.account(robot);
    const invited = await gitea.call(ada, 'PUT', `/repos/ada/config/collaborators/${robot}`, { permission: 'write' });
    assert.equal(invited.status, 204);
    const credentials = join(directory, `credentials-${name}`);
    await mkdir(credentials);
    await writeFile(join(credentials, 'username'), robot);
    await writeFile(join(credentials, 'token'), token);
    const controlPlane = await startControlPlane();
    stack.defer(controlPlane.stop);
    await installManifests(controlPlane);
    const agents = createRealAgents(controlPlane, join(directory, name), undefined);
    stack.defer(agents.stop);
    await agents.join(`${name}-1`, 'general');
    const { kube } = agents;
    const gitUrl = `${gitea.url}/ada/config.git`;
    const settings = { kube, cluster: name, gitUrl, pollMs: 500, log: silentLog, gitCredentialsDir: credentials };
    const reconciler = startReconciler(settings);
    stack.defer(() => reconciler.stop());
    const status = (): Promise<StatusView> => readClusterStatus(kube);
    return {
      status,
      inForce: async () => (await status()).source.commit,
      on: (commit) =>
        until(`${name} settled on ${commit}`, async () => {
          const view = await status();
          return view.source.commit === commit && settled(view);
        }),
      notesRef: reconciler.notesRef,
    };
  }

  async function noteOf({ notesRef }: World, commit: string): Promise<string> {
    await clone.git('fetch', '--quiet', '--force', 'origin', 'refs/notes/*:refs/notes/*');
    return clone.git('notes', '--ref', notesRef, 'show', commit).catch(() => '');
  }

  it('take a good commit one after the other', async () => {
    const first = await clone.git('rev-parse', 'HEAD');
    await Promise.all([staging.on(first), production.on(first)]);
    const good = await clone.push({ [GENERAL]: layer('maxPods: 120') }, 'Good');
    await staging.on(good);
    const settledAt = performance.now();
    assert.equal(await production.inForce(), first);
    await production.on(good);
    assert.ok(performance.now() - settledAt > SETTLED_FOR_MS - 1_000, 'not before staging had it for so long');
    for (const each of [staging, production])
      await until('the note', async () => /: settled/.test(await noteOf(each, good)));
  });

  it('keep a bad one in staging, and its revert waits for nobody', async () => {
    const good = await production.inForce();
    const before = configOf(await production.status(), 'general');
    const bad = await clone.push({ [GENERAL]: layer('maxOpenFiles: 20') }, 'Bad');
    await until('halted', async () => phaseOf(await staging.status(), 'general') === 'Halted');
    await until('the note', async () => /halted/.test(await noteOf(staging, bad)));
    await sleep(2 * SETTLED_FOR_MS);
    const view = await production.status();
    assert.deepEqual([view.source.commit, configOf(view, 'general')], [good, before]);
    assert.equal(await noteOf(production, bad), '');
    assert.match(view.source.following, new RegExp(`"oid":"${bad}","note":"halted"`));

    const revert = await clone.push({ [GENERAL]: layer('maxPods: 120') }, 'Revert');
    await Promise.all([staging.on(revert), production.on(revert)]);
  });
});
