import { once } from 'node:events';
import { access, mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BareRepository, createBareRepository, openBareRepository } from './bare-repository.ts';
import { findHttpBackend } from './git-program.ts';
import { callHttpBackend, REPOSITORY } from './http-backend.ts';
import { connectLocally, type LocalRemote } from './local-remote.ts';

export interface GitServerOptions {
  /** Where `config.git` is or is to be made, and stays. Default: a temporary directory, gone with the server. */
  readonly root?: string;
  /** What who sends this `Authorization` header may do. Default: everybody may push. */
  readonly access?: (authorization: string | undefined) => 'push' | 'read' | 'nothing';
  /** Where git's programs are. Default: what git says. */
  readonly execPath?: string;
}

/** One bare repository that `git http-backend` serves on the loopback interface; without that program nothing but the repository. */
export interface SandboxGitServer extends BareRepository {
  /** To clone from, without credentials: `http://127.0.0.1:<port>/config.git`, or the path of a repository that is not served. */
  readonly url: string;
  /** How the reconciler follows a repository that is not served; null where it is. */
  readonly local: LocalRemote | null;
  /** How many requests have arrived so far. */
  requests(): number;
  /** Ends all connections and calls of git, and removes what was temporary. */
  stop(): Promise<void>;
}

const MIB = 1024 * 1024;
const MOST_BYTES = 256 * MIB;
/** Forges keep idle connections longer than Node does. */
const IDLE_MS = 90_000;
/** As on a protected branch. */
const PROTECTED = '[receive]\n\tdenyNonFastForwards = true\n\tdenyDeletes = true\n';

/** @throws GitopsError `SANDBOX_GIT_MISSING` */
export async function startGitServer(options: GitServerOptions = {}): Promise<SandboxGitServer> {
  const { access: accessOf = () => 'push' } = options;
  const program = await findHttpBackend(options.execPath);
  const root = options.root ?? (await mkdtemp(join(tmpdir(), 'sandbox-git-')));
  const directory = join(root, REPOSITORY);
  const isThere = await access(join(directory, 'HEAD')).then(
    () => true,
    () => false,
  );
  if (!isThere) await createBareRepository(directory, { config: PROTECTED });
  const repository = openBareRepository(directory);
  const remove = async (): Promise<void> => {
    if (options.root === undefined) await rm(root, { recursive: true, force: true, maxRetries: 5 });
  };
  if (program === null) {
    const local = await connectLocally(root, directory);
    return { ...repository, url: directory, local, requests: () => 0, stop: remove };
  }

  let requests = 0;
  const calls = new Set<Promise<void>>();
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    const granted = accessOf(request.headers.authorization);
    if (granted === 'nothing') {
      return void response.writeHead(401, { 'www-authenticate': 'Basic realm="kubelet-gitops sandbox"' }).end();
    }
    if (granted === 'read' && request.url?.includes('git-receive-pack') === true) {
      return void response.writeHead(403).end();
    }
    if (body === null) return void response.writeHead(413).end();
    const { status, headers, body: said } = await callHttpBackend(program ?? '', root, request, body);
    response.writeHead(status, { ...headers, 'content-length': said.length }).end(said);
  }
  const http = createServer({ keepAliveTimeout: IDLE_MS }, (request, response) => {
    requests += 1;
    const call = answer(request, response)
      .catch(() => void response.destroy())
      .finally(() => calls.delete(call));
    calls.add(call);
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  return {
    ...repository,
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/${REPOSITORY}`,
    local: null,
    requests: () => requests,
    async stop() {
      const closed = once(http, 'close');
      http.close();
      http.closeAllConnections();
      await closed;
      await Promise.all(calls);
      await remove();
    },
  };
}

/** A request's whole body; null where it is too large, which is read and let go: who is cut off while sending never sees why. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= MOST_BYTES) chunks.push(chunk);
  }
  return length > MOST_BYTES ? null : Buffer.concat(chunks);
}
