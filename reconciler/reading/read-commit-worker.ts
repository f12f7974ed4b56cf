import { receiveMessageOnPort, workerData } from 'node:worker_threads';
import type { RepoFile } from '../policy/commit-snapshot.ts';
import { loadInto } from '../policy/config-repo/load-repo.ts';
import { type PortablePool, sizeOf, toPortable } from '../policy/config-repo/portable-pool.ts';
import type { WorkerCall, WorkerInput } from './worker-call.ts';

// The program of a thread that reads one commit, with a heap of its own: whatever the commit does to it, the reconciler lives on.

/** Pools are handed over when they are so large together: the other thread takes them in one go. */
const HANDED_OVER_AT = 256 * 1024;

const { options, files, port, answered } = workerData as WorkerInput;

/** Waits for the answer without an event loop: a commit is read by one function that knows of no threads. */
function call(message: WorkerCall): unknown {
  Atomics.store(answered, 0, 0);
  port.postMessage(message);
  Atomics.wait(answered, 0, 0);
  return receiveMessageOnPort(port)?.message;
}

function fileOf(inFolder: string, path: string, oid: string): RepoFile {
  return {
    path,
    oid,
    get bytes() {
      return call({ file: inFolder }) as Uint8Array;
    },
  };
}

let ready: PortablePool[] = [];
let size = 0;

function handOver(): void {
  if (ready.length > 0) call({ pools: ready });
  ready = [];
  size = 0;
}

const repo = loadInto(
  (pool) => {
    const portable = toPortable(pool);
    ready.push(portable);
    size += sizeOf(portable);
    if (size >= HANDED_OVER_AT) handOver();
  },
  new Map(files.map(([path, shown, oid]) => [path, fileOf(path, shown, oid)])),
  options,
);
handOver();
call({ repo });
port.close();
