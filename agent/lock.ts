import { rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import type { Clock } from '#shared/runtime/clock.ts';
import { codeOf } from '#shared/runtime/errors.ts';
import type { Log } from '#shared/runtime/log.ts';

/** Held for as long as the process lives; the kernel gives it back however that ends. */
export interface Lock {
  release(): Promise<void>;
}

const RETRY_MS = 2_000;

/**
 * One agent at a time for a state directory. The lock is a socket that the holder listens on: a process number in a
 * file says nothing to a container that sees other processes, and outlives its process.
 *
 * Waits while another agent holds it, as the old pod does for a moment during an update. Where the directory takes no
 * socket, the agent goes on without: two agents are a mistake, no agent is a node without help.
 *
 * @returns null where there is no lock to be had, or the signal aborted
 */
export async function waitForLock(path: string, clock: Clock, log: Log, signal: AbortSignal): Promise<Lock | null> {
  let told = false;
  while (!signal.aborted) {
    try {
      return await listen(path);
    } catch (error) {
      if (codeOf(error) !== 'EADDRINUSE') {
        log.warn({ err: error, path }, 'no lock on the state directory: going on without');
        return null;
      }
    }
    if (await isAnswered(path)) {
      if (!told) log.warn({ path }, 'another agent works on this state directory: waiting for it to end');
      told = true;
      await clock.sleep(RETRY_MS, signal);
    } else {
      await rm(path, { force: true });
    }
  }
  return null;
}

function listen(path: string): Promise<Lock> {
  return new Promise((resolve, reject) => {
    const server: Server = createServer((socket) => socket.destroy());
    server.once('error', reject);
    server.listen(path, () =>
      resolve({
        release: () =>
          new Promise((done) => {
            server.close(() => done());
          }),
      }),
    );
  });
}

/** Nobody listens on the socket of a process that is gone. */
function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
