import { type ChildProcess, fork } from 'node:child_process';
import type { Asked, Program, Ran, Told } from './protocol.ts';

/** In the package of the command line, it is a file of its own beside the demo. */
const STARTER = new URL(import.meta.url.endsWith('.ts') ? './starter.ts' : './git-starter.js', import.meta.url);

/**
 * Runs a program to its end, started by a small process in between. To start a program, Node copies the tables of all its memory:
 * a process that has run a folder of tests takes more than ten milliseconds of CPU for that, and a small one less than one.
 *
 * @throws what Node says of a program that cannot be started
 */
export async function runInSubprocess(program: Program): Promise<Ran> {
  const { child, waiting } = (starter ??= start());
  const id = (asked += 1);
  const ended = new Promise<Told>((resolve, reject) => waiting.set(id, { resolve, reject }));
  child.channel?.ref();
  child.send({ ...program, id } satisfies Asked);
  try {
    const told = await ended;
    if ('error' in told) throw Object.assign(told.error, { code: told.errorCode });
    const { code, out, err } = told;
    return { code, out: Buffer.from(out), err: Buffer.from(err) };
  } finally {
    waiting.delete(id);
    // An idle starter keeps no test process alive, and ends with it.
    if (waiting.size === 0) child.channel?.unref();
  }
}

interface Starter {
  readonly child: ChildProcess;
  readonly waiting: Map<number, { readonly resolve: (told: Told) => void; readonly reject: (error: Error) => void }>;
}

let starter: Starter | undefined;
let asked = 0;

function start(): Starter {
  const cache = process.env['NODE_COMPILE_CACHE'];
  const compiled = cache === undefined ? {} : { NODE_COMPILE_CACHE: cache };
  const child = fork(STARTER, [], {
    serialization: 'advanced',
    // Not those of this process: it may be a test runner's.
    execArgv: [],
    env: { PATH: process.env['PATH'], ...compiled },
  });
  const waiting: Starter['waiting'] = new Map();
  child.on('message', (told: Told) => waiting.get(told.id)?.resolve(told));
  child.on('exit', (code, signal) => {
    starter = undefined;
    for (const { reject } of waiting.values()) reject(new Error(`the starter ended: ${code ?? signal}`));
  });
  child.unref();
  child.channel?.unref();
  // Waited for, so that what it took is counted as this process's.
  process.once('beforeExit', () => {
    starter = undefined;
    child.ref();
    if (child.connected) child.disconnect();
  });
  return { child, waiting };
}
