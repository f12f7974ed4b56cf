import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { type Lock, waitForLock } from '#agent/lock.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { createManualClock } from '../shared/kube/support/manual-clock.ts';

let directory = '';
let path = '';
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'lock-'));
  path = join(directory, 'agent.sock');
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const clock = createManualClock();
const never = new AbortController().signal;

describe('the lock on a state directory', () => {
  it('keeps a second agent waiting until the first is done', async () => {
    const first = await waitForLock(path, clock, silentLog, never);
    let second: Lock | null | undefined;
    const waiting = (async () => {
      second = await waitForLock(path, clock, silentLog, never);
    })();
    while (clock.sleeping().length === 0) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(second, undefined);
    await first?.release();
    await clock.advance(2_000);
    await waiting;
    assert.notEqual(second ?? null, null);
    await (second as Lock | null | undefined)?.release();
    assert.deepEqual(await readdir(directory), []);
  });

  it('is free again when its holder was killed', async () => {
    const holder = join(directory, 'holder.mjs');
    await writeFile(
      holder,
      `import { createServer } from 'node:net'; createServer().listen(${JSON.stringify(path)}, () => process.send('held'));`,
    );
    const child = fork(holder);
    await once(child, 'message');
    child.kill('SIGKILL');
    await once(child, 'exit');
    assert.ok((await readdir(directory)).includes('agent.sock'));
    const lock = await waitForLock(path, clock, silentLog, never);
    assert.notEqual(lock, null);
    await lock?.release();
  });

  it('is done without where the directory takes no socket: a node without an agent would be worse', async () => {
    assert.equal(await waitForLock(join(directory, 'nowhere/agent.sock'), clock, silentLog, never), null);
    assert.equal(await waitForLock(join(directory, 'x'.repeat(200)), clock, silentLog, never), null);
  });
});
