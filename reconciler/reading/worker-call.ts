import type { Finding } from '#shared/contract/finding.ts';
import type { LoadOptions } from '../policy/config-repo/load-repo.ts';
import type { LoadedRepo } from '../policy/config-repo/loaded-repo.ts';
import type { PortablePool } from '../policy/config-repo/portable-pool.ts';
import type { MessagePort } from 'node:worker_threads';

/** What a worker is started with. */
export interface WorkerInput {
  readonly options: LoadOptions & { readonly gitFindings: readonly Finding[] };
  /** Path in the folder, path for people, and object name of every file. The worker asks for the bytes of those that it reads. */
  readonly files: readonly (readonly [path: string, shown: string, oid: string])[];
  readonly port: MessagePort;
  /** One number: 0 while the worker waits for an answer. */
  readonly answered: Int32Array;
}

/** What a worker asks or says; it waits for the answer to each. */
export type WorkerCall =
  /** Answered by its bytes. */
  | { readonly file: string }
  | { readonly pools: readonly PortablePool[] }
  /** The last one: all but the pools. */
  | { readonly repo: Omit<LoadedRepo, 'pools'> };
