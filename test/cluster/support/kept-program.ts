import { setTimeout as sleep } from 'node:timers/promises';
import type { LogLine, Program } from './programs.ts';

const LOOK_EVERY_MS = 250;

/**
 * A program that is started again whenever it ended, as its Deployment does: a reconciler that could not renew its lead for ten
 * seconds ends, and a machine that is busy with other things may take so long.
 */
export async function keptProgram(start: () => Promise<Program>): Promise<Program> {
  const earlier: LogLine[] = [];
  const end = new AbortController();
  let present = await start();

  async function life(): Promise<void> {
    while (!end.signal.aborted) {
      if (present.ended() !== undefined) {
        earlier.push(...(await present.lines()));
        present = await start();
      }
      await sleep(LOOK_EVERY_MS, undefined, { signal: end.signal }).catch(() => undefined);
    }
  }

  const living = life();
  return {
    get pid() {
      return present.pid;
    },
    ended: () => (end.signal.aborted ? present.ended() : undefined),
    logTail: (lines) => present.logTail(lines),
    lines: async () => [...earlier, ...(await present.lines())],
    said: (message) => present.said(message),
    async stop() {
      end.abort();
      await living;
      await present.stop();
    },
  };
}
