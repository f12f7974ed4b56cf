import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { minorName, NEWEST_MINOR, OLDEST_MINOR } from '#shared/contract/kubelet-config/minor.ts';
import { describeOrSkip } from '../../support/describe-or-skip.ts';
import { WITHOUT_GIT } from '../../support/required-tools.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { commitAll } from '../support/repository.ts';
import { type Ran, run } from '../support/run.ts';

const MINORS = Array.from({ length: NEWEST_MINOR - OLDEST_MINOR + 1 }, (_, at) => OLDEST_MINOR + at);
const directory = temporaryDirectory();
let made = 0;
/** A directory that is not there yet. */
const fresh = (): string => join(directory, String((made += 1)));

/** @throws where nothing is made of these words */
async function init(...words: readonly string[]): Promise<string> {
  const into = fresh();
  const { code, err } = await run('init', into, ...words);
  assert.equal(code, 0, err);
  return into;
}

const filesIn = async (folder: string): Promise<readonly string[]> =>
  (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();

describe('a repository that init makes', () => {
  for (const minors of [...MINORS.map((minor) => [minor]), [NEWEST_MINOR, OLDEST_MINOR], []]) {
    it(`is valid for kubelets ${minors.map(minorName).join(' and ') || 'of the template'}, and has the schemas that it names`, async () => {
      const into = await init(
        '--cluster',
        'prod',
        ...minors.flatMap((minor) => ['--kubelet-version', minorName(minor)]),
      );
      const versions = minors.flatMap((minor) => ['--kubelet-version', minorName(minor)]);
      const { code, out, err } = await run('validate', into, '--cluster', 'prod', ...versions);
      assert.deepEqual([code, out, err], [0, '3 pools: nothing found\n', '']);
      const oldest = minorName(Math.min(...minors, ...(minors.length === 0 ? [34] : [])));
      const common = await readFile(join(into, 'base/common.yaml'), 'utf8');
      assert.match(common, new RegExp(`/kubelet-configuration-${oldest}\\.json$`, 'm'));
      for (const file of (await filesIn(into)).filter((path) => /^(?:base|clusters|pools)\//.test(path))) {
        const text = readFileSync(join(into, file), 'utf8');
        const [, schema = ''] = /^# yaml-language-server: \$schema=(\S+)$/m.exec(text) ?? [];
        assert.ok(existsSync(join(into, dirname(file), schema)), `${file}: ${schema}`);
        assert.doesNotMatch(text, /\bdemo\b|placeholder/);
      }
    });
  }

  it('says for which kubelets it is', async () => {
    const into = await init('--cluster', 'prod', '--kubelet-version', '1.33', '--kubelet-version', 'v1.34.2');
    assert.match(
      await readFile(join(into, 'clusters/prod.yaml'), 'utf8'),
      /^ {2}kubeletVersions: \["1\.33", "1\.34"\]$/m,
    );
    // That gate went with 1.33.
    await writeFile(
      join(into, 'pools/gpu/kubelet.yaml'),
      `${await readFile(join(into, 'pools/gpu/kubelet.yaml'), 'utf8')}featureGates: {CPUManager: true}\n`,
    );
    assert.match((await run('validate', into)).out, /unknown-feature-gate/);
  });

  const GITHUB = '.github/workflows/kubelet-config.yaml';
  const GITLAB = '.gitlab-ci.yml';
  for (const [forge, pipelines] of [
    [undefined, [GITHUB, GITLAB]],
    ['github', [GITHUB]],
    ['gitea', [GITHUB]],
    ['forgejo', [GITHUB]],
    ['gitlab', [GITLAB]],
    ['other', []],
  ] as const) {
    it(`has the pipeline of ${forge ?? 'all forges, if none is named'}, and names no file that is not there`, async () => {
      const words = ['--pool', 'workers', ...(forge === undefined ? [] : ['--forge', forge])];
      const into = await init(...words);
      const files = await filesIn(into);
      assert.deepEqual(
        files.filter((file) => file === GITHUB || file === GITLAB),
        pipelines,
      );
      const owners = await readFile(join(into, 'CODEOWNERS'), 'utf8');
      const readme = await readFile(join(into, 'README.md'), 'utf8');
      const named = [
        ...[...owners.matchAll(/^\/(\S+)/gm)].map(([, path = '']) => path),
        ...[...readme.matchAll(/`((?:\.|scripts\/|clusters\/[a-z])[\w./-]+)/g)].map(([, path = '']) => path),
      ];
      assert.ok(named.length > 5);
      for (const path of named) assert.ok(existsSync(join(into, path)), path);
      assert.equal(/pull requests\b.* \|$/m.test(readme), forge !== 'other');
    });
  }
});

describeOrSkip('a pool that init makes', { skip: WITHOUT_GIT }, () => {
  const node = (name: string, labels: Readonly<Record<string, string>>) => ({
    kind: 'Node',
    metadata: { name, labels },
    status: {
      conditions: [{ type: 'Ready', status: 'True' }],
      nodeInfo: { kubeletVersion: 'v1.34.2' },
      capacity: { cpu: '4', memory: '16Gi', pods: '110' },
      allocatable: { cpu: '4', memory: '16Gi', pods: '110' },
    },
  });
  const WORKER = 'node-role.kubernetes.io/worker';
  for (const [words, labels, other] of [
    [[], { [WORKER]: '' }, { [`${WORKER}s`]: '' }],
    [['--selector', 'pool=a'], { pool: 'a' }, { pool: 'b' }],
    [['--selector', 'example.com/pool'], { 'example.com/pool': 'b' }, { pool: 'b' }],
    [['--selector', 'true=null'], { true: 'null' }, { true: '' }],
  ] as const) {
    it(`${words.join(' ') || 'without a selector'}: has the nodes with its label, and the plan finds nothing against it`, async () => {
      const into = await init('--cluster', 'prod', '--pool', 'first', '--kubelet-version', '1.34', ...words);
      await commitAll(into);
      const inventory = join(directory, 'nodes.json');
      await writeFile(inventory, JSON.stringify({ items: [node('in', labels), node('out', other)] }));
      const { code, out, err } = await run('plan', '--repo', into, '--inventory', inventory, '-o', 'json');
      assert.equal(code, 1, err);
      const plan = JSON.parse(out) as { readonly pools: readonly { readonly name: string; readonly nodes: unknown }[] };
      assert.deepEqual(
        plan.pools.map(({ name }) => name),
        ['first'],
      );
      assert.match(JSON.stringify(plan.pools[0]?.nodes), /"in"/);
      assert.doesNotMatch(JSON.stringify(plan.pools[0]?.nodes), /"out"/);
    });
  }
});

describe('init', () => {
  it('writes nothing where one of its files is there, whichever it is', async () => {
    for (const path of await filesIn(await init())) {
      const into = fresh();
      await mkdir(dirname(join(into, path)), { recursive: true });
      await writeFile(join(into, path), 'mine\n');
      const { code, err } = await run('init', into);
      assert.equal(code, 2, path);
      assert.match(err, /is there already/);
      assert.deepEqual(await filesIn(into), [path]);
      assert.equal(await readFile(join(into, path), 'utf8'), 'mine\n');
    }
  });

  it('leaves alone what else is there', async () => {
    const into = fresh();
    await mkdir(into);
    await writeFile(join(into, 'LICENSE'), 'mine\n');
    assert.equal((await run('init', into)).code, 0);
    assert.equal(await readFile(join(into, 'LICENSE'), 'utf8'), 'mine\n');
  });

  for (const [words, said] of [
    [['--pool', '../x'], /--pool \.\.\/x: it is not a valid name/],
    [['--pool', 'A'], /is not a valid name/],
    [['--pool', 'x', '--selector', 'a b'], /is not a label/],
    [['--pool', 'x', '--selector', 'a=b=c'], /is not a label/],
    [['--selector', 'a'], /--selector needs --pool/],
    [['--cluster', '../x'], /is not a valid name/],
    [['--forge', 'sourcehut'], /choose one of github, gitlab/],
    [['--kubelet-version', '1.19'], /the oldest that is supported is 1\.20/],
  ] as const) {
    it(`refuses ${words.join(' ')}, and writes nothing`, async () => {
      const into = fresh();
      const { code, err }: Ran = await run('init', into, ...words);
      assert.equal(code, 2);
      assert.match(err, said);
      assert.ok(!existsSync(into));
    });
  }
});
