import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parse } from 'yaml';
import { describeOrSkip } from '../support/describe-or-skip.ts';
import { WITHOUT_GIT } from '../support/required-tools.ts';
import { GPU, gpu, INVENTORY, MARKER } from './support/change.ts';
import {
  commitFiles,
  createOrigin,
  createWorkspace,
  linkTool,
  type Ran,
  runScript,
  type Workspace,
} from './support/ci-run.ts';
import { type Forge, startForge, TOKEN } from './support/forge.ts';

interface Step {
  readonly name?: string;
  readonly uses?: string;
  readonly if?: string;
  readonly run?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly with?: Readonly<Record<string, unknown>>;
  readonly 'working-directory'?: string;
}
interface Job {
  readonly permissions: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly steps: readonly Step[];
}
interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions: object;
  readonly env: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<'validate' | 'plan', Job>>;
}

const WORKFLOW = 'config-repo-template/.github/workflows/kubelet-config.yaml';
const text = readFileSync(WORKFLOW, 'utf8');
const workflow = parse(text) as Workflow;
const steps = Object.values(workflow.jobs).flatMap((job) => job.steps);

/** The install step is looked at, and not run: it needs the registry. */
const NPM = '#!/bin/sh\necho "npm $*"\n';

describe('the workflow of the template', () => {
  it('may do no more than it needs, and gives no secret to a fork', () => {
    assert.deepEqual(workflow.permissions, {});
    assert.deepEqual(workflow.jobs.validate.permissions, { contents: 'read' });
    assert.deepEqual(workflow.jobs.plan.permissions, { contents: 'read', 'pull-requests': 'write' });
    assert.deepEqual(Object.keys(workflow.on), ['pull_request', 'merge_group']);
    assert.doesNotMatch(text, /secrets\.|pull_request_target:/);
    for (const step of steps.filter(({ env }) => JSON.stringify(env ?? {}).includes('github.token'))) {
      assert.match(step.if ?? '', /head\.repo\.full_name == github\.repository/);
    }
  });

  it('pins every action to a commit, and says which version that is', () => {
    for (const { uses } of steps) if (uses !== undefined) assert.match(uses, /^actions\/[a-z-]+@[0-9a-f]{40}$/);
    for (const line of text.split('\n').filter((each) => each.includes('uses:')))
      assert.match(line, /# v\d+\.\d+\.\d+$/);
  });

  it('leaves no credential in a checkout, and puts nothing that others write into a script', () => {
    for (const step of steps) {
      if (step.uses?.startsWith('actions/checkout@')) assert.equal(step.with?.['persist-credentials'], false);
      assert.doesNotMatch(step.run ?? '', /\$\{\{/);
    }
  });
});

/** What the expressions in the workflow stand for here. */
const EXPRESSIONS: Readonly<Record<string, string>> = {
  'github.token': TOKEN,
  'github.event.pull_request.number': '7',
};
const evaluated = (env: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(env).map(([name, value]) => [
      name,
      value.replaceAll(/\$\{\{ *(.*?) *\}\}/g, (_, expression: string) => {
        const known = EXPRESSIONS[expression];
        assert.ok(known !== undefined, `the test knows no ${expression}`);
        return known;
      }),
    ]),
  );

describeOrSkip('the workflow of the template, run on a pull request', { skip: WITHOUT_GIT }, () => {
  let workspace: Workspace;
  let forge: Forge;
  let origin = '';
  before(async () => {
    workspace = await createWorkspace({ npm: NPM });
    forge = await startForge('github', [...Array.from({ length: 120 }, () => 'Looks good'), `${MARKER}\nspoofed`]);
    ({ origin } = await createOrigin(workspace, { [GPU]: gpu.replace('maxPods: 50', 'maxPods: 60') }));
  });
  after(async () => {
    await forge.close();
    await workspace.remove();
  });

  /** Checks out what the steps that use an action check out, and runs the others, until one fails. */
  async function runJob(name: 'validate' | 'plan', inventory?: string): Promise<Ran> {
    const runner = join(workspace.directory, 'runner');
    await rm(runner, { recursive: true, force: true });
    await mkdir(runner);
    const job = workflow.jobs[name];
    const common = {
      GITHUB_API_URL: forge.url,
      GITHUB_REPOSITORY: 'team/config',
      GITHUB_STEP_SUMMARY: join(runner, 'summary'),
    };
    let [out, code] = ['', 0];
    for (const step of job.steps) {
      if (code !== 0 && step.if?.startsWith('${{ !cancelled()') !== true) continue;
      if (step.run === undefined) await checkOut(step, runner, inventory);
      else {
        const env = { ...workspace.env, ...common, ...evaluated({ ...workflow.env, ...job.env, ...step.env }) };
        const cwd = join(runner, step['working-directory'] ?? '.');
        const ran = await runScript(['bash', '-e'], step.run, cwd, env);
        out += ran.out;
        code ||= ran.code;
      }
    }
    return { code, out };
  }

  async function checkOut({ name, with: options = {} }: Step, runner: string, inventory: string | undefined) {
    const path = join(runner, String(options['path']));
    if (name === 'kubelet-gitops') await linkTool(path);
    else if (name === 'inventory' && inventory !== undefined) {
      await mkdir(path);
      await writeFile(join(path, 'demo.json'), inventory);
    } else if (name === 'the pull request') {
      // The forge's own merge commit, as deep as the step asks for.
      const merge = join(workspace.directory, 'merge');
      await rm(merge, { recursive: true, force: true });
      await workspace.git('clone', '--quiet', '--branch', 'main', origin, merge);
      await workspace.git('-C', merge, 'merge', '--quiet', '--no-ff', '--message', 'Merge', 'origin/change');
      await workspace.git(
        'clone',
        '--quiet',
        '--depth',
        JSON.stringify(options['fetch-depth'] ?? 1),
        `file://${merge}`,
        path,
      );
    }
  }

  /** What the workflow wrote of a cluster. */
  const ours = (marker = MARKER) =>
    forge.comments.filter(({ login, body }) => login === 'github-actions[bot]' && body.split('\n')[0] === marker);

  it('installs the command line as it is locked, and finds nothing wrong with the template', async () => {
    const { code, out } = await runJob('validate');
    assert.equal(code, 0, out);
    assert.match(out, /^npm ci --omit=dev --omit=optional --ignore-scripts/);
  });

  it('makes one comment that begins with the marker, and changes no comment of anybody else', async () => {
    const { code, out } = await runJob('plan');
    assert.equal(code, 0, out);
    assert.equal(ours().length, 1);
    assert.equal(ours()[0]?.body.split('\n')[0], MARKER);
    assert.match(ours()[0]?.body ?? '', /\| `maxPods` \| `50` \| `60` \|/);
    assert.match(ours()[0]?.body ?? '', /No inventory was given, so the nodes are unknown/);
    assert.equal(await readFile(join(workspace.directory, 'runner/summary'), 'utf8'), ours()[0]?.body);
    assert.equal(forge.comments.find(({ body }) => body.endsWith('spoofed'))?.login, 'mallory');
  });

  it('changes that comment when the pull request or the nodes change, and leaves it where nothing does', async () => {
    await commitFiles(workspace, origin, { [GPU]: gpu.replace('maxPods: 50', 'maxPods: 40') });
    assert.equal((await runJob('plan', INVENTORY)).code, 0);
    assert.equal(ours().length, 1);
    assert.match(ours()[0]?.body ?? '', /\| `maxPods` \| `50` \| `40` \|/);
    assert.match(ours()[0]?.body ?? '', /1 node, 1 at a time/);
    const writes = () => forge.calls.filter((call) => !call.startsWith('GET')).length;
    const before_ = writes();
    assert.match((await runJob('plan', INVENTORY)).out, /the comment says so already/);
    assert.equal(writes(), before_);
  });

  it('plans for every cluster that has a file, or had one, in a comment of its own', async () => {
    const text = 'apiVersion: kubelet-gitops.dev/v1alpha1\nkind: ClusterConfig\nspec: {kubeletVersions: ["1.34"]}\n';
    await commitFiles(workspace, origin, { 'clusters/edge.yaml': text, 'clusters/Not A;Cluster.yaml': text });
    assert.equal((await runJob('plan')).code, 0);
    const marker = '<!-- kubelet-gitops plan: edge -->';
    assert.match(ours(marker)[0]?.body ?? '', /^#### clusters\/edge\.yaml is new$/m);
    assert.doesNotMatch(ours(marker)[0]?.body ?? '', /🔓/);
    assert.deepEqual([ours().length, ours(marker).length], [1, 1]);
    assert.equal(forge.comments.filter(({ body }) => body.includes('Cluster')).length, 0);
    await commitFiles(workspace, origin, { 'clusters/edge.yaml': null, 'clusters/Not A;Cluster.yaml': null });
  });

  it('says in the comment that nothing changes any more, where it said otherwise before', async () => {
    await commitFiles(workspace, origin, { [GPU]: `${gpu}# a comment\n` });
    assert.equal((await runJob('plan')).code, 0);
    assert.match(ours()[0]?.body ?? '', /Nothing changes on any node\./);
  });

  it('fails on what is wrong, with an annotation for each line, and the plan still says what it would do', async () => {
    await commitFiles(workspace, origin, { [GPU]: `${gpu}maxPodz: 60\n` });
    const { code, out } = await runJob('validate');
    assert.equal(code, 1);
    assert.match(out, /^::error file=pools\/gpu\/kubelet\.yaml,line=\d+,col=1,title=.*maxPodz/m);
    assert.equal((await runJob('plan')).code, 3);
    assert.match(ours()[0]?.body ?? '', /Pool gpu has errors, and keeps its current config/);
  });

  it('fails, and says why, where the plan cannot be made or the comment cannot be written', async () => {
    const broken = await runJob('plan', 'no JSON {');
    assert.equal(broken.code, 2);
    assert.match(broken.out, /is not an inventory/);
    assert.match(ours()[0]?.body ?? '', /no plan for `demo`\n\n❌ The plan could not be made: .*is not an inventory/);
    assert.equal(ours().length, 1);
    const env = { ...workspace.env, GITHUB_API_URL: forge.url, GITHUB_REPOSITORY: 'team/config', PULL_REQUEST: '7' };
    const plan = join(workspace.directory, 'plan.md');
    await writeFile(plan, `${MARKER}\nsomething\n`);
    const post = (more: Readonly<Record<string, string>>) =>
      runScript(['bash', '-e'], `node scripts/post-plan.mjs ${plan}`, origin, { ...env, ...more });
    const refused = await post({ GITHUB_TOKEN: 'wrong' });
    assert.equal(refused.code, 2);
    assert.match(refused.out, /was answered with 401: .*Bad credentials/);
    assert.doesNotMatch(refused.out, /wrong/);
    assert.match((await post({})).out, /GITHUB_TOKEN is not set/);
    await writeFile(plan, 'anything\n');
    assert.match((await post({ GITHUB_TOKEN: TOKEN })).out, /is not a plan/);
  });
});
