import { execFile } from 'node:child_process';
import { type FSWatcher, watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { Millis } from '#shared/runtime/clock.ts';
import { GitopsError } from '#shared/runtime/errors.ts';
import type { KubeletService, ServiceStatus } from './service.ts';

export interface CommandServiceOptions {
  /** A shell line that restarts the kubelet and need not wait for it. */
  readonly restartCommand: string;
  /** Holds the kubelet's process id while it runs; undefined where there is none, and then restarts cannot be counted. */
  readonly pidFile: string | undefined;
  /** Default a minute. */
  readonly timeoutMs?: Millis;
}

/** Output of a failed command that goes into the error. */
const MOST_OUTPUT = 500;

/** A kubelet that neither systemd nor anything else that we know manages: restarted by a command, seen by its process id. */
export function createCommandService({
  restartCommand,
  pidFile,
  timeoutMs = 60_000,
}: CommandServiceOptions): KubeletService {
  return {
    pollMs: 1_000,
    async status(): Promise<ServiceStatus> {
      if (pidFile === undefined) return { state: 'unknown', run: null, automaticRestarts: null };
      const run = await runningProcess(pidFile);
      return { state: run === null ? 'stopped' : 'running', run, automaticRestarts: null };
    },
    restart: (_, signal) =>
      new Promise((resolve, reject) => {
        execFile('sh', ['-c', restartCommand], { signal, timeout: timeoutMs }, (error, stdout, stderr) => {
          if (error === null) return resolve();
          const output = `${stderr}${stdout}`.trim().slice(-MOST_OUTPUT);
          const message = `the command that restarts the kubelet failed (${restartCommand}): ${error.message}${output === '' ? '' : `: ${output}`}`;
          reject(new GitopsError('SERVICE_RESTART_FAILED', message, { cause: error }));
        });
      }),
    watch: (changed) => (pidFile === undefined ? () => undefined : watchFile(pidFile, changed)),
  };
}

/** Process id and start time: an id that the system gave to another process is another run. null where there is none. */
async function runningProcess(pidFile: string): Promise<string | null> {
  const pid = (await readFile(pidFile, 'utf8').catch(() => '')).trim();
  if (!/^\d+$/.test(pid)) return null;
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The command's name stands in brackets and may hold anything, spaces and brackets too (proc(5)).
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, startedAt] = [fields[0], fields[19]];
  return startedAt === undefined || state === 'Z' ? null : `${pid}.${startedAt}`;
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
