import { readFile } from 'node:fs/promises';
import { sendAndCollect } from '#shared/http/body.ts';
import type { Clock, Millis } from '#shared/runtime/clock.ts';
import { GitopsError } from '#shared/runtime/errors.ts';
import { type Lifetime, withLifetime, within } from '#shared/runtime/lifetime.ts';
import { limitConcurrency } from './limit-concurrency.ts';

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
  /** The only origins that are asked, because the address comes from a commit. Absent: all. */
  readonly origins?: readonly string[] | undefined;
  /** The token in a file (read at every call), and the only origin that it is shown to: `https://prometheus.monitoring:9090`. */
  readonly token?: { readonly file: string; readonly origin: string } | undefined;
}

export type WebErrorCode =
  | 'WEB_TIMEOUT'
  | 'WEB_UNREACHABLE'
  | 'WEB_TOO_LONG'
  | 'WEB_ABORTED'
  | 'WEB_FILE'
  | 'WEB_NOT_ALLOWED';

/**
 * Of one server: Prometheus answers as many questions at a time (`--query.max-concurrency`). A change of a base asks for all pools, and
 * a thousand TLS connections take more memory than the Deployment gives. To wait for one counts as to wait for the answer.
 */
const MOST_AT_ONCE = 20;

/**
 * A connection of its own for each call: there are four a minute, and a rotated certificate counts at once.
 *
 * @throws GitopsError with a `WebErrorCode` where there is no whole answer
 */
export function createWebGet({ clock, timeoutMs: ms, maxBytes, caFile, origins, token }: WebOptions): WebGet {
  const onParent = () => failure('WEB_ABORTED', 'it was called off');
  const reason = () => failure('WEB_TIMEOUT', `no complete answer within ${ms / 1000} s`);
  const tooLong = () => failure('WEB_TOO_LONG', `the answer is longer than ${maxBytes} bytes`);
  const turns = new Map<string, ReturnType<typeof limitConcurrency>>();
  return (url, parent) =>
    withLifetime({ clock, parent, onParent, ms, reason }, (life) => {
      if (origins?.includes(url.origin) === false) {
        throw failure(
          'WEB_NOT_ALLOWED',
          'the reconciler may not ask it. Add it to PROMETHEUS_URLS, or name another one',
        );
      }
      const inTurn = turns.get(url.origin) ?? limitConcurrency(MOST_AT_ONCE);
      turns.set(url.origin, inTurn);
      return within(
        life.signal,
        inTurn(() => get(url, life)),
      );
    });

  async function get(url: URL, life: Lifetime): Promise<WebAnswer> {
    life.signal.throwIfAborted();
    const ca = await contentOf(caFile);
    const shown = token?.origin === url.origin ? await contentOf(token.file) : undefined;
    const authorization = shown === undefined ? {} : { authorization: `Bearer ${shown}` };
    const headers = { accept: 'application/json', ...authorization };
    try {
      const outgoing = { method: 'GET', url, headers, over: { agent: false as const, ca } };
      const { status, body } = await sendAndCollect(outgoing, life, { maxBytes, tooLong });
      return { status, text: body.toString('utf8') };
    } catch (error) {
      throw error instanceof GitopsError ? error : failure('WEB_UNREACHABLE', 'no connection', error);
    }
  }
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
