import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer, type ServerOptions } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';

export interface Seen {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** What the server does with one request. */
export type Turn = (response: ServerResponse, seen: Seen, socket: Socket) => void;

/** A server on the loopback that plays a script, one turn a request, and says what it saw. */
export interface ScriptedServer extends AsyncDisposable {
  readonly url: string;
  readonly seen: readonly Seen[];
  /** Adds turns to the end of the script. */
  play(...turns: readonly Turn[]): void;
  /** Connections that were ever made. */
  accepted(): number;
  /** Connections that are open now. */
  open(): number;
}

export async function scriptedServer(tls?: ServerOptions): Promise<ScriptedServer> {
  const script: Turn[] = [];
  const seen: Seen[] = [];
  const sockets = new Set<Socket>();
  let accepted = 0;

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const one: Seen = {
      method: request.method ?? '',
      url: new URL(request.url ?? '/', 'http://server'),
      headers: request.headers,
      body: Buffer.concat(chunks).toString('utf8'),
    };
    seen.push(one);
    const turn = script.shift() ?? status(500, 'the script is over');
    turn(response, one, request.socket);
  };
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    answer(request, response).catch(() => request.socket.destroy());
  };

  const server = tls === undefined ? createHttpServer(listener) : createHttpsServer(tls, listener);
  server.keepAliveTimeout = 0;
  server.on(tls === undefined ? 'connection' : 'secureConnection', (socket: Socket) => {
    accepted += 1;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    seen,
    play: (...turns) => void script.push(...turns),
    accepted: () => accepted,
    open: () => sockets.size,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** A server that plays this script, over plain HTTP. */
export async function playing(...turns: readonly Turn[]): Promise<ScriptedServer> {
  const server = await scriptedServer();
  server.play(...turns);
  return server;
}

/** Answers with an object. */
export const json =
  (body: unknown, code = 200, headers: Readonly<Record<string, string>> = {}): Turn =>
  (response) => {
    response.writeHead(code, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };

/** Answers with a Status, as the API server refuses. */
export const status = (
  code: number,
  message: string,
  more: Readonly<Record<string, unknown>> = {},
  headers: Readonly<Record<string, string>> = {},
): Turn => json({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code, message, ...more }, code, headers);

/** Answers with anything at all. */
export const text =
  (body: string | Buffer, code = 200, headers: Readonly<Record<string, string>> = {}): Turn =>
  (response) => {
    response.writeHead(code, headers);
    response.end(body);
  };

/** Resets the connection without an answer. */
export const reset: Turn = (_response, _seen, socket) => void socket.resetAndDestroy();

/** Says nothing, forever. */
export const hang: Turn = () => undefined;

/** Begins a watch and hands its stream to the test. */
export const stream =
  (started: (response: ServerResponse) => void): Turn =>
  (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    started(response);
  };

/** A watch that says these events, and then ends cleanly. */
export const events = (...all: readonly unknown[]): Turn => text(all.map((one) => `${JSON.stringify(one)}\n`).join(''));

/** An object as events and lists carry it. */
export const node = (name: string, resourceVersion: string, more: Readonly<Record<string, unknown>> = {}) => ({
  metadata: { name, resourceVersion },
  ...more,
});

export const list = (resourceVersion: string, items: readonly unknown[], next = '') => ({
  kind: 'List',
  metadata: { resourceVersion, continue: next },
  items,
});
