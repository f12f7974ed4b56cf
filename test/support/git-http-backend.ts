import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer as createHttp, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttps } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { createBareRepository } from '#sandbox/git-server/bare-repository.ts';
import { findHttpBackend } from '#sandbox/git-server/git-program.ts';
import { callHttpBackend, REPOSITORY } from '#sandbox/git-server/http-backend.ts';
import { type NativeGit, nativeGit } from '../sandbox/git-server/support/native-git.ts';

/** The requests that a call on a repository is made of. */
export type GitRequestKind = 'greeting' | 'refs' | 'pack' | 'push-greeting' | 'push';

/** How the server spoils the right answer. */
export type GitFault =
  /** Never answers. */
  | 'hang'
  /** Half of the answer, then silence. */
  | 'stall'
  /** A byte a time. */
  | 'drip'
  /** Half of what was announced, then the connection is gone. */
  | 'cut'
  /** Half of the answer, ended as if that were all. */
  | 'clean-cut'
  /** Status 200 and not a byte. */
  | 'empty'
  /** The connection is closed before an answer. */
  | 'reset'
  /** One bit is wrong, that far into the answer (0 to 1). */
  | { readonly flipAt: number }
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string };

export interface SeenRequest {
  readonly kind: GitRequestKind;
  readonly url: string;
  readonly authorization: string | undefined;
}

export interface BackendOptions {
  /** With `ca` and `requestCert` it talks only to clients that show a certificate of that authority. */
  readonly tls?: { readonly key: string; readonly cert: string; readonly ca?: string; readonly requestCert?: boolean };
  /** For `git init`. */
  readonly init?: readonly string[];
}

/** The real `git http-backend` behind a loopback server that can be told to fail. */
export interface GitHttpBackend {
  /** Of the repository `config.git`. */
  readonly url: string;
  readonly origin: string;
  /** The real git inside the bare repository. */
  readonly git: NativeGit;
  readonly requests: readonly SeenRequest[];
  /** Bytes on the sockets since the last call of this function, HTTP headers and all. */
  wire(): { readonly up: number; readonly down: number };
  /** Asked at each request; a fault spoils it. */
  fault: (kind: GitRequestKind, request: IncomingMessage) => GitFault | null | Promise<GitFault | null>;
  /** What the holder of a credential may do. */
  access: (authorization: string | undefined) => 'push' | 'read' | 'nothing';
}

/** Fails loudly where the git binary is missing: without it nothing here proves anything. */
export async function startGitHttpBackend(
  t: Pick<TestContext, 'after'>,
  options: BackendOptions = {},
): Promise<GitHttpBackend> {
  const root = await mkdtemp(join(tmpdir(), 'git-http-backend-'));
  const directory = join(root, REPOSITORY);
  await createBareRepository(directory, options);
  const git = nativeGit(directory);
  const program = await findHttpBackend();
  assert.ok(program !== null, 'this git has no http-backend');

  const requests: SeenRequest[] = [];
  const sockets = new Set<Socket>();
  const counted = { up: 0, down: 0 };
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    void answer(request, response).catch(() => response.destroy());
  };
  const http = options.tls === undefined ? createHttp(listener) : createHttps(options.tls, listener);
  // A test that counts on a kept connection may be held up for longer than the usual five seconds.
  http.keepAliveTimeout = 600_000;
  http.on('connection', (socket: Socket) => sockets.add(socket));
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  t.after(async () => {
    http.close();
    http.closeAllConnections();
    await rm(root, { recursive: true, force: true, maxRetries: 5 });
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { authorization } = request.headers;
    const kind = kindOf(request);
    requests.push({ kind, url: request.url ?? '', authorization });
    const body = await collect(request);
    const fault = await backend.fault(kind, request);
    if (fault === 'hang') return;
    if (fault === 'reset') return void request.socket.destroy();
    if (typeof fault === 'object' && fault !== null && 'status' in fault) {
      response.writeHead(fault.status, { 'content-type': 'text/plain', ...fault.headers }).end(fault.body ?? '');
      return;
    }
    const access = backend.access(authorization);
    if (access === 'nothing') return void response.writeHead(401, { 'www-authenticate': 'Basic' }).end();
    if (access === 'read' && kind.startsWith('push')) return void response.writeHead(403).end();
    const right = await callHttpBackend(program ?? '', root, request, body);
    response.writeHead(right.status, right.headers);
    spoil(response, right.body, fault);
  }

  const protocol = options.tls === undefined ? 'http' : 'https';
  const origin = `${protocol}://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const backend: GitHttpBackend = {
    url: `${origin}/${REPOSITORY}`,
    origin,
    git,
    requests,
    wire() {
      const now = { up: 0, down: 0 };
      for (const socket of sockets) {
        now.up += socket.bytesRead;
        now.down += socket.bytesWritten;
      }
      const since = { up: now.up - counted.up, down: now.down - counted.down };
      Object.assign(counted, now);
      return since;
    },
    fault: () => null,
    access: () => 'push',
  };
  return backend;
}

function kindOf(request: IncomingMessage): GitRequestKind {
  const push = request.url?.includes('git-receive-pack') === true;
  if (request.method === 'GET') return push ? 'push-greeting' : 'greeting';
  if (push) return 'push';
  return request.headers['git-protocol'] === 'version=2' ? 'refs' : 'pack';
}

async function collect(stream: NodeJS.ReadableStream): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

type Spoiling = Exclude<GitFault, { readonly status: number }> | null;

function spoil(response: ServerResponse, right: Buffer, fault: Spoiling): void {
  if (typeof fault === 'object' && fault !== null) return void response.end(flip(right, fault.flipAt));
  const half = right.subarray(0, Math.floor(right.length / 2));
  switch (fault) {
    case null:
      response.end(right);
      return;
    case 'stall':
      response.write(half);
      return;
    case 'drip':
      drip(response, right);
      return;
    case 'cut':
      response.write(half, () => response.destroy());
      return;
    case 'clean-cut':
      response.end(half);
      return;
    case 'hang':
    case 'reset':
    case 'empty':
      response.end();
  }
}

function flip(right: Buffer, part: number): Buffer {
  const wrong = Buffer.from(right);
  const at = Math.min(right.length - 1, Math.floor(right.length * part));
  wrong[at] = (wrong[at] ?? 0) ^ 4;
  return wrong;
}

/** So slow that it never ends, and never silent for long. */
function drip(response: ServerResponse, right: Buffer): void {
  let at = 0;
  const timer = setInterval(() => {
    // Whoever asked may have gone before the first drop.
    if (response.destroyed) clearInterval(timer);
    else response.write(right.subarray(at, (at += 1)));
  }, 5);
}
