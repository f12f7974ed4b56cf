import { type Agent, request as overHttp } from 'node:http';
import { Agent as HttpsAgent, request as overHttps, type RequestOptions } from 'node:https';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import type { Millis } from '../runtime/clock.ts';
import { openSocks } from './socks.ts';
import { TunnelRefused } from './tunnel-refused.ts';
import { percentDecoded } from '../runtime/lenient.ts';

/**
 * Makes the connections of an agent through a proxy, which learns host and port and nothing else: by CONNECT (RFC 9110, 9.3.6) or
 * SOCKS 5. Only requests over plain http go through an HTTP proxy as they are, as in curl and Go: see `forwarded`.
 *
 * Not left to Node's own `proxyEnv`: with a proxy that never answers, a request of its can neither be called off nor does it end.
 *
 * @param proxy  `http://[user:password@]host:port`, or https, or socks5
 * @param openMs how long it may take: the request that asked for the tunnel may have ended long before
 */
export function tunnelThrough<Any extends Agent>(agent: Any, proxy: string, openMs: Millis): Any {
  const url = new URL(proxy);
  const secure = agent instanceof HttpsAgent;
  const open = isSocks(url) ? viaSocks : secure ? viaConnect : withoutTunnel;
  agent.createConnection = (wanted, done) => {
    void (async () => {
      let socket: Socket;
      try {
        socket = await open(url, wanted, openMs);
      } catch (error) {
        // An error comes without a socket, whatever the type says.
        return done?.(error as Error, undefined as never);
      }
      return done?.(null, secure ? connectTls({ ...(wanted as ConnectionOptions), socket }) : socket);
    })();
    return undefined;
  };
  return agent;
}

/** What a request over plain http has besides its own path and headers where an HTTP proxy hands it on (RFC 9112, 3.2.2). */
export function forwarded(
  proxy: string | undefined,
  server: URL,
): { readonly origin: string; readonly headers: Readonly<Record<string, string>> } {
  if (proxy === undefined || server.protocol === 'https:' || isSocks(new URL(proxy)))
    return { origin: '', headers: {} };
  return { origin: server.origin, headers: credentialOf(new URL(proxy)) };
}

const isSocks = ({ protocol }: URL): boolean => protocol.startsWith('socks5');

type Open = (proxy: URL, wanted: RequestOptions, openMs: Millis) => Promise<Socket>;

const viaSocks: Open = (proxy, wanted, openMs) =>
  openSocks(placeOf(proxy, 1080), credentialsOf(proxy), targetOf(wanted), AbortSignal.timeout(openMs));

const viaConnect: Open = (proxy, wanted, openMs) =>
  new Promise((opened, failed) => {
    const { host, port } = targetOf(wanted);
    const to = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
    const asked = {
      method: 'CONNECT',
      path: to,
      headers: { host: to, ...credentialOf(proxy) },
      agent: false as const,
      signal: AbortSignal.timeout(openMs),
    };
    const request =
      proxy.protocol === 'https:'
        ? overHttps({ ...asked, ...placeOf(proxy, 443), ...trustOf(wanted) })
        : overHttp({ ...asked, ...placeOf(proxy, 80) });
    request.once('connect', ({ statusCode = 0 }, socket: Socket, head) => {
      // The client speaks first in git and TLS: bytes that are there already are not the server's.
      if (statusCode === 200 && head.length === 0) opened(socket);
      else {
        socket.destroy();
        failed(new TunnelRefused(`status ${statusCode}`));
      }
    });
    request.once('error', failed).end();
  });

const withoutTunnel: Open = (proxy, wanted) =>
  Promise.resolve(
    proxy.protocol === 'https:'
      ? connectTls({ ...placeOf(proxy, 443), ...trustOf(wanted) })
      : connectTcp(placeOf(proxy, 80)),
  );

const targetOf = ({ host, port }: RequestOptions): Place => ({ host: host ?? '', port: Number(port ?? 443) });

interface Place {
  readonly host: string;
  readonly port: number;
}

const placeOf = ({ hostname, port }: URL, usual: number): Place => ({
  host: hostname.replace(/^\[(.*)\]$/, '$1'),
  port: port === '' ? usual : Number(port),
});

/** As in Go, a proxy that speaks TLS is believed by the same authorities as the server. */
const trustOf = ({ ca, rejectUnauthorized }: RequestOptions): Pick<ConnectionOptions, 'ca' | 'rejectUnauthorized'> => ({
  ...(ca === undefined ? {} : { ca }),
  ...(rejectUnauthorized === undefined ? {} : { rejectUnauthorized }),
});

const credentialsOf = ({ username, password }: URL): readonly [user: string, password: string] | undefined =>
  username === '' ? undefined : [percentDecoded(username), percentDecoded(password)];

function credentialOf(proxy: URL): { readonly 'proxy-authorization'?: string } {
  const said = credentialsOf(proxy)?.join(':');
  return said === undefined ? {} : { 'proxy-authorization': `Basic ${Buffer.from(said).toString('base64')}` };
}
