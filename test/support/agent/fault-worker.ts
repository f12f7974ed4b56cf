import { parentPort } from 'node:worker_threads';
import { reasonOf } from '#shared/runtime/errors.ts';
import { type FaultTask, faultEveryPoint } from './fault-every-point.ts';
import { TRANSITIONS } from './transitions.ts';

// Thousands of runs throw errors that nobody prints: where they came from was a third of what a run cost.
Error.stackTraceLimit = 0;

parentPort?.on('message', ({ transition, mode }: FaultTask) => {
  const found = TRANSITIONS.find(({ name }) => name === transition);
  const work = found === undefined ? Promise.reject(new Error(`no ${transition}`)) : faultEveryPoint(found, mode);
  work.then(
    (tally) => parentPort?.postMessage(tally, []),
    (error: unknown) => parentPort?.postMessage({ broken: reasonOf(error) }, []),
  );
});
