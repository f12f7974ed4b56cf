import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parse, stringify } from 'yaml';
import { describeOrSkip } from '../support/describe-or-skip.ts';
import { goProgram } from '../support/go-program.ts';
import { WITHOUT_GIT } from '../support/required-tools.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { GPU, gpu, INVENTORY, MARKER } from './support/change.ts';
import { commitFiles, createOrigin, createWorkspace, runScript, type Workspace } from './support/ci-run.ts';
import { type Forge, startForge, TOKEN } from './support/forge.ts';
import { servePackage, type ServedPackage } from './support/served-package.ts';

interface Step {
  readonly name?: string;
  readonly id?: string;
  readonly uses?: string;
  readonly if?: string;
  readonly run?: string;
  readonly shell?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly with?: Readonly<Record<string, unknown>>;
  readonly 'working-directory'?: string;
}
interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions: object;
  readonly jobs: Readonly<
    Record<string, { readonly permissions: Readonly<Record<string, string>>; readonly steps: readonly Step[] }>
  >;
}
interface Action {
  readonly inputs: Readonly<Record<string, { readonly required?: boolean; readonly default?: string }>>;
  readonly runs: { readonly using: string; readonly steps: readonly Step[] };
}

const WORKFLOW = 'config-repo-template/.github/workflows/kubelet-config.yaml';
const text = readFileSync(WORKFLOW, 'utf8');
const workflow = parse(text) as Workflow;
const uses = workflow.jobs['review']?.steps[0];
const actionText = readFileSync('action.yml', 'utf8');
const action = parse(actionText) as Action;
const { steps } = action.runs;

describe('the workflow of the template', () => {
  it('may do no more than it needs, and gives no secret to a fork', () => {
    assert.deepEqual(workflow.permissions, {});
    assert.deepEqual(Object.keys(workflow.jobs), ['review']);
    assert.deepEqual(workflow.jobs['review']?.permissions, { contents: 'read', 'pull-requests': 'write' });
    assert.deepEqual(Object.keys(workflow.on), ['pull_request', 'merge_group']);
    assert.doesNotMatch(text + actionText, /secrets\.|pull_request_target:/);
    for (const step of steps.filter(({ env }) => JSON.stringify(env ?? {}).includes('github.token'))) {
      assert.match(step.if ?? '', /head\.repo\.full_name == github\.repository/);
    }
  });

  it('is the action, and gives it what it takes', () => {
    assert.deepEqual([workflow.jobs['review']?.steps.length, uses?.run], [1, undefined]);
    const given = Object.keys(uses?.with ?? {});
    const required = Object.keys(action.inputs).filter((name) => action.inputs[name]?.required === true);
    assert.deepEqual(required, ['package', 'sha256']);
    for (const name of required) assert.ok(given.includes(name), name);
    for (const name of given) assert.ok(name in action.inputs, name);
  });
});

describe('the action', () => {
  it('pins every action to a commit, and says which version that is', () => {
    for (const { uses } of steps) if (uses !== undefined) assert.match(uses, /^actions\/[a-z-]+@[0-9a-f]{40}$/);
    for (const line of actionText.split('\n').filter((each) => each.includes('uses:')))
      assert.match(line, /# v\d+\.\d+\.\d+$/);
  });

  it('leaves no credential in a checkout, and puts nothing that others write into a script', () => {
    for (const step of steps) {
      if (step.uses?.startsWith('actions/checkout@')) assert.equal(step.with?.['persist-credentials'], false);
      assert.doesNotMatch(step.run ?? '', /\$\{\{/);
      if (step.run !== undefined) assert.equal(step.shell, 'bash');
    }
  });
});

const UNPROVED = 'nobody reads the action and the workflow of the template';
const { path: actionlint = 'actionlint', skip } = goProgram('actionlint', 'actionlint', UNPROVED, { anyVersion: true });

describeOrSkip('actionlint', { skip }, () => {
  const directory = temporaryDirectory();
  /** A repository with one workflow, and with the action in a folder of it. */
  function lint(written: string): { readonly status: number | null; readonly stdout: string } {
    const folder = join(directory, '.github/workflows');
    for (const made of [folder, join(directory, '.git'), join(directory, 'action')])
      mkdirSync(made, { recursive: true });
    writeFileSync(join(directory, 'action/action.yml'), actionText);
    writeFileSync(join(folder, 'x.yaml'), written);
    return spawnSync(actionlint, ['-no-color', join(folder, 'x.yaml')], { cwd: directory, encoding: 'utf8' });
  }
  const local = text.replace(/uses: \S+/, 'uses: ./action');

  it('finds nothing in the workflow, with the inputs of the action', () => {
    const { status, stdout } = lint(local);
    assert.equal(status, 0, stdout);
    assert.match(lint(local.replace('sha256:', 'sha265:')).stdout, /"sha265" is not defined in action/);
  });

  it('finds nothing in the steps of the action, as those of a job', () => {
    const inputs = Object.fromEntries(Object.keys(action.inputs).map((name) => [name, { type: 'string' }]));
    const job = (all: readonly Step[]): string =>
      stringify({ on: { workflow_call: { inputs } }, jobs: { x: { 'runs-on': 'ubuntu-24.04', steps: all } } });
    const { status, stdout } = lint(job(steps));
    assert.equal(status, 0, stdout);
    const wrong = steps.map((step) => (step.id === 'plan' ? { ...step, id: 'plans' } : step));
    assert.match(lint(job(wrong)).stdout, /property "plan" is not defined/);
  });
});

describeOrSkip('the workflow of the template, run on a pull request', { skip: WITHOUT_GIT }, () => {
  let workspace: Workspace;
  let forge: Forge;
  let served: ServedPackage;
  let origin = '';
  before(async () => {
    served = await servePackage();
    workspace = await createWorkspace();
    forge = await startForge('github', [...Array.from({ length: 120 }, () => 'Looks good'), `${MARKER}\nspoofed`]);
    ({ origin } = await createOrigin(workspace, { [GPU]: gpu.replace('maxPods: 50', 'maxPods: 60') }));
  });
  after(async () => {
    await served.close();
    await forge.close();
    await workspace.remove();
  });

  interface Circumstances {
    /** `demo.json` of the branch `inventory`. */
    readonly inventory?: string;
    /** Whose branch it is. */
    readonly head?: string;
    readonly inputs?: Readonly<Record<string, string>>;
  }

  /** Checks out what the steps that use an action check out, and runs the others as the runner would. */
  async function review({ inventory, head = 'team/config', inputs = {} }: Circumstances = {}) {
    const runner = join(workspace.directory, 'runner');
    await rm(runner, { recursive: true, force: true });
    await mkdir(join(runner, 'temp'), { recursive: true });
    const common = {
      GITHUB_API_URL: forge.url,
      GITHUB_REPOSITORY: 'team/config',
      GITHUB_STEP_SUMMARY: join(runner, 'summary'),
      GITHUB_WORKSPACE: runner,
      RUNNER_TEMP: join(runner, 'temp'),
    };
    const given: Readonly<Record<string, unknown>> = {
      ...uses?.with,
      package: served.url,
      sha256: served.sha256,
      ...inputs,
    };
    const known = new Map<string, string>([
      ...Object.entries(action.inputs).map(([name, input]) => [`inputs.${name}`, input.default ?? ''] as const),
      ...Object.entries(given).map(([name, value]) => [`inputs.${name}`, String(value)] as const),
      ['github.token', TOKEN],
      ['github.actor', 'ada'],
      ['github.repository', 'team/config'],
      ['github.event.pull_request.number', '7'],
      ['github.event.pull_request.head.repo.full_name', head],
    ]);
    const outcomes: Record<string, string> = {};
    let [out, code] = ['', 0];
    for (const step of steps) {
      const name = step.id ?? step.name ?? 'node';
      const isDue = step.if === undefined ? code === 0 : holds(step.if, known);
      outcomes[name] = 'skipped';
      if (isDue && step.run === undefined) await checkOut(step, runner, inventory);
      else if (isDue && step.run !== undefined) {
        const env = { ...workspace.env, ...common, ...evaluated(step.env, known) };
        const cwd = join(runner, step['working-directory'] ?? '.');
        const ran = await runScript(['bash', '--noprofile', '--norc', '-eo', 'pipefail'], step.run, cwd, env);
        out += ran.out;
        code ||= ran.code;
        outcomes[name] = ran.code === 0 ? 'success' : `failure ${ran.code}`;
      }
      known.set(`steps.${name}.outcome`, outcomes[name].replace(/ .*/, ''));
    }
    return { code, out, outcomes };
  }

  async function checkOut({ name, with: options = {} }: Step, runner: string, inventory: string | undefined) {
    const path = join(runner, String(options['path']));
    if (name === 'inventory' && inventory !== undefined) {
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

  it('runs the package whose checksum it was given, and nothing else', async () => {
    for (const sha256 of ['0'.repeat(64), String(uses?.with?.['sha256']), '']) {
      const { code, out, outcomes } = await review({ inputs: { sha256 } });
      assert.equal(code, 1, out);
      assert.match(out, /^::error title=kubelet-gitops::http:.* has not the SHA-256 that the workflow gives/m);
      assert.deepEqual(
        [outcomes['validate'], outcomes['plan'], outcomes['comment']],
        ['skipped', 'skipped', 'skipped'],
      );
    }
    assert.deepEqual(new Set(served.credentials), new Set([undefined]));
  });

  it('makes one comment that begins with the marker, and changes no comment of anybody else', async () => {
    const { code, out, outcomes } = await review();
    assert.deepEqual([code, outcomes['validate']], [0, 'success'], out);
    assert.equal(ours().length, 1);
    assert.equal(ours()[0]?.body.split('\n')[0], MARKER);
    assert.match(ours()[0]?.body ?? '', /\| `maxPods` \| `50` \| `60` \|/);
    assert.match(ours()[0]?.body ?? '', /No inventory was given, so the nodes are unknown/);
    assert.equal(await readFile(join(workspace.directory, 'runner/summary'), 'utf8'), ours()[0]?.body);
    assert.equal(forge.comments.find(({ body }) => body.endsWith('spoofed'))?.login, 'mallory');
  });

  it('says everything of a fork but in a comment, and asks the forge for nothing', async () => {
    const asked = forge.calls.length;
    const { code, out, outcomes } = await review({ head: 'mallory/config' });
    assert.deepEqual([code, outcomes['plan'], outcomes['comment']], [0, 'success', 'skipped'], out);
    assert.equal(forge.calls.length, asked);
  });

  it('changes that comment when the pull request or the nodes change, and leaves it where nothing does', async () => {
    await commitFiles(workspace, origin, { [GPU]: gpu.replace('maxPods: 50', 'maxPods: 40') });
    assert.equal((await review({ inventory: INVENTORY })).code, 0);
    assert.equal(ours().length, 1);
    assert.match(ours()[0]?.body ?? '', /\| `maxPods` \| `50` \| `40` \|/);
    assert.match(ours()[0]?.body ?? '', /1 node, 1 at a time/);
    const writes = () => forge.calls.filter((call) => !call.startsWith('GET')).length;
    const before_ = writes();
    assert.match((await review({ inventory: INVENTORY })).out, /the comment says so already/);
    assert.equal(writes(), before_);
  });

  it('plans for every cluster that has a file, or had one, in a comment of its own', async () => {
    const text = 'apiVersion: kubelet-gitops.dev/v1alpha1\nkind: ClusterConfig\nspec: {kubeletVersions: ["1.34"]}\n';
    await commitFiles(workspace, origin, { 'clusters/edge.yaml': text, 'clusters/Not A;Cluster.yaml': text });
    assert.equal((await review()).outcomes['plan'], 'success');
    const marker = '<!-- kubelet-gitops plan: edge -->';
    assert.match(ours(marker)[0]?.body ?? '', /^#### clusters\/edge\.yaml is new$/m);
    assert.doesNotMatch(ours(marker)[0]?.body ?? '', /🔓/);
    assert.deepEqual([ours().length, ours(marker).length], [1, 1]);
    assert.equal(forge.comments.filter(({ body }) => body.includes('Cluster')).length, 0);
    await commitFiles(workspace, origin, { 'clusters/edge.yaml': null, 'clusters/Not A;Cluster.yaml': null });
  });

  it('says in the comment that nothing changes any more, where it said otherwise before', async () => {
    await commitFiles(workspace, origin, { [GPU]: `${gpu}# a comment\n` });
    assert.equal((await review()).code, 0);
    assert.match(ours()[0]?.body ?? '', /Nothing changes on any node\./);
  });

  it('reads the folder of a monorepo', async () => {
    const paths = ['base/common.yaml', 'clusters/demo.yaml', 'pools/gpu/pool.yaml', GPU];
    const moved = (to: (path: string) => string | null) =>
      Object.fromEntries(paths.map((path) => [`infra/kubelet/${path}`, to(path)]));
    await commitFiles(
      workspace,
      origin,
      moved((path) => readFileSync(`config-repo-template/${path}`, 'utf8')),
    );
    const { code, out } = await review({ inputs: { path: 'infra/kubelet' } });
    assert.equal(code, 0, out);
    assert.match(ours()[0]?.body ?? '', /^#### Pool gpu is new$/m);
    await commitFiles(
      workspace,
      origin,
      moved(() => null),
    );
  });

  it('fails on what is wrong, with an annotation for each line, and the plan still says what it would do', async () => {
    await commitFiles(workspace, origin, { [GPU]: `${gpu}maxPodz: 60\n` });
    const { code, out, outcomes } = await review();
    assert.equal(code, 1);
    assert.match(out, /^::error file=pools\/gpu\/kubelet\.yaml,line=\d+,col=1,title=.*maxPodz/m);
    assert.deepEqual(
      [outcomes['validate'], outcomes['plan'], outcomes['comment']],
      ['failure 1', 'failure 3', 'success'],
    );
    assert.match(ours()[0]?.body ?? '', /Pool gpu has errors, and keeps its current config/);
  });

  it('fails, and says why, where the plan cannot be made or the comment cannot be written', async () => {
    const broken = await review({ inventory: 'no JSON {' });
    assert.equal(broken.outcomes['plan'], 'failure 2');
    assert.match(broken.out, /is not an inventory/);
    assert.match(ours()[0]?.body ?? '', /no plan for `demo`\n\n❌ The plan could not be made: .*is not an inventory/);
    assert.equal(ours().length, 1);
    const env = { ...workspace.env, GITHUB_API_URL: forge.url, GITHUB_REPOSITORY: 'team/config', PULL_REQUEST: '7' };
    const plan = join(workspace.directory, 'plan.md');
    await writeFile(plan, `${MARKER}\nsomething\n`);
    const post = (more: Readonly<Record<string, string>>) =>
      runScript(['bash', '-e'], `node ${resolve('ci/post-plan.mjs')} ${plan}`, origin, { ...env, ...more });
    const refused = await post({ GITHUB_TOKEN: 'wrong' });
    assert.equal(refused.code, 2);
    assert.match(refused.out, /was answered with 401: .*Bad credentials/);
    assert.doesNotMatch(refused.out, /wrong/);
    assert.match((await post({})).out, /GITHUB_TOKEN is not set/);
    await writeFile(plan, 'anything\n');
    assert.match((await post({ GITHUB_TOKEN: TOKEN })).out, /is not a plan/);
  });
});

/** What an expression's condition comes to; as many of the words of expressions as the action uses. */
const holds = (condition: string, known: ReadonlyMap<string, string>): boolean =>
  condition
    .replace(/^\$\{\{ | \}\}$/g, '')
    .split(' && ')
    .every((term) => {
      if (term === '!cancelled()') return true;
      const [, left = '', operator, right = ''] = /^(\S+) (==|!=) (\S+)$/.exec(term) ?? [];
      const valueOf = (word: string): string => (word.startsWith("'") ? word.slice(1, -1) : valueIn(known, word));
      return (valueOf(left) === valueOf(right)) === (operator === '==');
    });

const evaluated = (env: Readonly<Record<string, string>> = {}, known: ReadonlyMap<string, string>) =>
  Object.fromEntries(
    Object.entries(env).map(([name, value]) => [
      name,
      value.replaceAll(/\$\{\{ *(.*?) *\}\}/g, (_, expression: string) => valueIn(known, expression)),
    ]),
  );

function valueIn(known: ReadonlyMap<string, string>, word: string): string {
  const value = known.get(word);
  assert.ok(value !== undefined, `the test knows no ${word}`);
  return value;
}
