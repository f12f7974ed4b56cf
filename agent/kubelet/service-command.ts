import { type FSWatcher, watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { type Clock, type Millis, systemClock } from '#shared/runtime/clock.ts';
import { runCommand } from './run-command.ts';
import type { KubeletService, ServiceStatus } from '../ports/kubelet-service.ts';

interface CommandServiceOptions {
  /** A shell line that restarts the kubelet and need not wait for it; finds the reason in `KUBELET_RESTART_REASON`. */
  readonly restartCommand: string;
  /** Holds the kubelet's process id while it runs; undefined where there is none, and then restarts cannot be counted. */
  readonly pidFile: string | undefined;
  /** How long the command may take. Default a minute. */
  readonly timeoutMs?: Millis;
  readonly clock?: Clock;
}

/** A process ends without notice, so it is polled often enough to see a restart that takes a second. */
const POLL_MS = 1000;

/**
 * A kubelet that no systemd manages: restarted by a command, known by its process id, which has to mean the same here as
 * where the file was written. Who starts it again when it dies is not known, so automatic restarts are not counted.
 */
export function createCommandService(options: CommandServiceOptions): KubeletService {
  const { restartCommand, pidFile, timeoutMs = 60_000, clock = systemClock } = options;
  return {
    pollMs: POLL_MS,
    async status(): Promise<ServiceStatus> {
      const notCounted = { automaticRestarts: null };
      if (pidFile === undefined) {
        return { state: 'unknown', run: null, ...notCounted, reason: 'no KUBELET_PID_FILE says which process it is' };
      }
      const run = await runningProcess(pidFile);
      if (run === null) return { state: 'stopped', run, ...notCounted };
      return { state: 'running', run, pid: Number(run.split('.')[0]), ...notCounted };
    },
    restart: (because, signal) => runCommand(restartCommand, because, { timeoutMs, clock }, signal),
    watch: (changed) => (pidFile === undefined ? () => undefined : watchFile(pidFile, changed)),
  };
}

/** Process id and start time: an id that the system gave to another process is another run. null where there is none. */
async function runningProcess(pidFile: string): Promise<string | null> {
  const pid = (await readFile(pidFile, 'utf8').catch(() => '')).trim();
  if (!/^\d+$/.test(pid)) return null;
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The command's name stands in brackets and may hold anything, spaces and brackets too (proc(5)).
  const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const startedAt = fields[18];
  return startedAt === undefined || state === 'Z' || state === 'X' ? null : `${pid}.${startedAt}`;
}

/** The directory is watched, because the file is replaced and goes away. Polling makes up for whatever this misses. */
function watchFile(path: string, changed: () => void): () => void {
  let watcher: FSWatcher | undefined;
  try {
    watcher = watch(dirname(path), (_, name) => {
      if (name === null || name === basename(path)) changed();
    });
    watcher.on('error', () => watcher?.close());
  } catch {
    watcher = undefined;
  }
  return () => watcher?.close();
}
