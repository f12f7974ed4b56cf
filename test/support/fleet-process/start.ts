import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Answer, Ask, Asks } from './asks.ts';

/** A cluster of simulated nodes in a process of its own, so that what is measured beside it is the reconciler alone. */
export interface FleetProcess {
  readonly apiUrl: string;
  readonly gitUrl: string;
  ask<A extends Ask>(ask: A, of: Asks[A]['asks']): Promise<Asks[A]['answer']>;
  stop(): Promise<void>;
}

const PROGRAM = fileURLToPath(new URL('serve.ts', import.meta.url));

export async function startFleetProcess(begin: Asks['begin']['asks']): Promise<FleetProcess> {
  const child = fork(PROGRAM, { execPath: process.execPath, execArgv: ['--max-old-space-size=8192'] });
  const waiting = new Map<number, (answer: Answer) => void>();
  const ready = new Promise<void>((resolve) => waiting.set(0, () => resolve()));
  child.on('message', (answer: Answer) => {
    waiting.get(answer.id)?.(answer);
    waiting.delete(answer.id);
  });
  let ids = 0;
  const ask = <A extends Ask>(what: A, of: Asks[A]['asks']): Promise<Asks[A]['answer']> =>
    new Promise((resolve, reject) => {
      const id = (ids += 1);
      waiting.set(id, (said) => {
        if ('error' in said) reject(new Error(said.error));
        else resolve(said.answer as Asks[A]['answer']);
      });
      child.send({ id, ask: what, of });
    });
  const ended = endOf(child);
  await Promise.race([
    ready,
    ended.then((code) => Promise.reject(new Error(`the fleet's process ended with ${code}`))),
  ]);
  const places = await ask('begin', begin);
  return {
    ...places,
    ask,
    async stop() {
      child.disconnect();
      await ended;
    },
  };
}

const endOf = (child: ChildProcess): Promise<number | null> => new Promise((resolve) => child.once('exit', resolve));
