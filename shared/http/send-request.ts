import { Agent, type ClientRequest, type IncomingMessage, request as overHttp } from 'node:http';
import { request as overHttps, type RequestOptions } from 'node:https';
import type { Lifetime, Limit } from '../runtime/lifetime.ts';
import { closeIdle, TCP_KEEP_ALIVE_MS } from './keep-alive.ts';

export interface OutgoingRequest {
  readonly method: string;
  readonly url: URL;
  /** Path and query to send instead of the URL's own: a URL would fold a `..` in an object's name. */
  readonly path?: string;
  /** A list is sent as a header for each. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Uint8Array | undefined;
  /** An agent with kept connections, an open connection, or `agent: false` for a new one. */
  readonly over: Pick<RequestOptions, 'agent' | 'ca' | 'createConnection'>;
  /** The server may see it twice: it is sent once more, on a new connection, if a kept one turns out to be closed. */
  readonly repeatable?: boolean;
  /** Longest wait for a connection, TLS included. */
  readonly connect?: Limit;
  /** Longest wait for the head of the answer once there is a connection. */
  readonly silence?: Limit;
}

/**
 * Sends one HTTP request and resolves with the head of the answer. A cut of the lifetime destroys the connection, also
 * while the body is read. Never follows a redirect.
 *
 * @throws the lifetime's reason after a cut, otherwise the error of node:http; neither holds a credential
 */
export async function sendRequest(outgoing: OutgoingRequest, life: Lifetime): Promise<IncomingMessage> {
  let sent = await send(outgoing, life);
  if (sent.stale === true) {
    // What closed one kept connection, such as a server that started again, closed the others too, which may not be known here yet.
    if (outgoing.over.agent instanceof Agent) closeIdle(outgoing.over.agent);
    if (outgoing.repeatable === true) sent = await send(outgoing, life);
  }
  life.signal.throwIfAborted();
  if (sent.response === undefined) throw sent.error;
  return sent.response;
}

interface Sent {
  readonly response?: IncomingMessage;
  readonly error?: unknown;
  /** It went out on a kept connection, which the server may have closed before the request arrived. */
  readonly stale?: boolean;
}

function send({ connect, silence, ...outgoing }: OutgoingRequest, life: Lifetime): Promise<Sent> {
  return new Promise((resolve) => {
    if (life.signal.aborted) return resolve({});
    const request = open(outgoing);
    let disarm = arm(life, connect);
    let response: IncomingMessage | undefined;
    const settle = (sent: Sent): void => {
      disarm();
      resolve(sent);
    };
    life.signal.addEventListener('abort', () => {
      const error = life.signal.reason as Error;
      request.destroy(error);
      response?.destroy(error);
      // A request that still waits for a connection emits nothing when it is destroyed.
      settle({});
    });
    request.on('error', (error) => settle({ error, stale: request.reusedSocket }));
    request.on('response', (answer) => {
      // The reader of the body gets the error too. Without a listener, one that comes earlier would end the process.
      response = answer.on('error', () => undefined);
      settle({ response });
    });
    request.on('socket', (socket) => {
      socket.setKeepAlive(true, TCP_KEEP_ALIVE_MS);
      const connected = (): void => {
        disarm();
        disarm = arm(life, silence);
      };
      if (!socket.connecting) return connected();
      socket.once(outgoing.url.protocol === 'https:' ? 'secureConnect' : 'connect', connected);
    });
    request.end(outgoing.body);
  });
}

function open({ url, path, method, headers, body, over }: OutgoingRequest): ClientRequest {
  const request = url.protocol === 'https:' ? overHttps : overHttp;
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
  return request(url, {
    ...over,
    method,
    path: path ?? url.pathname + url.search,
    headers: { ...headers, ...length },
  });
}

/** Starts a limit, if there is one. @returns disarms it */
export const arm = (life: Lifetime, limit: Limit | undefined): (() => void) =>
  limit === undefined ? () => undefined : life.cutAfter(limit.ms, limit.reason);
