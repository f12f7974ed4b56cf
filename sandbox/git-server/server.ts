import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Clock } from '#shared/runtime/clock.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import type { GitCredential } from '#sandbox/git-server/http/access.ts';
import type { FileChange } from '#sandbox/git-server/repository/commit-files.ts';
import { commitFiles, moveRef } from '#sandbox/git-server/repository/commit-files.ts';
import { openDirectory } from '#sandbox/git-server/repository/directory.ts';
import type { GitFault } from '#sandbox/git-server/http/fault.ts';
import type { Oid } from '#sandbox/git-server/objects/oid.ts';
import { NO_OID } from '#sandbox/git-server/objects/oid.ts';
import type { LogEntry } from '#sandbox/git-server/repository/read-repository.ts';
import { filesOf, logOf, noteDataOf, notesOf } from '#sandbox/git-server/repository/read-repository.ts';
import type { Repository } from '#sandbox/git-server/repository/repository.ts';
import { createRepository } from '#sandbox/git-server/repository/repository.ts';
import { REPOSITORY_PATH, serve } from '#sandbox/git-server/http/routes.ts';

export interface GitServerOptions {
  /** Default: any free one. */
  readonly port?: number;
  /** A bare repository to go on with, made where there is none. Default: in memory, empty, gone with the server. */
  readonly directory?: string;
  /** Default: none, everyone may fetch and push. */
  readonly credentials?: readonly GitCredential[];
  /** Whether pushes may rewrite branches. Default false, as on a protected branch. */
  readonly allowForcePush?: boolean;
  /** Largest request body, on the wire and unzipped. Default 32 MiB. */
  readonly maxRequestBytes?: number;
  /** Dates the commits that `commit()` makes. */
  readonly clock?: Pick<Clock, 'now'>;
}

/** A git server over HTTP with one repository, on the loopback interface, that needs no git binary. */
export interface SandboxGitServer {
  /** Address to clone from, without credentials: `http://127.0.0.1:<port>/config.git`. */
  readonly url: string;
  /** Commits files to a branch (default `main`) and returns the commit's oid. */
  commit(change: FileChange, branch?: string): Promise<Oid>;
  /** Points a ref at another commit, as a force push would; null deletes it. */
  setRef(ref: string, oid: Oid | null): Promise<void>;
  /** All refs and what they name now. */
  refs(): ReadonlyMap<string, Oid>;
  /** Path → content of a branch's files. */
  files(branch?: string): ReadonlyMap<string, string>;
  /** Annotated commit → note; empty where the ref is not there. */
  readNotes(ref: string): ReadonlyMap<Oid, string>;
  /** Annotated commit → what is beside its note for programs. */
  readNoteData(ref: string): ReadonlyMap<Oid, string>;
  /** The newest commits of a branch, newest first. */
  log(count: number, branch?: string): readonly LogEntry[];
  /** How many requests have arrived so far, those that were made to fail included. */
  requests(): number;
  /** Makes the server fail from now on, or with null work again. Open connections are closed, hanging ones too. */
  setFault(fault: GitFault | null): void;
  /** Closes all connections and the port. */
  stop(): Promise<void>;
}

const MIB = 1024 * 1024;
/** Forges keep idle connections longer than Node does. */
const IDLE_MS = 90_000;
const PACK_LIMITS = { maxObjects: 200_000, maxObjectBytes: 16 * MIB, maxTotalBytes: 256 * MIB };

/** @throws GitServerError `GIT_REPOSITORY_UNREADABLE`; the system's error where the port is taken */
export async function startGitServer(options: GitServerOptions = {}): Promise<SandboxGitServer> {
  const repository = await openRepository(options.directory);
  const clock = options.clock ?? systemClock;
  let fault: GitFault | null = null;
  const served = {
    repository,
    credentials: options.credentials ?? [],
    policy: { allowRewrite: options.allowForcePush ?? false, allowDelete: false },
    limits: { ...PACK_LIMITS, maxRequestBytes: options.maxRequestBytes ?? 32 * MIB },
    fault: () => fault,
  };
  let requests = 0;
  const http = createServer({ keepAliveTimeout: IDLE_MS }, (request, response) => {
    requests += 1;
    void serve(served, request, response);
  });
  http.on('connection', (socket) => {
    if (fault?.kind === 'unreachable') socket.destroy();
  });
  http.listen(options.port ?? 0, '127.0.0.1');
  await once(http, 'listening');
  const { port } = http.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}${REPOSITORY_PATH}`,
    commit: (change, branch = 'main') => commitFiles(repository, branch, change, clock.now()),
    setRef: (ref, oid) => moveRef(repository, ref, { from: repository.refs.get(ref) ?? NO_OID, to: oid ?? NO_OID }),
    refs: () => new Map(repository.refs),
    files: (branch = 'main') => filesOf(repository, `refs/heads/${branch}`),
    readNotes: (ref) => notesOf(repository, ref),
    readNoteData: (ref) => noteDataOf(repository, ref),
    log: (count, branch = 'main') => logOf(repository, `refs/heads/${branch}`, count),
    requests: () => requests,
    setFault(next) {
      fault = next;
      http.closeAllConnections();
    },
    async stop() {
      const closed = once(http, 'close');
      http.close();
      http.closeAllConnections();
      await closed;
    },
  };
}

async function openRepository(directory: string | undefined): Promise<Repository> {
  if (directory === undefined)
    return createRepository({ head: 'refs/heads/main', objects: new Map(), refs: new Map() });
  const opened = await openDirectory(directory);
  return createRepository(opened, opened);
}
