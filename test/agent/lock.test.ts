import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { type Lock, waitForLock } from '#agent/lock.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { createManualClock } from '../support/manual-clock.ts';

const HOLDER = join(import.meta.dirname, '..', 'support', 'agent', 'lock-holder.ts');

let directory = '';
let path = '';
const children: ChildProcess[] = [];
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'lock-'));
  path = join(directory, 'agent.sock');
});
afterEach(async () => {
  for (const child of children.splice(0)) await killed(child);
  await rm(directory, { recursive: true, force: true });
});

const clock = createManualClock();
const never = new AbortController().signal;

/** A process that tries for the lock, run by some other program where one is named. */
function tryInProcess(lockPath: string, ...wrapper: readonly string[]): ChildProcess {
  const [command, ...args] = [...wrapper, process.execPath, HOLDER, lockPath];
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  return child;
}

async function said(child: ChildProcess): Promise<string> {
  const [text] = (await once(child.stdout ?? child, 'data')) as [Buffer];
  return text.toString().trim();
}

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

/** Whether it is taken at once; a lock that was got is given back by the end of the test. */
async function isFree(t: { after(work: () => Promise<void>): void }): Promise<boolean> {
  const end = new AbortController();
  const before = clock.sleeping().length;
  const got: (Lock | null)[] = [];
  const waiting = (async () => {
    got.push(await waitForLock(path, clock, silentLog, end.signal));
  })();
  while (got.length === 0 && clock.sleeping().length === before) await new Promise((resolve) => setImmediate(resolve));
  const free = got.some((lock) => lock !== null);
  t.after(async () => {
    end.abort();
    await clock.advance(0);
    await waiting;
    await got[0]?.release();
  });
  return free;
}

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

  it('is held by another process, and free again when that was killed', async (t) => {
    const holder = tryInProcess(path);
    assert.equal(await said(holder), 'held');
    assert.equal(await isFree(t), false);
    await killed(holder);
    assert.deepEqual((await readdir(path)).length, 1, 'what it held is still there');
    assert.equal(await isFree(t), true);
  });

  it('is held by a process that has stopped moving', async (t) => {
    const holder = tryInProcess(path);
    assert.equal(await said(holder), 'held');
    holder.kill('SIGSTOP');
    assert.equal(await isFree(t), false);
  });

  it('goes to one of those who wait when its holder is killed', async () => {
    const holder = tryInProcess(path);
    assert.equal(await said(holder), 'held');
    const heirs = [tryInProcess(path), tryInProcess(path)];
    const words = heirs.map(said);
    await killed(holder);
    const first = await Promise.race(words.map(async (word, index) => ((await word) === 'held' ? index : -1)));
    assert.ok(first >= 0);
    const [other, word] = [heirs[1 - first], words[1 - first]];
    const heir = heirs[first];
    assert.ok(other !== undefined && heir !== undefined);
    await killed(heir);
    assert.equal(await word, 'held');
  });

  it('is the same in two containers, which see other processes, other networks and other paths', async (t) => {
    const why = await whyNoContainers();
    if (why !== undefined) return t.skip(why);
    const elsewhere = join(directory, 'elsewhere');
    await mkdir(elsewhere);
    const enter = `mount --bind ${directory} ${elsewhere} && exec "$@"`;
    const container = ['unshare', '-m', '-p', '-n', '--fork', '--kill-child', 'sh', '-c', enter, 'sh'];
    const holder = tryInProcess(join(elsewhere, 'agent.sock'), ...container);
    assert.equal(await said(holder), 'held');
    assert.equal(await isFree(t), false);
    await killed(holder);
    const next = tryInProcess(join(elsewhere, 'agent.sock'), ...container);
    assert.equal(await said(next), 'held');
    assert.equal(await isFree(t), false);
  });

  const leftovers: readonly (readonly [string, () => Promise<void>])[] = [
    ['nothing', () => Promise.resolve()],
    ['a file', () => writeFile(path, '')],
    ['an empty directory', () => mkdir(path)],
    ['a directory with a dead socket', () => leaveSocket(join(path, 'dead'))],
    ['the socket of an older release', () => leaveSocket(path)],
    ['a link that leads nowhere', () => symlink(join(directory, 'nowhere'), path)],
  ];
  for (const [what, leave] of leftovers) {
    it(`goes to one of many who start at once where ${what} is in its place`, async () => {
      for (let round = 0; round < 8; round += 1) {
        await rm(path, { recursive: true, force: true });
        await leave();
        const end = new AbortController();
        const before = clock.sleeping().length;
        const locks: Lock[] = [];
        const all = Array.from({ length: 6 }, async () => {
          const lock = await waitForLock(path, clock, silentLog, end.signal);
          if (lock !== null) locks.push(lock);
        });
        while (locks.length + clock.sleeping().length - before < 6)
          await new Promise((resolve) => setImmediate(resolve));
        assert.equal(locks.length, 1);
        end.abort();
        await clock.advance(0);
        await Promise.all(all);
        await locks[0]?.release();
        assert.deepEqual(await readdir(directory), []);
      }
    });
  }

  it('takes the place of a link, and leaves alone what the link leads to', async (t) => {
    const elsewhere = join(directory, 'elsewhere');
    await mkdir(elsewhere);
    await writeFile(join(elsewhere, 'kept'), 'somebody else’s');
    await symlink(elsewhere, path);
    assert.equal(await isFree(t), true);
    assert.deepEqual(await readdir(elsewhere), ['kept']);
  });

  it('waits for an agent of an older release, whose lock is the socket itself', async (t) => {
    const server = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => server.listen(path, resolve));
    assert.equal(await isFree(t), false);
    await new Promise((resolve) => server.close(resolve));
  });

  it('is cleared of what agents left behind that were killed while they waited, once it is old', async () => {
    await leaveSocket(`${path}.0ld/dead`);
    const future = { ...clock, now: () => Date.now() + 7_200_000 };
    const young = await waitForLock(path, { ...clock, now: () => Date.now() }, silentLog, never);
    assert.deepEqual(await readdir(directory), ['agent.sock', 'agent.sock.0ld']);
    await young?.release();
    const old = await waitForLock(path, future, silentLog, never);
    assert.deepEqual(await readdir(directory), ['agent.sock']);
    await old?.release();
  });

  it('is done without where the directory takes no socket: a node without an agent would be worse', async () => {
    assert.equal(await waitForLock(join(directory, 'nowhere/agent.sock'), clock, silentLog, never), null);
    assert.equal(await waitForLock(join(directory, 'x'.repeat(200)), clock, silentLog, never), null);
    assert.deepEqual(await readdir(directory), []);
  });
});

/** A socket whose process is gone. */
async function leaveSocket(socketPath: string): Promise<void> {
  await mkdir(join(socketPath, '..'), { recursive: true });
  const program = `require('net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))`;
  const child = spawn(process.execPath, ['-e', program, socketPath], { stdio: 'ignore' });
  await once(child, 'exit');
}

function whyNoContainers(): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile('unshare', ['-m', '-p', '-n', '--fork', 'true'], (error) =>
      resolve(error === null ? undefined : `no containers can be made here: ${error.message}`),
    );
  });
}
