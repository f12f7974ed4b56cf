import { readFile } from 'node:fs/promises';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { createLifetime, type Lifetime } from '#shared/runtime/lifetime.ts';
import type { Clock, Millis } from '#shared/runtime/clock.ts';
import { GitopsError } from '#shared/runtime/errors.ts';

export interface WebAnswer {
  readonly status: number;
  readonly text: string;
}

/** The one call that blockers make: a GET that ends, follows no redirect and reads no more than it was meant to. */
export type WebGet = (url: URL, signal: AbortSignal) => Promise<WebAnswer>;

export interface WebOptions {
  readonly clock: Clock;
  /** From the connection to the answer's last byte. */
  readonly timeoutMs: Millis;
  readonly maxBytes: number;
  /** PEM file of authorities that are trusted instead of the well-known ones; read at every call. */
  readonly caFile?: string | undefined;
  /** The token in a file (read at every call), and the only origin that it is shown to: `https://prometheus.monitoring:9090`. */
  readonly token?: { readonly file: string; readonly origin: string } | undefined;
}

export type WebErrorCode = 'WEB_TIMEOUT' | 'WEB_UNREACHABLE' | 'WEB_TOO_LONG' | 'WEB_ABORTED' | 'WEB_FILE';

/** @throws GitopsError with a `WebErrorCode` where there is no whole answer */
export function createWebGet(options: WebOptions): WebGet {
  const { clock, timeoutMs } = options;
  return async (url, signal) => {
    const life = createLifetime(clock, signal, () => failure('WEB_ABORTED', 'it was called off'));
    life.cutAfter(timeoutMs, () => failure('WEB_TIMEOUT', `no complete answer within ${timeoutMs / 1000} s`));
    try {
      const ca = await contentOf(options.caFile);
      const token = options.token?.origin === url.origin ? await contentOf(options.token.file) : undefined;
      return await exchange(url, { ca, token, maxBytes: options.maxBytes }, life);
    } finally {
      life.end();
    }
  };
}

interface Means {
  readonly ca: string | undefined;
  readonly token: string | undefined;
  readonly maxBytes: number;
}

/** A connection of its own for each call: there are four a minute, and a rotated certificate counts at once. */
async function exchange(url: URL, { ca, token, maxBytes }: Means, { signal }: Lifetime): Promise<WebAnswer> {
  const headers = { accept: 'application/json', ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) };
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const options = { headers, agent: false, signal } as const;
  const sent =
    url.protocol === 'https:'
      ? requestHttps(url, { ...options, ...(ca === undefined ? {} : { ca }) })
      : requestHttp(url, options);
  sent.on('response', resolve).on('error', reject).end();
  try {
    const response = await promise;
    return { status: response.statusCode ?? 0, text: await textOf(response, maxBytes) };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof GitopsError) throw error;
    throw failure('WEB_UNREACHABLE', 'no connection', error);
  } finally {
    sent.destroy();
  }
}

async function textOf(response: IncomingMessage, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw failure('WEB_TOO_LONG', `the answer is longer than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

async function contentOf(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined;
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    throw failure('WEB_FILE', `${file} cannot be read`, error);
  }
}

const failure = (code: WebErrorCode, message: string, cause?: unknown): GitopsError<WebErrorCode> =>
  new GitopsError(code, message, cause === undefined ? {} : { cause });
