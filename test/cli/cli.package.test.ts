import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { packageCli } from '../../scripts/package-cli.ts';
import { WITHOUT_GIT } from '../support/required-tools.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { commitAll } from './support/repository.ts';

const execute = promisify(execFile);
const TEMPLATE = resolve('config-repo-template');
/** What Node 20 lacks is taken away from the present one. */
const LACKS = `data:text/javascript,${encodeURIComponent(`
  import workers from 'node:worker_threads'; import zlib from 'node:zlib';
  delete Map.groupBy; delete Object.groupBy; delete Promise.withResolvers;
  delete workers.markAsUncloneable; delete zlib.createZstdDecompress;`)}`;
const isTwenty = (node: string): boolean => String(spawnSync(node, ['--version']).stdout).startsWith('v20.');
/** The present Node without what 20 lacks, and a real one where this machine has it. */
const NODES: readonly (readonly [what: string, argv: readonly [string, ...string[]]])[] = [
  ['a Node with no more than 20 has', [process.execPath, '--import', LACKS]],
  ...['/usr/bin/node', '/usr/local/bin/node']
    .filter(isTwenty)
    .map((node) => [`the Node 20 in ${node}`, [node]] as const),
];

describe('the package of the command line', () => {
  const directory = temporaryDirectory();
  let tarball = '';
  let bin = '';
  before(async () => {
    tarball = await packageCli(join(directory, 'dist'), 'https://example.com/kubelet-gitops.tgz');
    await mkdir(join(directory, 'installed'));
    await execute('npm', ['install', '--global', '--offline', '--prefix', join(directory, 'installed'), tarball]);
    bin = join(directory, 'installed/bin');
  });

  /** Away from the checkout. */
  const run = async (argv: readonly [string, ...string[]], ...words: readonly string[]) => {
    const [command, ...options] = argv;
    return execute(command, [...options, ...words], {
      cwd: directory,
      env: { PATH: process.env['PATH'], HOME: directory },
    }).then(
      ({ stdout }) => ({ code: 0, out: stdout, err: '' }),
      (error: { code: number; stdout: string; stderr: string }) => ({
        code: error.code,
        out: error.stdout,
        err: error.stderr,
      }),
    );
  };

  for (const [what, argv] of NODES) {
    it(`runs under ${what}, without the checkout`, async () => {
      const command = [...argv, join(bin, 'kubelet-gitops')] as const;
      const valid = await run(command, 'validate', TEMPLATE);
      assert.deepEqual([valid.code, valid.out], [0, '3 pools: nothing found\n'], valid.err);
      const rendered = await run(command, 'render', '--help');
      assert.match(rendered.out, /^kubelet-gitops render: /);
    });

    it(`makes a repository that is valid and can be planned, under ${what}`, { skip: WITHOUT_GIT }, async () => {
      const command = [...argv, join(bin, 'kubelet-gitops')] as const;
      const into = join(directory, `config of ${what}`.replaceAll('/', '-'));
      const made = await run(command, 'init', into, '--cluster', 'prod', '--forge', 'github', '--pool', 'workers');
      assert.equal(made.code, 0, made.err);
      assert.equal((await run(command, 'validate', into)).out, '1 pool: nothing found\n');
      await commitAll(into);
      const plan = await run(command, 'plan', '--repo', into);
      assert.equal(plan.code, 1, plan.err);
      assert.match(plan.out, /^Pool workers is new$/m);
    });

    it(`reads kubeconfigs under ${what}`, async () => {
      const kubeconfig = join(directory, 'kubeconfig');
      await writeFile(
        kubeconfig,
        'apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}]\nusers: [{name: u, user: {token: t}}]\ncontexts: [{name: c, context: {cluster: c, user: u}}]\ncurrent-context: c\n',
      );
      const status = await run([...argv, join(bin, 'kubelet-gitops')], 'status', '--kubeconfig', kubeconfig);
      assert.equal(status.code, 2);
      assert.match(status.err, /no answer from http:\/\/127\.0\.0\.1:1 \(ECONNREFUSED\)/);
    });
  }

  it(
    'tells the story of the demo, where git has no server and Node is the oldest here',
    { skip: WITHOUT_GIT },
    async () => {
      const [node = process.execPath, ...options] = NODES.flatMap(([, argv], at) =>
        at === NODES.length - 1 ? argv : [],
      );
      const [git, none, empty] = [join(directory, 'git'), join(directory, 'no-programs'), join(directory, 'empty')];
      for (const folder of [git, none, empty]) await mkdir(folder);
      const real = (await execute('sh', ['-c', 'command -v git'])).stdout.trim();
      const script = `#!/bin/sh\nif [ "$*" = --exec-path ]; then echo '${none}'; else exec '${real}' "$@"; fi\n`;
      await writeFile(join(git, 'git'), script, { mode: 0o755 });
      const { stdout } = await execute(node, [...options, join(bin, 'kubelet-gitops'), 'demo'], {
        cwd: empty,
        env: { PATH: `${git}:${process.env['PATH']}`, HOME: directory },
      });
      assert.match(stdout, /no server, the demo follows the local repository \/.+\.git\./);
      assert.match(stdout, /HALTED: .+\n(?:.*\n)*.*settled: /);
      assert.match(stdout, /commit [0-9a-f]{12} Revert .*\n.*\n +demo: settled \(3 pools, 6 nodes\)\n/);
      const [, tutorial = ''] = /, and (.*\/docs\/tutorial\.md)\.\n$/.exec(stdout) ?? [];
      assert.match(await readFile(tutorial, 'utf8'), /^# /);
      assert.deepEqual(await readdir(empty), ['.kubelet-gitops']);
    },
  );

  it('has what import writes beside pools and layers', async () => {
    const config = join(directory, 'w-1.json');
    await writeFile(config, '{"kubeletconfig": {"maxPods": 60}}');
    const into = join(directory, 'imported');
    const imported = await run([join(bin, 'kubelet-gitops')], 'import', config, '--into', into);
    assert.equal(imported.code, 0, imported.err);
    for (const path of ['.github/workflows/kubelet-config.yaml', '.gitlab-ci.yml', 'CODEOWNERS', 'README.md'])
      assert.match(imported.out, new RegExp(`^.*/imported/${path.replaceAll('.', '\\.')}$`, 'm'));
    const schema = await readFile(join(into, '.schemas/kubelet-pool.json'), 'utf8');
    assert.equal(schema, await readFile('schemas/kubelet-pool.json', 'utf8'));
  });

  it('is a plugin of kubectl as well, by the same file that krew is told of', async () => {
    const { out } = await run([join(bin, 'kubectl-kubelet_gitops')], '--version');
    assert.match(out, /^kubelet-gitops \d+\.\d+\.\d+\n$/);
    const offered = await run([join(bin, 'kubectl_complete-kubelet_gitops')], 'status', '-o', 'y');
    assert.deepEqual([offered.code, offered.out, offered.err], [0, 'yaml\n:4\n', '']);
    const manifest = parse(await readFile(join(directory, 'dist/kubelet-gitops.krew.yaml'), 'utf8')) as {
      readonly metadata: { readonly name: string };
      readonly spec: {
        readonly platforms: readonly { readonly sha256: string; readonly bin: string; readonly uri: string }[];
      };
    };
    const sha256 = createHash('sha256')
      .update(await readFile(tarball))
      .digest('hex');
    assert.deepEqual(
      [manifest.metadata.name, manifest.spec.platforms.map((platform) => [platform.uri, platform.sha256])],
      ['kubelet-gitops', [['https://example.com/kubelet-gitops.tgz', sha256]]],
    );
  });

  it('has every page that its messages name', async () => {
    const content = join(directory, 'dist/package');
    const programs = (await readdir(content)).filter((name) => name.endsWith('.js'));
    const texts = await Promise.all(programs.map((name) => readFile(join(content, name), 'utf8')));
    const named = new Set(texts.join('\n').match(/\bdocs\/[\w/-]+\.md\b/g));
    assert.ok(named.size > 5);
    for (const page of named) assert.match(await readFile(join(content, page), 'utf8'), /^# /m, page);
    const { out } = await run([join(bin, 'kubelet-gitops')], '--help');
    const [, docs = ''] = /^Documentation: (.+)$/m.exec(out) ?? [];
    assert.deepEqual(
      await readdir(docs),
      (await readdir('docs')).filter((name) => name !== 'pictures'),
    );
  });

  it('has the terms of every library in it, and nothing of this machine', async () => {
    const text = await readFile(join(directory, 'dist/package/licences.txt'), 'utf8');
    assert.match(text, /^==== yaml \d/m);
    assert.match(text, /^==== isomorphic-git \d/m);
    const { stdout } = await execute('tar', ['-xOzf', tarball], { maxBuffer: 64 * 2 ** 20 });
    assert.ok(!stdout.includes(process.cwd()), 'no path of the checkout');
  });
});
