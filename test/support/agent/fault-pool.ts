import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { FaultTask, Tally } from './fault-every-point.ts';

export interface FaultPool {
  /** Each task is begun in the order in which it was asked for. */
  strike(task: FaultTask): Promise<Tally>;
  end(): Promise<void>;
}

type Answer = Tally | { readonly broken: string };

/** Strikes with so many workers at once: no run knows of another. */
export function createFaultPool(size: number): FaultPool {
  const workers = Array.from({ length: size }, () => new Worker(new URL('fault-worker.ts', import.meta.url)));
  const idle = [...workers];
  const waiting: ((worker: Worker) => void)[] = [];
  const free = (worker: Worker): void => {
    const next = waiting.shift();
    if (next === undefined) idle.push(worker);
    else next(worker);
  };
  const take = (): Promise<Worker> => {
    const worker = idle.pop();
    return worker === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(worker);
  };
  return {
    async strike(task) {
      const worker = await take();
      worker.postMessage(task, []);
      const [answer] = (await once(worker, 'message')) as [Answer];
      free(worker);
      if ('broken' in answer) throw new Error(answer.broken);
      return answer;
    },
    async end() {
      await Promise.all(workers.map((worker) => worker.terminate()));
    },
  };
}
