import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { COMPILED } from '../../support/compiled.ts';

/** What a program said until now, on both of its outputs. */
export interface Running {
  readonly said: () => string;
  readonly ended: () => boolean;
  /** Resolves when it has ended, and all that it said was heard. */
  readonly over: Promise<unknown>;
  readonly stop: () => Promise<void>;
}

type Env = Readonly<Record<string, string>>;

/** Starts a program of ours from its source, with this environment, our PATH and what Node has compiled before, and nothing else. */
export function start(file: string, args: readonly string[], env: Env): Running {
  const child = spawn(process.execPath, [file, ...args], {
    env: { PATH: process.env['PATH'] ?? '', ...COMPILED, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const closed = once(child, 'close');
  return {
    said: () => said,
    ended: () => child.exitCode !== null || child.signalCode !== null,
    over: closed,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
      await closed;
    },
  };
}

/**
 * The same, but it is started again whenever it ended, as its Deployment does: a reconciler that could not renew its lead for ten
 * seconds ends, and a machine that is busy with other things may take so long.
 */
export function startKept(file: string, args: readonly string[], env: Env): Running {
  let earlier = '';
  let stopped = false;
  let present = start(file, args, env);
  async function life(): Promise<void> {
    for (;;) {
      await present.over;
      if (stopped) return;
      earlier += present.said();
      present = start(file, args, env);
    }
  }
  const over = life();
  return {
    said: () => earlier + present.said(),
    ended: () => stopped && present.ended(),
    over,
    async stop() {
      stopped = true;
      await present.stop();
      await over;
    },
  };
}

/** Runs one to its end, which has to come by itself within some minutes. @returns all that it said */
export async function run(file: string, args: readonly string[], env: Env): Promise<string> {
  const child = spawn(process.execPath, [file, ...args], {
    env: { PATH: process.env['PATH'] ?? '', ...COMPILED, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 180_000,
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const [, signal] = (await once(child, 'close')) as [number | null, string | null];
  if (signal !== null) throw new Error(`${file} ${args.join(' ')} did not end: ${said}`);
  return said;
}
