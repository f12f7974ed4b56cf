import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { until } from '../../support/until.ts';

export interface DaemonOptions {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Standard output and error are appended here. */
  readonly logFile: string;
  /** The whole environment besides PATH. */
  readonly env?: Readonly<Record<string, string>>;
  /** Milliseconds between SIGTERM and SIGKILL when it is stopped. */
  readonly graceMs?: number;
}

export interface Daemon {
  readonly pid: number;
  /** How it ended; undefined while it runs. */
  readonly ended: () => string | undefined;
  /** The end of its log, under a heading, for error messages. */
  readonly logTail: (lines?: number) => string;
  /** SIGTERM, then SIGKILL after the grace; resolves when the process is gone. Once is enough, twice does no harm. */
  readonly stop: () => Promise<void>;
}

/**
 * Starts a long-running process that cannot outlive this one: the kernel sends it SIGTERM when its parent dies, however
 * that happens (setpriv's --pdeathsig), so that a killed test run leaves nothing behind.
 */
export function startDaemon(options: DaemonOptions): Daemon {
  const { name, command, logFile } = options;
  const log = openSync(logFile, 'a');
  writeSync(log, `--- ${command} ${options.args.join(' ')}\n`);
  const child = spawn('setpriv', ['--pdeathsig', 'TERM', '--', command, ...options.args], {
    stdio: ['ignore', log, log],
    env: { PATH: process.env['PATH'] ?? '/usr/sbin:/usr/bin:/sbin:/bin', ...options.env },
  });
  closeSync(log);
  let ended: string | undefined;
  child.once('exit', (code, signal) => (ended = `${name} ended with ${signal ?? `status ${code}`}`));
  child.once('error', (error) => (ended = `${name} did not start: ${error.message}`));

  return {
    pid: child.pid ?? -1,
    ended: () => ended,
    logTail: (lines) => tailOf(logFile, lines),
    async stop() {
      if (ended !== undefined) return;
      child.kill('SIGTERM');
      const escalation = setTimeout(() => child.kill('SIGKILL'), options.graceMs ?? 10_000);
      try {
        await until(`the end of ${name}`, async () => ended, { everyMs: 20 });
      } finally {
        clearTimeout(escalation);
      }
    },
  };
}

/** The last lines of a log file under a heading; says so where there is none. */
export function tailOf(logFile: string, lines = 25): string {
  try {
    const text = readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-lines).join('\n');
    return `--- end of ${logFile}:\n${text}`;
  } catch {
    return `--- ${logFile} cannot be read`;
  }
}
