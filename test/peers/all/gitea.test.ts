import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { templateFiles, withFields } from '#sandbox/demo/template-repository.ts';
import { startGitServer } from '#sandbox/git-server/server.ts';
import { startSandbox, type Sandbox } from '#sandbox/sandbox.ts';
import { type Log, silentLog } from '#shared/runtime/log.ts';
import { MARKER } from '../../docs/support/change.ts';
import { settled } from '../../stories/support.ts';
import { describeOrSkip } from '../../support/describe-or-skip.ts';
import { noteProblems } from '../../support/note-schema.ts';
import { until } from '../../support/until.ts';
import { type Clone, cloneInto } from '../support/forge-repository.ts';
import { postPlanOf } from '../support/post-plan.ts';
import { GITEA, type Gitea, startGitea } from '../support/gitea.ts';

const AN_HOUR_MS = 3_600_000;
const SECRET = 'a secret of the webhook, long enough for it';
const GENERAL = 'pools/general/kubelet.yaml';

interface Status {
  readonly context: string;
  readonly status: string;
  readonly description: string;
}
interface Comment {
  readonly user: { readonly login: string };
  readonly body: string;
}

describeOrSkip('a real Gitea', { skip: GITEA.skip }, () => {
  let gitea: Gitea;
  let git: Awaited<ReturnType<typeof startGitServer>>;
  let world: Sandbox;
  let directory: string;
  let clone: Clone;
  let files: Readonly<Record<string, string>>;
  let [ada, robot, mallory] = ['', '', ''];
  const refusals: string[] = [];
  const noteRefusal = (_fields: unknown, message: string): void => {
    if (message === 'webhook delivery refused') refusals.push(message);
  };
  const repository = '/repos/ada/kubelet-config';

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-peers-'));
    gitea = await startGitea();
    [ada, robot, mallory] = [gitea.account('ada'), gitea.account('robot'), gitea.account('mallory')];
    const made = await gitea.call(ada, 'POST', '/user/repos', { name: 'kubelet-config', private: true });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    for (const [who, permission] of [
      ['robot', 'write'],
      ['mallory', 'read'],
    ]) {
      assert.equal((await gitea.call(ada, 'PUT', `${repository}/collaborators/${who}`, { permission })).status, 204);
    }
    clone = await cloneInto(join(directory, 'clone'), urlFor('ada', ada));
    files = await templateFiles({ trial: '200ms', soak: '0s', startTimeout: '30s' });
    await clone.push(files, 'Start');

    // What the reconciler has of the forge: files, as mounted Secrets are.
    const secrets = { credentials: join(directory, 'credentials'), webhook: join(directory, 'webhook') };
    await mkdir(secrets.credentials);
    await writeFile(join(secrets.credentials, 'username'), 'robot');
    await writeFile(join(secrets.credentials, 'token'), `${robot}\n`);
    await writeFile(secrets.webhook, `${SECRET}\n`);
    git = await startGitServer();
    world = await startSandbox({
      cluster: 'demo',
      nodes: [{ name: 'worker-1', labels: { 'node-role.kubernetes.io/worker': '' } }],
      log: (): Log => Object.assign(Object.create(silentLog) as Log, { warn: noteRefusal }),
      // A commit that is taken up sooner was brought by the webhook.
      pollMs: AN_HOUR_MS,
      git: { ...git, url: `${gitea.url}/ada/kubelet-config.git` },
      gitCredentialsDir: secrets.credentials,
      webhookSecretFile: secrets.webhook,
      forge: (gitUrl) => ({
        kind: 'gitea',
        gitUrl,
        apiUrl: undefined,
        repository: undefined,
        tokenFile: join(secrets.credentials, 'token'),
        link: undefined,
        caFile: undefined,
      }),
    });
    await tellWith(SECRET);
  });
  after(async () => {
    await world?.stop();
    await git?.stop();
    await gitea?.stop();
    if (directory !== undefined) await rm(directory, { recursive: true, force: true });
  });

  const urlFor = (user: string, token: string): string =>
    `${gitea.url.replace('//', `//${user}:${token}@`)}/ada/kubelet-config.git`;
  /** Has the forge tell the reconciler of pushes; who told it before does so no longer. */
  async function tellWith(secret: string): Promise<void> {
    const hooks = (await gitea.call(ada, 'GET', `${repository}/hooks`)).body as readonly { readonly id: number }[];
    for (const { id } of hooks) await gitea.call(ada, 'DELETE', `${repository}/hooks/${id}`);
    const config = { url: await world.webhookUrl(), content_type: 'json', secret };
    const hook = { type: 'gitea', active: true, events: ['push'], config };
    assert.equal((await gitea.call(ada, 'POST', `${repository}/hooks`, hook)).status, 201);
  }
  const general = (maxPods: number): Readonly<Record<string, string>> => ({
    [GENERAL]: withFields(files[GENERAL] ?? '', { maxPods }),
  });
  const settledOn = (commit: string) =>
    world.until(`settled on ${commit}`, (view) => view.source.commit === commit && settled(view));

  async function statusesOf(commit: string): Promise<readonly Status[]> {
    const { body } = await gitea.call(mallory, 'GET', `${repository}/commits/${commit}/status`);
    return (body as { readonly statuses: readonly Status[] | null }).statuses ?? [];
  }

  /** Waits until the forge shows these states beside a commit: of the cluster, and of the pools that it names. */
  const shown = (commit: string, states: Readonly<Record<string, string>>): Promise<readonly Status[]> =>
    until(`${JSON.stringify(states)} on ${commit}`, async () => {
      const all = await statusesOf(commit);
      const stateOf = (context: string) => all.find((each) => each.context === `kubelet-gitops/${context}`)?.status;
      return Object.entries(states).every(([context, state]) => stateOf(context) === state) ? all : undefined;
    });

  async function noteOn(commit: string): Promise<string | undefined> {
    await clone.git('fetch', '--quiet', '--force', 'origin', 'refs/notes/*:refs/notes/*');
    return clone.git('notes', '--ref', world.notesRef, 'show', commit).catch(() => undefined);
  }

  it('tells of a push, and shows statuses and a note on the commit that came of it', async () => {
    const commit = await clone.push(general(101), 'Allow 101 pods');
    await settledOn(commit);
    const green = {
      demo: 'success',
      'demo/general': 'success',
      'demo/gpu': 'success',
      'demo/control-plane': 'success',
    };
    assert.equal((await shown(commit, green)).length, 4);
    const note = await until('the note', async () => {
      const text = await noteOn(commit);
      return text?.startsWith('demo: settled') === true ? text : undefined;
    });
    assert.match(note, /^demo: settled \(3 pools, 1 node\)\n?$/);
    const place = `${commit.slice(0, 2)}/${commit.slice(2)}.json`;
    assert.deepEqual(noteProblems(await clone.git('show', `${world.notesRef}:${place}`)), []);
    assert.equal((await world.status()).source.notes, 'on');
  });

  it('shows red with the place where a commit has errors, and green for the next one', async () => {
    const broken = await clone.push({ [GENERAL]: `${files[GENERAL]}maxPodz: 1\n` }, 'Misspell');
    const statuses = await shown(broken, { demo: 'failure', 'demo/general': 'failure' });
    const pool = statuses.find(({ context }) => context === 'kubelet-gitops/demo/general');
    assert.match(pool?.description ?? '', /^kept as it was: pools\/general\/kubelet\.yaml:\d+:1: error unknown-field/);
    const fixed = await clone.push(general(102), 'Spell it right');
    await settledOn(fixed);
    await shown(fixed, { demo: 'success', 'demo/general': 'success' });
  });

  it('lets nobody in who does not know the secret of the webhook', async () => {
    const { commit: present } = (await world.status()).source;
    await tellWith('another secret');
    const unheard = await clone.push(general(103), 'Unheard of');
    await until('the delivery', async () => refusals.length > 0);
    assert.equal((await world.status()).source.commit, present);
    await tellWith(SECRET);
    const heard = await clone.push(general(104), 'Heard of');
    await settledOn(heard);
    assert.equal((await statusesOf(unheard)).length, 0);
  });

  describe('with a pull request', () => {
    let pull: number;
    const comments = async (): Promise<readonly Comment[]> =>
      (await gitea.call(mallory, 'GET', `${repository}/issues/${pull}/comments`)).body as readonly Comment[];
    const ours = async (): Promise<readonly string[]> =>
      (await comments()).filter(({ user }) => user.login === 'robot').map(({ body }) => body);

    const postPlan = (): Promise<string> =>
      postPlanOf(clone, {
        GITHUB_API_URL: gitea.api,
        GITHUB_REPOSITORY: 'ada/kubelet-config',
        GITHUB_TOKEN: robot,
        PULL_REQUEST: String(pull),
      });

    before(async () => {
      await clone.git('fetch', '--quiet', 'origin', 'main:refs/remotes/origin/main');
      await clone.push(general(60), 'Allow 60 pods', 'change');
      const made = await gitea.call(ada, 'POST', `${repository}/pulls`, {
        head: 'change',
        base: 'main',
        title: 'Fewer pods',
      });
      assert.equal(made.status, 201, JSON.stringify(made.body));
      pull = (made.body as { readonly number: number }).number;
    });

    it('has one comment of the pipeline, which later runs change, among those of others', async () => {
      const spoofed = await gitea.call(mallory, 'POST', `${repository}/issues/${pull}/comments`, {
        body: `${MARKER}\nspoofed`,
      });
      assert.equal(spoofed.status, 201);
      assert.match(await postPlan(), /the comment was made/);
      assert.match((await ours())[0] ?? '', /\| `maxPods` \| `104` \| `60` \|/);
      // More than fit on a page of the other forges.
      for (let index = 0; index < 100; index += 1) {
        await gitea.call(mallory, 'POST', `${repository}/issues/${pull}/comments`, { body: 'Looks good' });
      }
      assert.match(await postPlan(), /the comment says so already/);
      await clone.push(general(50), 'Allow 50 pods', 'change');
      assert.match(await postPlan(), /the comment was changed/);
      const [comment = '', ...more] = await ours();
      assert.deepEqual(more, []);
      assert.match(comment, /\| `maxPods` \| `104` \| `50` \|/);
      assert.ok((await comments()).some(({ user, body }) => user.login === 'mallory' && body.endsWith('spoofed')));
    });

    it('brings its merge to the nodes', async () => {
      // For a moment after a push the forge has yet to find out whether it can be merged.
      const merge = async (): Promise<boolean> =>
        (await gitea.call(ada, 'POST', `${repository}/pulls/${pull}/merge`, { Do: 'merge' })).status === 200;
      await until('the merge', merge);
      await clone.git('fetch', '--quiet', 'origin', 'main');
      const commit = await clone.git('rev-parse', 'FETCH_HEAD');
      await settledOn(commit);
      await shown(commit, { demo: 'success', 'demo/general': 'success' });
      await clone.git('reset', '--quiet', '--hard', commit);
    });
  });

  it('that protects refs/notes: the rollout goes on, and status says who refuses and what to do', async () => {
    const hook = join(gitea.repositoryDirectory('ada', 'kubelet-config'), 'hooks/pre-receive.d/protect-notes');
    const rule =
      'while read -r old new ref; do case $ref in refs/notes/*) echo "$ref is protected" >&2; exit 1 ;; esac; done';
    await writeFile(hook, `#!/bin/sh\n${rule}\n`);
    await chmod(hook, 0o755);
    const commit = await clone.push(general(105), 'Allow 105 pods');
    await settledOn(commit);
    const { source } = await world.until('the refusal', (view) => view.source.notes.startsWith('off: '));
    assert.match(source.notes, /the git server has a rule against notes \(refs\/notes\/.*protected/);
    await shown(commit, { demo: 'success', 'demo/general': 'success' });
    await rm(hook);
    await world.until('notes again', (view) => view.source.notes === 'on');
    await until('the note', async () => (await noteOn(commit))?.startsWith('demo: settled'));
  });
});
