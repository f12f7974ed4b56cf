import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { it } from 'node:test';
import { startChannels } from '../../support/notified.ts';
import { until } from '../../support/until.ts';
import { WITHOUT_GIT } from '../../support/required-tools.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const directory = temporaryDirectory();
const BIN = resolve('cli/bin.js');

it('the demo says what to install where git is missing, and ends with 2', () => {
  const { status, stderr } = spawnSync(process.execPath, [BIN, 'demo'], {
    cwd: directory,
    env: { PATH: '/nonexistent', HOME: directory },
    encoding: 'utf8',
    timeout: 120_000,
  });
  assert.match(stderr, /^kubelet-gitops: git is not installed/m);
  assert.doesNotMatch(stderr, /^ +at /m);
  assert.equal(status, 2);
});

it(
  'the demo, interrupted in a terminal, ends in order and leaves nothing but its logs',
  { skip: WITHOUT_GIT },
  async () => {
    const temporary = temporaryDirectory();
    // A group of its own, as a shell makes one: the interrupt reaches every process in it.
    const child = spawn(process.execPath, [BIN, 'demo'], {
      cwd: directory,
      env: { PATH: process.env['PATH'], HOME: directory, TMPDIR: temporary },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    let [out, err] = ['', ''];
    child.stderr.on('data', (chunk) => (err += String(chunk)));
    const begun = new Promise<void>((begin) => {
      child.stdout.on('data', (chunk) => {
        out += String(chunk);
        if (out.includes('git push')) begin();
      });
    });
    const ended = once(child, 'exit');
    await Promise.race([begun, ended]);
    process.kill(-(child.pid ?? 0), 'SIGINT');
    assert.deepEqual([await ended, err], [[0, null], '']);
    assert.match(out, /The programs' logs are in \.kubelet-gitops\/\./);
    assert.deepEqual(await readdir(temporary), []);
  },
);

it(
  'the demo tells receivers of its story, and begins with none that it cannot use',
  { skip: WITHOUT_GIT },
  async () => {
    await using channels = await startChannels();
    const temporary = temporaryDirectory();
    const env = { PATH: process.env['PATH'], HOME: directory, TMPDIR: temporary };
    const wrong = spawnSync(process.execPath, [BIN, 'demo', '--notifications', 'none.yaml'], { cwd: temporary, env });
    assert.match(String(wrong.stderr), /none\.yaml cannot be used/);
    assert.deepEqual([wrong.status, await readdir(temporary)], [2, []]);
    const child = spawn(process.execPath, [BIN, 'demo', '--notifications', channels.file], {
      cwd: directory,
      env,
      detached: true,
    });
    const ended = once(child, 'exit');
    await until('a message', () => channels.slack.length > 0 || child.exitCode !== null);
    process.kill(-(child.pid ?? 0), 'SIGINT');
    assert.deepEqual(await ended, [0, null]);
    assert.match(String(channels.slack[0]?.body['text']), /^\*\[info\] demo: Pool [a-z-]+ is settled\*/);
  },
);
