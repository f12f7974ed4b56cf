import { systemClock } from '#shared/runtime/clock.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { createPageCache } from '#reconciler/reporting/status-page/page-cache.ts';
import { ALL_NODES, type PageRequest } from '#reconciler/reporting/status-page/page-request.ts';
import { createListeners } from '#reconciler/reporting/status-page/serve/listeners.ts';
import { servePage } from '#reconciler/reporting/status-page/serve/server.ts';
import type { PassResult } from '#reconciler/reporting/pass-result.ts';
import { largePassResult } from '../test/reconciler/reporting/status-page/pass-results.ts';
import { atMostTimes, type Measurement } from './render-measurements.ts';

const NODES = 5_000;
const FEW = 50;
const RUNS = 15;
/** The time may grow as the nodes do, and half as much again. */
const LINEAR = 1.5;
const READERS = 100;
const ABOUT = { cluster: 'bench', version: '0', forge: undefined } as const;

const QUESTIONS: Readonly<Record<string, PageRequest>> = {
  overview: { page: 'overview' },
  'all nodes': { page: 'nodes', filter: ALL_NODES },
  'the last of all nodes': { page: 'nodes', filter: { ...ALL_NODES, page: NODES } },
  'nodes that wait': { page: 'nodes', filter: { ...ALL_NODES, state: 'waiting' } },
  'a pool': { page: 'pool', pool: 'zone-a-workers', filter: ALL_NODES },
};

/** What the status page costs: its making for 5,000 nodes, against 50; and a hundred readers of it, against one. */
export async function measure(): Promise<readonly Measurement[]> {
  const [many, few] = [largePassResult(NODES), largePassResult(FEW)];
  return [
    ...Object.entries(QUESTIONS).map(([name, question]) => making(name, question, many, few)),
    ...(await readers(many)),
  ];
}

function making(name: string, question: PageRequest, many: PassResult, few: PassResult): Measurement {
  const subject: number[] = [];
  const values: number[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    values.push(timeOf(few, question));
    subject.push(timeOf(many, question));
  }
  const figures = { subject, baseline: { what: `(${FEW} nodes)`, values } };
  const promise = atMostTimes(LINEAR * (NODES / FEW), figures);
  return { what: `${name}, made from a round of ${NODES} nodes`, unit: 'ms', ...figures, promise };
}

function timeOf(round: PassResult, question: PageRequest): number {
  const picture = createPageCache(ABOUT, () => ({ leads: true, holder: '' }), systemClock);
  picture.show(round);
  const since = performance.now();
  if (picture.page(question) === null) throw new Error('there is no such page');
  return performance.now() - since;
}

/** From a new round until the last of them has the page: it is made once for all. */
async function readers(round: PassResult): Promise<readonly Measurement[]> {
  const picture = createPageCache(ABOUT, () => ({ leads: true, holder: '' }), systemClock);
  const listeners = createListeners({ clock: systemClock, most: READERS, gapMs: 1_000, beatMs: 60_000 });
  const limits = { burst: 100_000, everyMs: 1 };
  const server = await servePage({
    picture,
    listeners,
    reach: 'local',
    port: 0,
    clock: systemClock,
    log: silentLog,
    limits,
  });
  const ask = async (count: number): Promise<number> => {
    picture.show(round);
    const since = performance.now();
    const url = `http://127.0.0.1:${server.port}/nodes`;
    await Promise.all(Array.from({ length: count }, async () => (await fetch(url)).text()));
    return performance.now() - since;
  };
  const subject: number[] = [];
  const values: number[] = [];
  try {
    await ask(READERS);
    for (let run = 0; run < RUNS; run += 1) {
      values.push(await ask(1));
      subject.push(await ask(READERS));
    }
  } finally {
    await server.close();
  }
  return [
    {
      what: `${READERS} readers at once, until the last has it`,
      unit: 'ms',
      subject,
      baseline: { what: '(one)', values },
    },
  ];
}
