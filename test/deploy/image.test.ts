import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile, realpath, stat, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { join } from 'node:path';
import { MessageChannel, Worker } from 'node:worker_threads';
import { before, describe, it } from 'node:test';
import type { LoadedRepo } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { bundle } from '../../scripts/build.ts';
import { manifestFlags } from '../support/manifest-flags.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const FORBIDDEN =
  /node_modules\/(?:@kubernetes\/client-node|@marcbachmann\/cel-js|isomorphic-git|undici|node-cron|ajv|yaml|fast-check)\//;

describe('the bundles', () => {
  const directory = temporaryDirectory();
  before(async () => {
    await writeFile(join(directory, 'package.json'), '{"type":"module"}');
  });

  it('the agent’s is small and carries nothing that costs memory on every node', async () => {
    const { inputs, outputs } = await bundle('agent', directory);
    assert.deepEqual(
      Object.keys(inputs).filter((path) => FORBIDDEN.test(path)),
      [],
    );
    const bytes = Object.values(outputs).reduce((sum, output) => sum + output.bytes, 0);
    // 460,000 bytes: 153,000 are what is known of kubelet configurations (21,000 of these read YAML), 38,000 write logs.
    assert.ok(bytes <= 456 * 1024, `${bytes} bytes`);
  });

  it('the agent’s is ASCII, because V8 keeps two bytes for each character of a text that has another one in it', async () => {
    await bundle('agent', directory);
    const text = await readFile(join(directory, 'agent.js'), 'latin1');
    assert.deepEqual(/.{0,40}[^\0-\x7f].{0,40}/.exec(text), null);
  });

  it('the agent’s takes of Node what it uses: neither undici nor HTTP/2, nor what pino needs for its workers', async () => {
    await bundle('agent', directory);
    const telling = "process.on('exit', () => console.log(process.moduleLoadList.join('\\n')))";
    const argv = [
      ...manifestFlags('agent'),
      `--import=data:text/javascript,${encodeURIComponent(telling)}`,
      join(directory, 'agent.js'),
    ];
    const { status, stdout, stderr } = spawnSync(process.execPath, argv, { env: {}, encoding: 'utf8' });
    assert.equal(status, 2, stderr);
    assert.match(stderr, /NODE_NAME is not set/);
    const loaded = stdout.split('\n').filter((line) => line.startsWith('NativeModule '));
    assert.ok(loaded.includes('NativeModule https'), stdout);
    assert.deepEqual(
      loaded.filter((name) => /undici|http2|webstreams|worker_threads|perf_hooks|NativeModule assert$/.test(name)),
      [],
    );
  });

  it('the reconciler’s keeps client-node in files that a pod never loads', async () => {
    const { outputs } = await bundle('reconciler', directory);
    const entry = Object.entries(outputs).find(([path]) => path.endsWith('/reconciler.js'))?.[1];
    const eager = new Set(Object.keys(entry?.inputs ?? {}));
    assert.deepEqual(
      [...eager].filter((path) => path.includes('@kubernetes/client-node')),
      [],
    );
  });

  it('the reconciler’s has the thread that reads commits beside it, under the name that it starts it by', async () => {
    await bundle('reconciler', directory);
    const [, name = ''] =
      /"\.\/(reconciler-[a-z-]+\.js)"/.exec(await readFile(join(directory, 'reconciler.js'), 'utf8')) ?? [];
    const { port1: ours, port2: port } = new MessageChannel();
    const options = { cluster: 'prod', gitFindings: [] };
    const answered = new Int32Array(new SharedArrayBuffer(4));
    const workerData = { options, files: [], port, answered };
    const worker = new Worker(join(directory, name), { workerData, transferList: [port] });
    const [call] = await Promise.race([once(ours, 'message'), once(worker, 'error')]);
    assert.deepEqual((call as { readonly repo?: LoadedRepo }).repo?.findings, []);
    await worker.terminate();
    ours.close();
  });

  const noRoot = process.getuid?.() === 0 ? false : 'only root may change the root directory';
  const noSsh = existsSync('/usr/bin/ssh') ? false : 'ssh is not installed';
  const noStrip = spawnSync('strip', ['--version']).error === undefined ? false : 'strip (binutils) is not installed';

  it('read over ssh in the variant of the image that is for it', { skip: noRoot || noStrip || noSsh }, async () => {
    const root = join(directory, 'root-ssh');
    const empty = join(directory, 'no-bundles');
    execFileSync('mkdir', ['-p', empty]);
    execFileSync('sh', ['scripts/image-root.sh', await realpath(process.execPath), empty, root, '/usr/bin/ssh']);
    // Every container has it.
    execFileSync('mkdir', ['-p', join(root, 'dev')]);
    execFileSync('mknod', ['-m', '666', join(root, 'dev/null'), 'c', '1', '3']);
    const argv = [
      '--userspec=65532:65532',
      root,
      '/usr/bin/ssh',
      '-F',
      'none',
      '-o',
      'BatchMode=yes',
      'nowhere.invalid',
    ];
    const { status, stderr } = spawnSync('/usr/sbin/chroot', argv, { env: {}, encoding: 'utf8' });
    assert.equal(status, 255);
    assert.match(stderr, /Could not resolve hostname/);
  });

  it('run in the image’s root directory, where there is nothing else', { skip: noRoot || noStrip }, async () => {
    const root = join(directory, 'root');
    const bundles = join(directory, 'bundles');
    execFileSync('mkdir', ['-p', bundles]);
    for (const program of ['agent', 'reconciler'] as const) await bundle(program, bundles);
    await writeFile(join(bundles, 'package.json'), '{"type":"module"}');
    execFileSync('sh', ['scripts/image-root.sh', await realpath(process.execPath), bundles, root]);
    for (const [program, user] of [
      ['agent', '0:0'],
      ['reconciler', '65532:65532'],
    ] as const) {
      const argv = [`--userspec=${user}`, root, '/usr/bin/node', ...manifestFlags(program), `/app/${program}.js`];
      const { status, stderr } = spawnSync('/usr/sbin/chroot', argv, { env: {}, encoding: 'utf8' });
      assert.equal(status, 2, stderr);
      assert.match(stderr, /is not set/, program);
    }
    // As the reconciler finds it: from a file beside its own.
    await writeFile(join(root, 'app/probe.js'), "console.log(typeof (await import('openpgp')).readKeys);");
    const probe = spawnSync('/usr/sbin/chroot', [root, '/usr/bin/node', '/app/probe.js'], {
      env: {},
      encoding: 'utf8',
    });
    assert.equal(probe.stdout, 'function\n', probe.stderr);
    const files = await readdir(root, { recursive: true, withFileTypes: true });
    const sizes = await Promise.all(
      files.filter((file) => file.isFile()).map((file) => stat(join(file.parentPath, file.name))),
    );
    const bytes = sizes.reduce((sum, { size }) => sum + size, 0);
    assert.ok(bytes < 125 * 1024 * 1024, `${Math.round(bytes / 1_048_576)} MiB`);
    assert.ok(
      !files.some((file) => ['sh', 'bash', 'busybox', 'apt', 'npm'].includes(file.name)),
      'no shell, no package manager',
    );
  });
});
