import { type ClientRequest, type IncomingMessage, request as overHttp } from 'node:http';
import { request as overHttps } from 'node:https';
import { codeOf } from '#shared/runtime/errors.ts';
import { GitError, UNTIL_OPERATOR } from '../errors.ts';
import type { Enough } from '../wire/session.ts';
import type { Agents } from './connections.ts';
import type { Patience } from '../patience.ts';
import { TunnelRefused } from './tunnel.ts';

export interface Ask {
  readonly method: 'GET' | 'POST';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Empty for a GET. */
  readonly body: Uint8Array;
  /** Longest answer that is read. */
  readonly maxBytes: number;
  readonly enough?: Enough | undefined;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** Whole for status 200; the beginning of it otherwise. */
  readonly body: Buffer;
}

/** Of an answer that is no success, this much is kept for the error message. */
const MOST_OF_A_REFUSAL = 4096;
const HEAD_BYTES = 8;

/**
 * One request and its answer. A kept connection that the server closed at the same moment is replaced once.
 *
 * @throws GitError `GIT_UNREACHABLE`, `GIT_UNTRUSTED`, `GIT_CUT`, `GIT_TOO_BIG`, or what patience was lost with
 */
export async function exchange(ask: Ask, agents: Agents, patience: Patience): Promise<Answer> {
  try {
    return await send(ask, agents, patience);
  } catch (error) {
    if (!(error instanceof StaleConnection)) throw error;
    return send(ask, agents, patience);
  }
}

/** What writing to a connection ends with that the server closed: which of them is a matter of a moment. */
const GONE: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE']);

/** The request went out on a kept connection that was gone: the server never saw it. */
class StaleConnection extends Error {}

async function send(ask: Ask, agents: Agents, patience: Patience): Promise<Answer> {
  const secure = ask.url.protocol === 'https:';
  const options = { method: ask.method, headers: ask.headers, signal: patience.signal };
  const request = secure
    ? overHttps(ask.url, { ...options, agent: agents.https })
    : overHttp(ask.url, { ...options, agent: agents.http });
  request.once('socket', (socket) => {
    if (!socket.connecting) return patience.connected();
    socket.once(secure ? 'secureConnect' : 'connect', () => patience.connected());
  });
  const response = await answerTo(request, ask, agents.through[secure ? 'https' : 'http'], patience);
  try {
    return {
      status: response.statusCode ?? 0,
      headers: response.headers,
      body: await collect(response, ask, patience),
    };
  } catch (error) {
    if (patience.signal.aborted) throw patience.signal.reason;
    if (error instanceof GitError) throw error;
    throw new GitError('GIT_CUT', `the answer of ${ask.url.host} broke off (${codeOf(error) ?? 'no reason given'})`);
  } finally {
    if (!response.complete) response.destroy();
  }
}

function answerTo(
  request: ClientRequest,
  ask: Ask,
  proxy: string | undefined,
  patience: Patience,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once('response', resolve);
    request.on('error', (error) => {
      if (patience.signal.aborted) reject(patience.signal.reason);
      else if (request.reusedSocket && GONE.has(codeOf(error) ?? '')) reject(new StaleConnection());
      else reject(unreachable(ask.url, proxy, error));
    });
    // A request that still waits for its connection does not hear of the end of patience by itself.
    const giveUp = (): void => reject(patience.signal.reason);
    patience.signal.addEventListener('abort', giveUp, { once: true });
    if (patience.signal.aborted) giveUp();
    request.end(ask.body);
  });
}

async function collect(response: IncomingMessage, ask: Ask, patience: Patience): Promise<Buffer> {
  const success = response.statusCode === 200;
  const chunks: Buffer[] = [];
  let bytes = 0;
  let looked = ask.enough === undefined;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    patience.heard();
    chunks.push(chunk);
    bytes += chunk.length;
    if (!success && bytes >= MOST_OF_A_REFUSAL) break;
    if (bytes > ask.maxBytes) throw tooLong(ask);
    if (success && !looked && bytes >= HEAD_BYTES) {
      looked = true;
      if (ask.enough?.(Buffer.concat(chunks)) === true) break;
    }
  }
  return Buffer.concat(chunks);
}

function tooLong({ url, maxBytes }: Ask): GitError {
  return new GitError('GIT_TOO_BIG', `${url.host} sends more than the ${maxBytes} bytes that are read of one answer`, {
    disposition: UNTIL_OPERATOR,
  });
}

/** Codes of node:tls (OpenSSL's) for a certificate that is no good. */
const TRUST = /^(?:UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|CERT_|INVALID_CA|ERR_TLS_CERT|HOSTNAME_MISMATCH)/;

/** The alerts (RFC 8446, 6.2) with which a server refuses what it was shown, or that it was shown nothing. */
const CLIENT_CERTIFICATE = /^ERR_SSL_.*ALERT_(?:.*CERTIFICATE|UNKNOWN_CA|HANDSHAKE_FAILURE)/;

function unreachable(url: URL, proxy: string | undefined, cause: Error): GitError {
  const code = codeOf(cause) ?? '';
  if (TRUST.test(code)) {
    return new GitError(
      'GIT_UNTRUSTED',
      `the certificate of ${url.host} is not trusted (${code}): is a private certificate authority missing?`,
      { disposition: UNTIL_OPERATOR, cause },
    );
  }
  if (CLIENT_CERTIFICATE.test(code)) {
    return new GitError(
      'GIT_UNAUTHORIZED',
      `${url.host} wants a certificate of ours, or another one (${code}): put tls.crt and tls.key beside the git credential`,
      { disposition: UNTIL_OPERATOR, cause },
    );
  }
  const way = proxy === undefined ? '' : ` through the proxy ${proxy}`;
  const status = cause instanceof TunnelRefused ? `status ${cause.status}` : code;
  return new GitError('GIT_UNREACHABLE', `no answer from ${url.host}${way}${status === '' ? '' : ` (${status})`}`, {
    cause,
  });
}
