import { MessageChannel, Worker } from 'node:worker_threads';
import type { Clock, Millis } from '#shared/runtime/clock.ts';
import { GitopsError } from '#shared/runtime/errors.ts';
import { withLifetime, within } from '#shared/runtime/lifetime.ts';
import type { Snapshot } from '../policy/commit-snapshot.ts';
import type { LoadOptions } from '../policy/config-repo/load-repo.ts';
import type { LoadedPool, LoadedRepo, PoolBounds } from '../policy/config-repo/loaded-repo.ts';
import { fromPortable } from '../policy/config-repo/portable-pool.ts';
import type { WorkerCall, WorkerInput } from './worker-call.ts';

/** Reads a commit; rejects with a `GitopsError` where it cannot be read within the limits. */
export type ReadCommit = (snapshot: Snapshot, signal: AbortSignal, boundsBefore?: PoolBounds) => Promise<LoadedRepo>;

export interface CommitReaderOptions extends Pick<LoadOptions, 'cluster' | 'folder' | 'allowFields'> {
  readonly clock: Clock;
  /** For tests. Default: `READING_MS`. */
  readonly ms?: Millis;
  /** Of the worker's heap, for tests. */
  readonly heapMiB?: number;
}

/** Longest time that the reading of one commit may take. */
const READING_MS: Millis = 30_000;
/** The worker's heap, old generation: what a commit within the limits takes, twice. */
const HEAP_MIB = 48;
const YOUNG_MIB = 4;

/** In the bundle, it is a file of its own beside ours. */
const WORKER = new URL(
  import.meta.url.endsWith('.ts') ? './read-commit-worker.ts' : './reconciler-read-commit.js',
  import.meta.url,
);

/** Reads commits one after the other, each in a thread with a heap of its own. */
export function createCommitReader(options: CommitReaderOptions): ReadCommit {
  const { clock, ms = READING_MS } = options;
  let last: Promise<unknown> = Promise.resolve();

  async function read(snapshot: Snapshot, signal: AbortSignal, boundsBefore?: PoolBounds): Promise<LoadedRepo> {
    const reason = (): GitopsError => new GitopsError('COMMIT_NOT_READ', `reading it took longer than ${ms / 1000} s`);
    const term = { clock, parent: signal, onParent: () => signal.reason as unknown, ms, reason };
    return withLifetime(term, async (life) => {
      const run = startWorker(snapshot, options, boundsBefore);
      try {
        return await within(life.signal, run.repo);
      } finally {
        await run.stop();
      }
    });
  }

  return (snapshot, signal, boundsBefore) => {
    const present = last.then(() => read(snapshot, signal, boundsBefore));
    last = present.catch(() => undefined);
    return present;
  };
}

interface RunningWorker {
  readonly repo: Promise<LoadedRepo>;
  stop(): Promise<unknown>;
}

function startWorker(
  { files, findings }: Snapshot,
  { cluster, folder = '', allowFields = [], heapMiB = HEAP_MIB }: CommitReaderOptions,
  boundsBefore: PoolBounds | undefined,
): RunningWorker {
  const { promise, resolve, reject } = Promise.withResolvers<LoadedRepo>();
  const { port1: ours, port2: port } = new MessageChannel();
  const answered = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const input: WorkerInput = {
    options: { cluster, folder, allowFields, gitFindings: findings, ...(boundsBefore && { boundsBefore }) },
    files: [...files].map(([path, file]) => [path, file.path, file.oid]),
    port,
    answered,
  };
  const pools: LoadedPool[] = [];
  const answer = (call: WorkerCall): unknown => {
    if ('file' in call) return files.get(call.file)?.bytes;
    if ('pools' in call) pools.push(...call.pools.map(fromPortable));
    else resolve({ ...call.repo, pools: call.repo.tooLarge === undefined ? pools : [] });
    return null;
  };
  ours.on('message', (call: WorkerCall) => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port of threads has none
    ours.postMessage(answer(call));
    Atomics.store(answered, 0, 1);
    Atomics.notify(answered, 0);
  });
  const worker = new Worker(WORKER, {
    workerData: input,
    transferList: [port],
    resourceLimits: { maxOldGenerationSizeMb: heapMiB, maxYoungGenerationSizeMb: YOUNG_MIB },
    name: 'read-commit',
    env: {},
  });
  worker.on('error', (cause) => {
    const isFull = (cause as { readonly code?: unknown }).code === 'ERR_WORKER_OUT_OF_MEMORY';
    const because = isFull ? `takes more than ${heapMiB} MiB of memory` : 'ended with an error of ours';
    reject(new GitopsError('COMMIT_NOT_READ', `reading it ${because}`, { cause }));
  });
  worker.on('exit', () => reject(new GitopsError('COMMIT_NOT_READ', 'the thread that reads it ended')));
  return {
    repo: promise,
    async stop() {
      ours.close();
      await worker.terminate();
    },
  };
}
