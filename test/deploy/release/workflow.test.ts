import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { goProgram } from '../../support/go-program.ts';

interface Job {
  readonly needs?: string | readonly string[];
  readonly 'runs-on': string;
  readonly 'timeout-minutes': number;
  readonly permissions: Readonly<Record<string, string>>;
  readonly steps: readonly { readonly uses?: string; readonly run?: string; readonly with?: Record<string, unknown> }[];
}
interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

const FILES = globSync('.github/workflows/*.yaml');
const textOf = (file: string): string => readFileSync(file, 'utf8');
const workflowIn = (file: string): Workflow => parse(textOf(file)) as Workflow;
const { jobs } = workflowIn('.github/workflows/release.yaml');

describe('our workflows', () => {
  it('are two', () => {
    assert.equal(FILES.length, 2);
  });

  for (const file of FILES) {
    const workflow = workflowIn(file);
    const steps = Object.values(workflow.jobs).flatMap((job) => job.steps);

    it(`${file}: gives nothing to all jobs, to each what it says, and no credential to any`, () => {
      assert.deepEqual(workflow.permissions, {});
      for (const job of Object.values(workflow.jobs)) {
        assert.equal(job.permissions['contents'] === undefined, false);
        assert.ok(job['timeout-minutes'] <= 90);
      }
      assert.doesNotMatch(textOf(file), /\bsecrets\b|password:|pull_request_target|write-all/);
    });

    it(`${file}: takes actions by their commit, and leaves no token behind`, () => {
      for (const { uses = '', with: given } of steps.filter((step) => step.uses !== undefined)) {
        assert.match(uses, /^actions\/[\w-]+@[0-9a-f]{40}$/);
        if (uses.startsWith('actions/checkout@')) assert.equal(given?.['persist-credentials'], false);
      }
      for (const line of textOf(file).match(/uses: .*/g) ?? []) assert.match(line, / # v\d+\.\d+\.\d+$/);
    });

    it(`${file}: puts no expression into a script, where it would be code`, () => {
      for (const { run = '' } of steps) assert.doesNotMatch(run, /\$\{\{/);
    });

    it(`${file}: runs scripts that there are`, () => {
      const scripts = steps.flatMap(({ run = '' }) => run.match(/\bscripts\/[\w./-]+/g) ?? []);
      assert.deepEqual(
        scripts.filter((script) => !existsSync(script)),
        [],
      );
    });
  }
});

describe('the workflow of pull requests', () => {
  it('sets up the Go that npm test builds programs with, before it runs the tests', () => {
    const steps = workflowIn('.github/workflows/ci.yaml').jobs['test']?.steps ?? [];
    const setup = steps.findIndex(({ uses = '' }) => uses.startsWith('actions/setup-go@'));
    const test = steps.findIndex(({ run = '' }) => /\bnpm test\b/.test(run));
    assert.ok(setup >= 0 && setup < test);
    for (const program of ['helm', 'actionlint']) {
      const wanted = /^go (\d+\.\d+)/m.exec(textOf(`test/support/go-programs/${program}/go.mod`))?.[1];
      assert.equal(steps[setup]?.with?.['go-version'], wanted, program);
    }
  });
});

describe('the release workflow', () => {
  const mayWrite = (right: string): readonly string[] =>
    Object.keys(jobs).filter((name) => jobs[name]?.permissions[right] === 'write');

  it('lets each job write only where it has something to write', () => {
    assert.deepEqual(mayWrite('packages'), ['image-amd64', 'image-arm64', 'image', 'chart']);
    assert.deepEqual(mayWrite('contents'), ['release']);
    assert.deepEqual(mayWrite('id-token'), ['image', 'chart', 'npm', 'release']);
    const rights = new Set(Object.values(jobs).flatMap(({ permissions }) => Object.keys(permissions)));
    assert.deepEqual([...rights].toSorted(), ['contents', 'id-token', 'packages']);
  });

  it('makes and checks everything before any job that can write runs, and the release at the end', () => {
    for (const [name, { needs = [] }] of Object.entries(jobs)) {
      assert.equal([needs].flat().includes('files'), name !== 'files', name);
    }
    assert.deepEqual(jobs['release']?.needs, ['files', 'image', 'chart', 'npm']);
    assert.ok(jobs['files']?.steps.some(({ run = '' }) => run.includes('scripts/release/versions.ts "$TAG"')));
  });

  it('builds each architecture on a machine of its own', () => {
    assert.deepEqual(
      ['image-amd64', 'image-arm64'].map((name) => jobs[name]?.['runs-on']),
      ['ubuntu-24.04', 'ubuntu-24.04-arm'],
    );
  });

  it('starts for tags of versions, and for nothing else', () => {
    assert.deepEqual(workflowIn('.github/workflows/release.yaml').on, { push: { tags: ['v*'] } });
  });
});

const UNPROVED = 'nobody reads our workflows';
const { path: actionlint = 'actionlint', skip } = goProgram('actionlint', 'actionlint', UNPROVED, { anyVersion: true });

it('actionlint finds nothing in our workflows', { skip }, () => {
  const { status, stdout } = spawnSync(actionlint, ['-no-color', ...FILES], { encoding: 'utf8' });
  assert.equal(status, 0, stdout);
});
