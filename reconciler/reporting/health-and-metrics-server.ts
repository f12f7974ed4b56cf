import { createServer, type ServerResponse } from 'node:http';
import type { Clock, Millis } from '#shared/runtime/clock.ts';
import { memoizeFor } from '#shared/runtime/memoize-for.ts';
import type { Log } from '#shared/runtime/log.ts';
import { SERVER_TIMEOUTS, listen, type Listening } from '../http-server/listen.ts';

/** What the reconciler says of itself to the kubelet that runs it. */
export interface HealthView {
  /** The loop has gone round lately, or is rightly waiting. */
  readonly live: () => boolean;
  /** Everything was seen once, so that decisions can be made. */
  readonly ready: () => boolean;
}

/** Numbers for Prometheus, in the text format that the content type names. */
interface MetricsText {
  readonly contentType: string;
  text(): Promise<string>;
}

interface Place {
  /** 0 for any free one. */
  readonly port: number;
  readonly host?: string;
}

interface HealthOptions extends Place {
  readonly view: HealthView;
}

interface MetricsServerOptions extends Place {
  readonly metrics: MetricsText;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly log: Log;
}

const MOST_CONNECTIONS = 64;
const PROBE_MS = 2_000;
const SCRAPE_MS = 5_000;

const TEXT_LASTS_MS: Millis = 1_000;

/**
 * Serves `/healthz` and `/readyz`: 200 `ok`, or 503 with one word. Nothing else is answered, on a port of its own: a client that
 * reaches the pod may hold as many connections as it likes, and the kubelet still gets its answer.
 */
export async function serveHealth({ view, port, host = '0.0.0.0' }: HealthOptions): Promise<Listening> {
  const checks: Readonly<Record<string, () => boolean>> = { '/healthz': view.live, '/readyz': view.ready };
  const server = createServer(SERVER_TIMEOUTS, (request, response) => {
    const path = request.method === 'GET' ? (request.url ?? '') : '';
    const check = Object.hasOwn(checks, path) ? checks[path] : undefined;
    const status = check === undefined ? 404 : check() ? 200 : 503;
    const headers = { 'content-type': 'text/plain', connection: 'close' };
    response.writeHead(status, headers).end({ 200: 'ok', 404: 'no', 503: 'not yet' }[status]);
  });
  return listen(server, {
    port,
    host,
    mostConnections: MOST_CONNECTIONS,
    whenFull: 'drop the oldest',
    requestMs: PROBE_MS,
  });
}

/** Serves `/metrics`, and nothing else. */
export async function serveReconcilerMetrics(options: MetricsServerOptions): Promise<Listening> {
  const { metrics, port, host = '0.0.0.0', log } = options;
  // Thousands of requests can come in one packet: they share a text, and the first answer ends the connection.
  const text = memoizeFor(options.clock, TEXT_LASTS_MS, () => metrics.text());
  const server = createServer(SERVER_TIMEOUTS, (request, response) => {
    if (request.method === 'GET' && request.url === '/metrics') {
      return void answerMetrics({ ...metrics, text }, response, log);
    }
    response.writeHead(404, { 'content-type': 'text/plain', connection: 'close' }).end('no');
  });
  return listen(server, {
    port,
    host,
    mostConnections: MOST_CONNECTIONS,
    whenFull: 'drop the oldest',
    requestMs: SCRAPE_MS,
  });
}

async function answerMetrics(metrics: MetricsText, response: ServerResponse, log: Log): Promise<void> {
  try {
    const text = await metrics.text();
    response.writeHead(200, { 'content-type': metrics.contentType, connection: 'close' }).end(text);
  } catch (error) {
    log.error({ err: error }, 'metrics could not be collected');
    response.writeHead(500, { 'content-type': 'text/plain', connection: 'close' }).end('no metrics; the log says why');
  }
}
