import { request as overHttp } from 'node:http';
import { type Agent, request as overHttps, type RequestOptions } from 'node:https';
import { isIP } from 'node:net';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import type { Millis } from '#shared/runtime/clock.ts';

/** A proxy that answered, and did not open the tunnel. */
export class TunnelRefused extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`the proxy answers with status ${status}`);
    this.status = status;
  }
}

/**
 * Makes the connections of an agent through a proxy (RFC 9110, 9.3.6), which learns host and port and nothing else.
 *
 * Not left to Node's own `proxyEnv`: with a proxy that never answers, a request of its can neither be called off nor does it end.
 *
 * @param proxy  `http://[user:password@]host:port`, or https
 * @param openMs how long it may take: the request that asked for the tunnel may have ended long before
 */
export function tunnelThrough(agent: Agent, proxy: string, openMs: Millis): Agent {
  const url = new URL(proxy);
  agent.createConnection = (wanted, done) => {
    open(url, wanted, openMs, {
      opened: (socket) => done?.(null, socket),
      // An error comes without a socket, whatever the type says.
      failed: (error) => done?.(error, undefined as never),
    });
    return undefined;
  };
  return agent;
}

interface Outcome {
  readonly opened: (socket: TLSSocket) => void;
  readonly failed: (error: Error) => void;
}

function open(proxy: URL, wanted: RequestOptions, openMs: Millis, { opened, failed }: Outcome): void {
  const host = wanted.host ?? '';
  const to = `${isIP(host) === 6 ? `[${host}]` : host}:${wanted.port ?? 443}`;
  const secure = proxy.protocol === 'https:';
  const asked = {
    host: proxy.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: proxy.port === '' ? (secure ? 443 : 80) : Number(proxy.port),
    method: 'CONNECT',
    path: to,
    headers: { host: to, ...credentialOf(proxy) },
    agent: false as const,
    signal: AbortSignal.timeout(openMs),
  };
  const trusted = wanted.ca === undefined ? {} : { ca: wanted.ca };
  const request = secure ? overHttps({ ...asked, ...trusted }) : overHttp(asked);
  request.once('connect', ({ statusCode = 0 }, socket, head) => {
    // The client speaks first in git and TLS: bytes that are there already are not the server's.
    if (statusCode === 200 && head.length === 0) opened(connect({ ...(wanted as ConnectionOptions), socket }));
    else {
      socket.destroy();
      failed(new TunnelRefused(statusCode));
    }
  });
  request.once('error', failed).end();
}

function credentialOf({ username, password }: URL): { readonly 'proxy-authorization'?: string } {
  if (username === '') return {};
  const said = [username, password].map(decoded).join(':');
  return { 'proxy-authorization': `Basic ${Buffer.from(said).toString('base64')}` };
}

/** As it was meant: a percent sign may have been left as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
