import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, symlink, utimes, writeFile } from 'node:fs/promises';
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
  await endAll();
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

/** An agent of this process that wants the lock. */
interface Contender {
  /** null: it goes on without; undefined: it still waits. */
  readonly got: () => Lock | null | undefined;
  readonly end: () => Promise<void>;
}
const contenders: Contender[] = [];

/** @param now its wall clock; that of this machine by default */
function contend(now = Date.now): Contender {
  const stop = new AbortController();
  let got: Lock | null | undefined;
  const waiting = (async () => {
    got = await waitForLock(path, { ...clock, now }, silentLog, stop.signal);
  })();
  const contender: Contender = {
    got: () => got,
    async end() {
      stop.abort();
      await clock.advance(0);
      await waiting;
      await got?.release();
    },
  };
  contenders.push(contender);
  return contender;
}

/** Until each of them has the lock, sleeps before its next try, or goes on without. */
async function settled(): Promise<void> {
  const awake = (): number => contenders.filter(({ got }) => got() === undefined).length - clock.sleeping().length;
  while (awake() > 0) await new Promise((resolve) => setImmediate(resolve));
}

async function endAll(): Promise<void> {
  for (const contender of contenders.splice(0)) await contender.end();
}

/** Whether it is taken at once; a lock that was got is given back by the end of the test. */
async function isFree(): Promise<boolean> {
  const contender = contend();
  await settled();
  return (contender.got() ?? null) !== null;
}

describe('the lock on a state directory', () => {
  it('keeps a second agent waiting until the first is done', async () => {
    assert.equal(await isFree(), true);
    const second = contend();
    await settled();
    assert.equal(second.got(), undefined);
    await contenders.shift()?.end();
    await clock.advance(2_000);
    await settled();
    assert.notEqual(second.got() ?? null, null);
    await endAll();
    assert.deepEqual(await readdir(directory), []);
  });

  it('is held by another process, and free again when that was killed', async () => {
    const holder = tryInProcess(path);
    assert.equal(await said(holder), 'held');
    assert.equal(await isFree(), false);
    await killed(holder);
    assert.deepEqual((await readdir(path)).length, 1, 'what it held is still there');
    assert.equal(await isFree(), true);
  });

  it('is held by a process that has stopped moving', async () => {
    const holder = tryInProcess(path);
    assert.equal(await said(holder), 'held');
    holder.kill('SIGSTOP');
    assert.equal(await isFree(), false);
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
    assert.equal(await isFree(), false);
    await killed(holder);
    const next = tryInProcess(join(elsewhere, 'agent.sock'), ...container);
    assert.equal(await said(next), 'held');
    assert.equal(await isFree(), false);
  });

  const leftovers: readonly (readonly [string, () => Promise<void>])[] = [
    ['nothing', () => Promise.resolve()],
    ['a file', () => writeFile(path, '')],
    ['an empty directory', () => mkdir(path)],
    ['a directory with a dead socket', () => leaveSocket(join(path, 'dead'))],
    ['a dead socket', () => leaveSocket(path)],
    ['a link that leads nowhere', () => symlink(join(directory, 'nowhere'), path)],
  ];
  for (const [what, leave] of leftovers) {
    it(`goes to one of many who start at once where ${what} is in its place`, async () => {
      for (let round = 0; round < 8; round += 1) {
        await rm(path, { recursive: true, force: true });
        await leave();
        const all = Array.from({ length: 6 }, () => contend());
        await settled();
        assert.deepEqual(
          all.map(({ got }) => got()).filter((got) => got === null),
          [],
          'the waiting room of one was cleared by another: it goes on without',
        );
        assert.equal(all.filter(({ got }) => got() !== undefined).length, 1);
        await endAll();
        assert.deepEqual(await readdir(directory), []);
      }
    });
  }

  it('takes the place of a link, and leaves alone what the link leads to', async () => {
    const elsewhere = join(directory, 'elsewhere');
    await mkdir(elsewhere);
    await writeFile(join(elsewhere, 'kept'), 'somebody else’s');
    await symlink(elsewhere, path);
    assert.equal(await isFree(), true);
    assert.deepEqual(await readdir(elsewhere), ['kept']);
  });

  it('is cleared of what agents left behind that were killed while they waited, once it is an hour old', async () => {
    const left = Date.UTC(2026, 0);
    for (const [age, rooms] of [
      [3_599_999, ['agent.sock.dead', 'agent.sock.empty']],
      [3_600_000, []],
    ] as const) {
      await leaveSocket(`${path}.dead/dead`);
      await mkdir(`${path}.empty`, { recursive: true });
      for (const room of ['dead', 'empty']) await utimes(`${path}.${room}`, left / 1000, left / 1000);
      contend(() => left + age);
      await settled();
      assert.deepEqual(await readdir(directory), ['agent.sock', ...rooms]);
      await endAll();
    }
  });

  it('goes to who has waited for hours, in a room that nobody clears', async () => {
    const holder = contend();
    await settled();
    const waiting = contend();
    await settled();
    await holder.end();
    const next = contend(() => Date.now() + 7_200_000);
    await settled();
    assert.notEqual(next.got() ?? null, null);
    await next.end();
    await clock.advance(2_000);
    await settled();
    assert.notEqual(waiting.got() ?? null, null);
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
