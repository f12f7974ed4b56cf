import { randomBytes } from 'node:crypto';
import { lstat, mkdir, readdir, rename, rm, rmdir, stat, unlink } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { basename, dirname, join } from 'node:path';
import type { Clock, Millis } from '#shared/runtime/clock.ts';
import { codeOf } from '#shared/runtime/errors.ts';
import type { Log } from '#shared/runtime/log.ts';

/** Held for as long as the process lives; the kernel gives it back however that ends. */
export interface Lock {
  release(): Promise<void>;
}

const RETRY_MS = 2_000;
const OLD_MS: Millis = 3_600_000;

/**
 * One agent at a time for a state directory, whatever containers the agents are in. The lock is a directory with a socket
 * that the holder listens on: a process number in a file says nothing to a container that sees other processes, and
 * outlives its process.
 *
 * A directory can be renamed only to where there is none, or an empty one. So an agent that wants the lock listens in a
 * directory of its own and renames that; and the socket of a holder that is gone is removed by a name that no other agent
 * ever has. Nothing in this can hit a lock that is alive, in whatever order any number of agents do it.
 *
 * Waits while another agent holds it, as the old pod does for a moment during an update. Where the state directory takes
 * no socket, the agent goes on without: two agents are a mistake, no agent is a node without help.
 *
 * @returns null where there is no lock to be had, or the signal aborted
 */
export async function waitForLock(path: string, clock: Clock, log: Log, signal: AbortSignal): Promise<Lock | null> {
  const own = randomBytes(4).toString('hex');
  const waitingRoom = `${path}.${own}`;
  let server: Server | null = null;
  let isLogged = false;
  try {
    await mkdir(waitingRoom, { mode: 0o700 });
    server = await listen(join(waitingRoom, own));
    while (!signal.aborted) {
      if (await take(waitingRoom, path)) {
        await clearWaitingRooms(path, clock.now()).catch(() => undefined);
        return lockOf(server, path, own);
      }
      if (await isHeld(path)) {
        if (!isLogged) log.warn({ path }, 'another agent works on this state directory: waiting for it to end');
        isLogged = true;
        await clock.sleep(RETRY_MS, signal);
      }
    }
  } catch (error) {
    log.warn({ err: error, path }, 'no lock on the state directory: going on without');
  }
  server?.close();
  await rm(waitingRoom, { recursive: true, force: true }).catch(() => undefined);
  return null;
}

function lockOf(server: Server, path: string, own: string): Lock {
  return {
    async release() {
      await rm(join(path, own), { force: true });
      // A waiting agent may have taken the empty place already.
      await rmdir(path).catch(() => undefined);
      await new Promise<void>((done) => {
        server.close(() => done());
      });
    },
  };
}

function listen(path: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    // Stays on: what goes wrong with one connection later (no file descriptor left for it) must not end the process.
    server.on('error', reject);
    server.listen(path, () => resolve(server));
  });
}

const TAKEN = ['ENOTEMPTY', 'EEXIST', 'ENOTDIR'];

const take = async (waitingRoom: string, path: string): Promise<boolean> =>
  (await unless(TAKEN, rename(waitingRoom, path))) !== null;

/** Whether an agent listens there. Removes a socket without a listener. @throws if that cannot be done */
async function isHeld(path: string): Promise<boolean> {
  const found = await unless(GONE, lstat(path));
  if (found === null) return false;
  if (!found.isDirectory()) {
    // Unlike a removal of whatever is there, this cannot hit a directory.
    await unless(['ENOENT', 'EISDIR'], unlink(path));
    return false;
  }
  for (const name of (await unless(GONE, readdir(path))) ?? []) {
    if (await isAnswered(join(path, name))) return true;
    await rm(join(path, name), { recursive: true, force: true });
  }
  return false;
}

const GONE = ['ENOENT', 'ENOTDIR'];

/** null after a failure with one of these codes: another agent was quicker. */
async function unless<T>(codes: readonly string[], work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (codes.includes(codeOf(error) ?? '')) return null;
    throw error;
  }
}

/** Agents that were killed while they waited leave theirs behind. A young one may be about to be listened in. */
async function clearWaitingRooms(path: string, now: Millis): Promise<void> {
  const rooms = (await readdir(dirname(path))).filter((name) => name.startsWith(`${basename(path)}.`));
  for (const room of rooms.map((name) => join(dirname(path), name))) {
    if (now - (await stat(room)).mtimeMs < OLD_MS) continue;
    const answers = await Promise.all((await readdir(room)).map((name) => isAnswered(join(room, name))));
    if (!answers.includes(true)) await rm(room, { recursive: true, force: true });
  }
}

/** What connecting says where no process has the socket, or it is none. A process that is only busy says something else. */
const DEAD = ['ECONNREFUSED', 'ENOENT', 'ENOTSOCK'];

function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', (error) => resolve(!DEAD.includes(codeOf(error) ?? '')));
  });
}
