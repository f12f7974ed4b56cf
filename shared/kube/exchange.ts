import { type Agent, type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Millis } from '../runtime/clock.ts';
import { TCP_KEEP_ALIVE_MS } from './connections.ts';
import type { Lifetime } from './lifetime.ts';

export interface Outgoing {
  readonly server: URL;
  /** Below the server's own path. */
  readonly path: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly agent: Agent;
}

export type Exchanged =
  | { readonly kind: 'answered'; readonly response: IncomingMessage }
  /** No answer. `stale`: on a kept connection that the server may have closed before the request was on its way. */
  | { readonly kind: 'broken'; readonly error: unknown; readonly stale: boolean };

export interface ConnectLimit {
  readonly ms: Millis;
  readonly reason: () => unknown;
}

/**
 * Sends one HTTP request and resolves when the answer's head is there. The end of the lifetime destroys the connection,
 * during the body as well. Never follows a redirect, never rejects.
 */
export function exchange(outgoing: Outgoing, life: Lifetime, connectLimit: ConnectLimit): Promise<Exchanged> {
  return new Promise((resolve) => {
    const broken = (error: unknown, stale = false): void => resolve({ kind: 'broken', error, stale });
    if (life.signal.aborted) return broken(life.signal.reason);
    try {
      const request = open(outgoing);
      life.signal.addEventListener('abort', () => request.destroy(life.signal.reason as Error));
      request.on('error', (error) => broken(error, request.reusedSocket));
      request.on('response', (response) => {
        // Heard by whoever reads the body; one that is cut before that must not end the process.
        response.on('error', () => undefined);
        life.signal.addEventListener('abort', () => response.destroy(life.signal.reason as Error));
        resolve({ kind: 'answered', response });
      });
      request.on('socket', (socket) => {
        socket.setKeepAlive(true, TCP_KEEP_ALIVE_MS);
        if (!socket.connecting) return;
        const disarm = life.cutAfter(connectLimit.ms, connectLimit.reason);
        socket.once(outgoing.server.protocol === 'https:' ? 'secureConnect' : 'connect', disarm);
      });
      request.end(outgoing.body);
    } catch (error) {
      broken(error);
    }
  });
}

/** The path goes out as it is: a URL would fold `..` in a name into another object's path. */
function open({ server, path, method, headers, body, agent }: Outgoing): ClientRequest {
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  const request = server.protocol === 'https:' ? requestHttps : requestHttp;
  return request({
    protocol: server.protocol,
    hostname: server.hostname.replaceAll(/^\[|\]$/g, ''),
    port: server.port,
    path: server.pathname.replace(/\/$/, '') + path,
    method,
    agent,
    headers: { ...headers, ...length },
  });
}
