import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** What a program said until now, on both of its outputs. */
export interface Running {
  readonly said: () => string;
  readonly ended: () => boolean;
  readonly stop: () => Promise<void>;
}

type Env = Readonly<Record<string, string>>;

/** Starts a program of ours from its source, with this environment and nothing else but PATH. */
export function start(file: string, args: readonly string[], env: Env): Running {
  const child = spawn(process.execPath, [file, ...args], {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const closed = once(child, 'close');
  return {
    said: () => said,
    ended: () => child.exitCode !== null || child.signalCode !== null,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
      await closed;
    },
  };
}

/** Runs one to its end, which has to come by itself within half a minute. @returns all that it said */
export async function run(file: string, args: readonly string[], env: Env): Promise<string> {
  const child = spawn(process.execPath, [file, ...args], {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 30_000,
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const [, signal] = (await once(child, 'close')) as [number | null, string | null];
  if (signal !== null) throw new Error(`${file} ${args.join(' ')} did not end: ${said}`);
  return said;
}
