import { createServer, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from 'node:http';
import type { Clock, Millis } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import { SERVER_TIMEOUTS, listen, type Listening } from '../../../http-server/listen.ts';
import { createTokenBucket } from '../../../http-server/token-bucket.ts';
import type { PageCache } from '../page-cache.ts';
import { parsePageRequest } from '../page-request.ts';
import { serveUpdates } from './server-sent-events.ts';
import { SECURITY_HEADERS } from './headers.ts';
import type { Listeners } from './listeners.ts';
import { readFile } from 'node:fs/promises';
import { etagOf } from '../etag.ts';

/** Who can reach the page: this machine's own programs (and `kubectl port-forward`), or every client that reaches the pod. */
export type Reach = 'local' | 'cluster';

export interface PageServerOptions {
  readonly picture: Pick<PageCache, 'page'>;
  readonly listeners: Pick<Listeners, 'join'>;
  readonly reach: Reach;
  /** 0 for any free one. */
  readonly port: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits?: Partial<PageLimits>;
}

interface PageLimits {
  /** Requests at once, and how fast the allowance grows again. */
  readonly burst: number;
  readonly everyMs: Millis;
}

const LIMITS: PageLimits = { burst: 200, everyMs: 20 };
const MOST_CONNECTIONS = 256;
const LONGEST_ADDRESS = 2_048;
const REQUEST_MS = 10_000;
const TEXT = 'text/plain; charset=utf-8';

/**
 * Serves the status page: reads only, whatever is asked.
 *
 * @throws the system's error where the port is taken
 */
export async function servePage(options: PageServerOptions): Promise<Listening> {
  const { picture, listeners, reach, log } = options;
  const assets = await readAssets();
  const allowance = createTokenBucket(options.clock, { ...LIMITS, ...options.limits });

  function answer(request: IncomingMessage, response: ServerResponse): void {
    const refused = refusalOf(request, reach);
    if (refused !== null) return say(response, refused.status, refused.said, refused.headers);
    const waitMs = allowance.take();
    if (waitMs > 0) {
      return say(response, 429, 'too many requests', { 'retry-after': String(Math.ceil(waitMs / 1000)) });
    }
    const url = URL.parse(request.url ?? '', 'http://page');
    if (url === null) return say(response, 400, 'no address');
    if (url.pathname === '/events') return serveUpdates(request, response, listeners);
    const asset = assets.get(url.pathname);
    if (asset !== undefined) return send(request, response, asset.body, asset);
    const question = parsePageRequest(url.pathname, url.searchParams);
    const page = question === null ? null : picture.page(question);
    if (page === null) return say(response, 404, 'there is no such page');
    send(request, response, page.body, { etag: page.etag, contentType: 'text/html; charset=utf-8' });
  }

  const server = createServer({ ...SERVER_TIMEOUTS, maxHeaderSize: 8_192 }, (request, response) => {
    // A client may be gone at any time; that is no error.
    for (const stream of [request, response]) stream.on('error', () => undefined);
    try {
      answer(request, response);
    } catch (error) {
      // A picture that cannot be drawn must not end the program that looks after the nodes.
      log.error({ err: error }, 'status page could not be made');
      say(response, 500, 'the page could not be made; the log says why');
    }
  });
  const host = reach === 'local' ? '127.0.0.1' : '0.0.0.0';
  return listen(server, { port: options.port, host, mostConnections: MOST_CONNECTIONS, requestMs: REQUEST_MS });
}

interface Refusal {
  readonly status: number;
  readonly said: string;
  readonly headers?: OutgoingHttpHeaders;
}

function refusalOf({ method, url = '', headers }: IncomingMessage, reach: Reach): Refusal | null {
  if (method !== 'GET' && method !== 'HEAD') {
    return { status: 405, said: 'this page only shows', headers: { allow: 'GET, HEAD' } };
  }
  if (url.length > LONGEST_ADDRESS) return { status: 414, said: 'too long' };
  // A web page elsewhere may lead a name of its own to this machine and would then read what is here: no such name is served.
  if (reach === 'local' && !/^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/.test(headers.host ?? '')) {
    return { status: 421, said: 'ask for localhost' };
  }
  return null;
}

function say(response: ServerResponse, status: number, said: string, headers: OutgoingHttpHeaders = {}): void {
  // What may come behind the headers is not read.
  response.writeHead(status, { ...SECURITY_HEADERS, 'content-type': TEXT, connection: 'close', ...headers });
  response.end(`${said}\n`);
}

function send(
  request: IncomingMessage,
  response: ServerResponse,
  body: string | Buffer,
  { etag, contentType }: { readonly etag: string; readonly contentType: string },
): void {
  const tags = request.headers['if-none-match'] ?? '';
  if (tags.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)) {
    return void response.writeHead(304, { ...SECURITY_HEADERS, etag }).end();
  }
  const length = Buffer.byteLength(body);
  response.writeHead(200, { ...SECURITY_HEADERS, etag, 'content-type': contentType, 'content-length': length });
  response.end(request.method === 'HEAD' ? undefined : body);
}

/** A file that is served as it is. */
interface Asset {
  readonly body: Buffer;
  readonly contentType: string;
  readonly etag: string;
}

const FILES = [
  { path: '/style.css', file: 'page.css', contentType: 'text/css; charset=utf-8' },
  { path: '/content.css', file: 'page-content.css', contentType: 'text/css; charset=utf-8' },
  { path: '/live.js', file: 'page.js', contentType: 'text/javascript; charset=utf-8' },
  { path: '/icon.svg', file: 'page.svg', contentType: 'image/svg+xml' },
];

/** The page's own files by path; they lie beside this one, and beside the program in the image. */
async function readAssets(): Promise<ReadonlyMap<string, Asset>> {
  const read = FILES.map(async ({ path, file, contentType }): Promise<[string, Asset]> => {
    const body = await readFile(new URL(`./${file}`, import.meta.url));
    return [path, { body, contentType, etag: etagOf(body) }];
  });
  return new Map(await Promise.all(read));
}
