import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
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

interface GitlabJob {
  readonly extends?: string;
  readonly script: readonly string[];
  readonly before_script: readonly string[];
}

describeOrSkip("GitLab's pipeline of the template", { skip: WITHOUT_GIT }, () => {
  const pipeline = parse(readFileSync('config-repo-template/.gitlab-ci.yml', 'utf8')) as Readonly<
    Record<'validate' | 'plan' | '.kubelet-gitops', GitlabJob> & {
      readonly variables: Readonly<Record<string, string>>;
    }
  >;
  let workspace: Workspace;
  let forge: Forge;
  let made: { readonly origin: string; readonly base: string; readonly head: string };
  before(async () => {
    workspace = await createWorkspace();
    forge = await startForge('gitlab', [`${MARKER}\nspoofed`]);
    made = await createOrigin(workspace, { [GPU]: gpu.replace('maxPods: 50', 'maxPods: 60') });
  });
  after(async () => {
    await forge.close();
    await workspace.remove();
  });

  /** A clean clone with the command line in it, and the lines of the job in one shell, as a runner has them. */
  async function runJob(
    name: 'validate' | 'plan',
    token: string | undefined,
  ): Promise<Ran & { readonly directory: string }> {
    const directory = join(workspace.directory, 'builds');
    await rm(directory, { recursive: true, force: true });
    await workspace.git('clone', '--quiet', `file://${made.origin}`, directory);
    await workspace.git('-C', directory, 'checkout', '--quiet', made.head);
    await linkTool(join(directory, '.kubelet-gitops'));
    const env = {
      ...workspace.env,
      ...pipeline.variables,
      CI_API_V4_URL: forge.url,
      CI_PROJECT_ID: '12',
      CI_MERGE_REQUEST_IID: '7',
      CI_MERGE_REQUEST_DIFF_BASE_SHA: made.base,
      CI_COMMIT_SHA: made.head,
      ...(token === undefined ? {} : { COMMENT_TOKEN: token }),
    };
    assert.equal(pipeline[name].extends, '.kubelet-gitops');
    const ran = await runScript(['bash', '-eo', 'pipefail'], pipeline[name].script.join('\n'), directory, env);
    return { ...ran, directory };
  }

  it('gets the command line with the job token, as it is locked', async () => {
    const says = (name: string): string => `#!/bin/sh\necho "${name} $*"\n`;
    const stubs = await createWorkspace({ git: says('git'), npm: says('npm') });
    const variables = {
      CI_SERVER_PROTOCOL: 'https',
      CI_SERVER_HOST: 'forge.example',
      CI_SERVER_PORT: '443',
      CI_JOB_TOKEN: 'job',
    };
    const env = { ...stubs.env, ...pipeline.variables, ...variables };
    const script = pipeline['.kubelet-gitops'].before_script.join('\n');
    const { code, out } = await runScript(['bash', '-eo', 'pipefail'], script, stubs.directory, env);
    await stubs.remove();
    assert.equal(code, 0, out);
    const url = 'https://gitlab-ci-token:job@forge.example:443/your-group/kubelet-gitops.git';
    assert.deepEqual(out.trim().split('\n'), [
      `git clone --quiet --depth 1 --branch v0.1.0 ${url} .kubelet-gitops`,
      'npm ci --prefix .kubelet-gitops --cache .npm --prefer-offline --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund',
    ]);
  });

  it('makes the comment, and changes it afterwards', async () => {
    assert.equal((await runJob('plan', TOKEN)).code, 0);
    await workspace.git('-C', made.origin, 'switch', '--quiet', '--orphan', 'inventory');
    await commitFiles(workspace, made.origin, { 'demo.json': INVENTORY });
    const { code, out } = await runJob('plan', TOKEN);
    assert.equal(code, 0, out);
    const ours = forge.comments.filter(({ login }) => login === 'bot');
    assert.equal(ours.length, 1);
    assert.match(ours[0]?.body ?? '', /1 node, 1 at a time/);
    assert.deepEqual(
      forge.calls.filter((call) => !call.startsWith('GET')).map((call) => call.split(' ')[0]),
      ['POST', 'PUT'],
    );
  });

  it('only prints the plan where it has no token, as in a pipeline of a fork', async () => {
    const { code, out } = await runJob('plan', undefined);
    assert.equal(code, 0, out);
    assert.match(out, /No comment: COMMENT_TOKEN is not set/);
    assert.match(out, /\| `maxPods` \| `50` \| `60` \|/);
  });

  it('leaves a code quality report in any case, and fails where something was found', async () => {
    const good = await runJob('validate', undefined);
    assert.equal(good.code, 0, good.out);
    assert.equal(await readFile(join(good.directory, 'code-quality.json'), 'utf8'), '[]\n');
    await workspace.git('-C', made.origin, 'switch', '--quiet', 'change');
    await commitFiles(workspace, made.origin, { [GPU]: `${gpu}maxPodz: 60\n` });
    made = { ...made, head: await workspace.git('-C', made.origin, 'rev-parse', 'HEAD') };
    const bad = await runJob('validate', undefined);
    assert.equal(bad.code, 1);
    assert.match(bad.out, /pools\/gpu\/kubelet\.yaml:\d+:1: error unknown-field/);
    assert.match(await readFile(join(bad.directory, 'code-quality.json'), 'utf8'), /unknown-field/);
    assert.ok(existsSync(join(bad.directory, '.kubelet-gitops')));
  });
});
