import { type IncomingMessage, request as overHttp } from 'node:http';
import { request as overHttps } from 'node:https';
import type { Clock, Millis } from '#shared/runtime/clock.ts';
import { codeOf } from '#shared/runtime/errors.ts';
import { VERSION } from '#shared/runtime/version.ts';
import type { Connections } from '../../git/http/connections.ts';
import { TunnelRefused } from '../../git/http/tunnel.ts';
import { ForgeError } from './errors.ts';
import type { ForgeRequest } from './forges.ts';
import { forgeErrorOf, UNTIL_OPERATOR } from './answer-error.ts';

/** Sends a request to the forge. @returns its answer's JSON @throws ForgeError */
export type AskForge = (request: ForgeRequest, signal: AbortSignal) => Promise<unknown>;

export interface AskOptions {
  readonly connections: Connections;
  /** Taken out of whatever the forge says. */
  readonly token: () => string;
  readonly clock: Pick<Clock, 'now'>;
  readonly timeoutMs?: Millis;
}

const LONGEST_ANSWER = 2 * 1024 * 1024;

/** One request, one answer; redirects are not followed, because the token goes along. */
export function createAsk({ connections, token, clock, timeoutMs = 10_000 }: AskOptions): AskForge {
  const withoutToken = (text: string): string => (token() === '' ? text : text.replaceAll(token(), '***'));
  return async (request, signal) => {
    const url = new URL(request.url);
    const way = await connections.current();
    const secure = url.protocol === 'https:';
    const body = request.body === undefined ? undefined : Buffer.from(JSON.stringify(request.body));
    const options = {
      method: request.method,
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      headers: {
        'user-agent': `kubelet-gitops/${VERSION}`,
        ...request.headers,
        ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': String(body.length) }),
      },
    };
    try {
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        const sent = secure
          ? overHttps(url, { ...options, agent: way.https.agent })
          : overHttp(url, { ...options, agent: way.http.agent });
        sent.once('response', resolve).once('error', reject).end(body);
      });
      const text = await collect(response);
      const status = response.statusCode ?? 0;
      if (status < 200 || status > 299) throw forgeErrorOf(response, url, withoutToken(text), clock.now());
      return parse(text, url);
    } catch (error) {
      if (error instanceof ForgeError) throw error;
      const why =
        error instanceof TunnelRefused
          ? error.message
          : (codeOf(error) ?? (error instanceof Error ? error.name : 'no reason given'));
      throw new ForgeError('FORGE_UNREACHABLE', `no answer from the forge at ${url.host} (${why})`);
    }
  };
}

async function collect(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > LONGEST_ANSWER) throw new ForgeError('FORGE_UNREADABLE', 'the forge’s answer does not come to an end');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parse(text: string, { host }: URL): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new ForgeError('FORGE_UNREADABLE', `${host} does not answer as a forge's API: is FORGE_API_URL right?`, {
      disposition: UNTIL_OPERATOR,
    });
  }
}
