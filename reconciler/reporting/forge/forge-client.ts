import { sendAndCollect } from '#shared/http/body.ts';
import { type Clock, type Millis, systemClock } from '#shared/runtime/clock.ts';
import { codeOf } from '#shared/runtime/errors.ts';
import { withLifetime } from '#shared/runtime/lifetime.ts';
import { VERSION } from '#shared/runtime/version.ts';
import type { ConnectionAgents } from '../../git/http/connection-agents.ts';
import { TunnelRefused } from '#shared/http/tunnel-refused.ts';
import { ForgeError } from './errors.ts';
import type { ForgeRequest } from './forges.ts';
import { forgeErrorOf } from './forge-http-error.ts';
import { jsonIn } from '#shared/runtime/lenient.ts';

/** Sends a request to the forge. @returns its answer's JSON @throws ForgeError */
export type CallForge = (request: ForgeRequest, signal: AbortSignal) => Promise<unknown>;

interface ForgeClientOptions {
  readonly connections: ConnectionAgents;
  /** Taken out of whatever the forge says. */
  readonly token: () => string;
  readonly clock: Pick<Clock, 'now'>;
  readonly timeoutMs?: Millis;
}

const LONGEST_ANSWER = 2 * 1024 * 1024;

/** One request, one answer; redirects are not followed, because the token goes along. */
export function createForgeClient({ connections, token, clock, timeoutMs = 10_000 }: ForgeClientOptions): CallForge {
  const withoutToken = (text: string): string => (token() === '' ? text : text.replaceAll(token(), '***'));
  return async (request, signal) => {
    const url = new URL(request.url);
    const way = await connections.current();
    const body = request.body === undefined ? undefined : JSON.stringify(request.body);
    const outgoing = {
      method: request.method,
      url,
      headers: {
        'user-agent': `kubelet-gitops/${VERSION}`,
        ...request.headers,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body,
      over: { agent: (url.protocol === 'https:' ? way.https : way.http).agent },
      // A status that is posted twice is there twice.
      repeatable: request.method === 'GET',
    };
    const limits = {
      // Sockets take real time, whatever clock the rounds use.
      clock: systemClock,
      parent: signal,
      onParent: () => unreachable(url, 'called off'),
      ms: timeoutMs,
      reason: () => unreachable(url, `no complete answer within ${timeoutMs / 1000} s`),
    };
    try {
      const answer = await withLifetime(limits, (life) => sendAndCollect(outgoing, life, BOUNDS));
      const text = answer.body.toString('utf8');
      if (answer.status < 200 || answer.status > 299) throw forgeErrorOf(answer, url, withoutToken(text), clock.now());
      return parse(text, url);
    } catch (error) {
      if (error instanceof ForgeError) throw error;
      const why = error instanceof TunnelRefused ? error.message : (codeOf(error) ?? 'no reason given');
      throw unreachable(url, why);
    }
  };
}

const BOUNDS = {
  maxBytes: LONGEST_ANSWER,
  tooLong: () => new ForgeError('FORGE_UNREADABLE', 'the forge’s answer does not come to an end'),
};

const unreachable = (url: URL, why: string): ForgeError =>
  new ForgeError('FORGE_UNREACHABLE', `no answer from the forge at ${url.host} (${why})`);

function parse(text: string, { host }: URL): unknown {
  const value = jsonIn(text);
  if (value !== undefined) return value;
  throw new ForgeError('FORGE_UNREADABLE', `${host} does not answer as a forge's API: is FORGE_API_URL right?`);
}
