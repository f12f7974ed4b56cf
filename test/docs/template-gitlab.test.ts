import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { readFile, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import { describeOrSkip } from '../support/describe-or-skip.ts';
import { WITHOUT_GIT } from '../support/required-tools.ts';
import { GPU, gpu, INVENTORY, MARKER } from './support/change.ts';
import { commitFiles, createOrigin, createWorkspace, type Ran, runScript, type Workspace } from './support/ci-run.ts';
import { type Forge, startForge, TOKEN } from './support/forge.ts';
import { servePackage, type ServedPackage } from './support/served-package.ts';

interface Input {
  readonly default?: string;
  readonly regex?: string;
}
interface GitlabJob {
  readonly extends?: string;
  readonly image: string;
  readonly script?: readonly string[];
  readonly before_script?: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
  readonly rules: readonly { readonly if: string }[];
}

const pipeline = parse(readFileSync('config-repo-template/.gitlab-ci.yml', 'utf8')) as {
  readonly include: readonly { readonly component: string; readonly inputs: Readonly<Record<string, string>> }[];
};
const included = pipeline.include[0]?.inputs ?? {};
const [spec, component = ''] = readFileSync('templates/review.yml', 'utf8').split(/^---$/m);
const { inputs } = (parse(spec ?? '') as { readonly spec: { readonly inputs: Readonly<Record<string, Input>> } }).spec;

/** The jobs with these inputs, as GitLab puts them into what it has read. @throws where it refuses an input */
function jobsWith(given: Readonly<Record<string, string>>): Readonly<Record<string, GitlabJob>> {
  for (const name of Object.keys(given)) assert.ok(name in inputs, `unknown input ${name}`);
  return JSON.parse(JSON.stringify(parse(component)), (_, value: unknown) =>
    typeof value !== 'string'
      ? value
      : value.replaceAll(/\$\[\[ inputs\.(\w+) \]\]/g, (_all, name: string) => {
          const text = given[name] ?? inputs[name]?.default;
          assert.ok(text !== undefined, `${name} is required`);
          assert.match(text, new RegExp(inputs[name]?.regex ?? ''), `${name} does not match its regex`);
          return text;
        }),
  ) as Readonly<Record<string, GitlabJob>>;
}

describe("the component of GitLab's pipeline", () => {
  it('takes the inputs that the template gives it, and no package without its checksum', () => {
    const sha256 = 'a'.repeat(64);
    assert.equal(jobsWith({ ...included, sha256 })['.kubelet-gitops']?.variables['SHA256'], sha256);
    for (const wrong of [included['sha256'] ?? '', '', `${sha256}a`, sha256.toUpperCase()])
      assert.throws(() => jobsWith({ ...included, sha256: wrong }), /does not match its regex/);
    assert.throws(() => jobsWith({ package: 'https://example.com/x.tgz' }), /sha256 is required/);
    assert.match(pipeline.include[0]?.component ?? '', /\/review@v\d+\.\d+\.\d+$/);
  });

  it('runs for merge requests alone, and puts nothing that others write into a script', () => {
    assert.equal(parseAllDocuments(readFileSync('templates/review.yml', 'utf8')).length, 2);
    const jobs = parse(component) as Readonly<Record<string, GitlabJob>>;
    assert.deepEqual(jobs['.kubelet-gitops']?.rules, [{ if: '$CI_PIPELINE_SOURCE == "merge_request_event"' }]);
    for (const { script = [], before_script = [] } of Object.values(jobs))
      assert.doesNotMatch([...script, ...before_script].join('\n'), /\$\[\[/);
  });
});

describeOrSkip("GitLab's pipeline of the template", { skip: WITHOUT_GIT }, () => {
  let workspace: Workspace;
  let forge: Forge;
  let served: ServedPackage;
  let made: { readonly origin: string; readonly base: string; readonly head: string };
  before(async () => {
    served = await servePackage();
    workspace = await createWorkspace();
    forge = await startForge('gitlab', [`${MARKER}\nspoofed`]);
    made = await createOrigin(workspace, { [GPU]: gpu.replace('maxPods: 50', 'maxPods: 60') });
  });
  after(async () => {
    await served.close();
    await forge.close();
    await workspace.remove();
  });

  interface Runner {
    readonly sha256?: string;
    readonly api?: string;
    readonly shell?: readonly [string, ...string[]];
  }

  /** A clean clone, and the lines of the job in one shell, as a runner has them. */
  async function runJob(
    name: 'validate' | 'plan',
    token: string | undefined,
    { sha256 = served.sha256, api = forge.url, shell = ['bash', '-eo', 'pipefail'] }: Runner = {},
  ): Promise<Ran & { readonly directory: string }> {
    const directory = join(workspace.directory, 'builds');
    await rm(directory, { recursive: true, force: true });
    await workspace.git('clone', '--quiet', `file://${made.origin}`, directory);
    await workspace.git('-C', directory, 'checkout', '--quiet', made.head);
    // What a repository may have where the job works.
    await symlink('/proc', join(directory, '.kubelet-gitops'));
    const jobs = jobsWith({ ...included, package: served.url, sha256 });
    const base = jobs['.kubelet-gitops'];
    const job = jobs[`kubelet-gitops-${name}`];
    const env = {
      ...workspace.env,
      ...base?.variables,
      CI_API_V4_URL: api,
      CI_JOB_TOKEN: 'job',
      CI_PROJECT_ID: '12',
      CI_MERGE_REQUEST_IID: '7',
      CI_MERGE_REQUEST_DIFF_BASE_SHA: made.base,
      CI_COMMIT_SHA: made.head,
      ...(token === undefined ? {} : { COMMENT_TOKEN: token }),
    };
    assert.equal(job?.extends, '.kubelet-gitops');
    const script = [...(base?.before_script ?? []), ...(job?.script ?? [])].join('\n');
    const ran = await runScript(shell, script, directory, env);
    return { ...ran, directory };
  }

  it('runs the package whose checksum it was given, and nothing else', async () => {
    const { code, out } = await runJob('validate', undefined, { sha256: '0'.repeat(64) });
    assert.equal(code, 1);
    assert.match(out, /has not the SHA-256 that the pipeline gives \(0{64}\)/);
    assert.doesNotMatch(out, /nothing found/);
  });

  it("shows the job's token to its own GitLab alone", async () => {
    const asked = served.credentials.length;
    assert.equal((await runJob('validate', undefined)).code, 0);
    assert.equal((await runJob('validate', undefined, { api: new URL(served.url).origin })).code, 0);
    assert.deepEqual(served.credentials.slice(asked), [
      undefined,
      `Basic ${Buffer.from('gitlab-ci-token:job').toString('base64')}`,
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

  it('only prints the plan where it has no token, as in a pipeline of a fork, and needs no bash', async () => {
    const { code, out } = await runJob('plan', undefined, { shell: ['sh', '-e'] });
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
  });
});
