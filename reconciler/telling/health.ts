import { createServer, type ServerResponse } from 'node:http';
import type { Log } from '#shared/runtime/log.ts';
import { listen, type Listening } from '../serving/listen.ts';

/** What the reconciler says of itself to the kubelet that runs it. */
export interface HealthView {
  /** The loop has gone round lately, or is rightly waiting. */
  readonly live: () => boolean;
  /** Everything was seen once, so that decisions can be made. */
  readonly ready: () => boolean;
}

/** Numbers for Prometheus, in the text format that the content type names. */
export interface MetricsText {
  readonly contentType: string;
  text(): Promise<string>;
}

export interface HealthOptions {
  readonly view: HealthView;
  readonly metrics: MetricsText;
  /** 0 for any free one. */
  readonly port: number;
  readonly host?: string;
  readonly log: Log;
}

const MOST_CONNECTIONS = 64;
const REQUEST_MS = 10_000;

/** Serves `/healthz` and `/readyz`: 200 `ok`, or 503 with one word; and `/metrics`. Nothing else is answered. */
export async function serveHealth(options: HealthOptions): Promise<Listening> {
  const { view, metrics, port, host = '0.0.0.0', log } = options;
  const checks: Readonly<Record<string, () => boolean>> = { '/healthz': view.live, '/readyz': view.ready };
  const server = createServer((request, response) => {
    const path = request.method === 'GET' ? (request.url ?? '') : '';
    if (path === '/metrics') return void answerMetrics(metrics, response, log);
    const check = checks[path];
    const status = check === undefined ? 404 : check() ? 200 : 503;
    response.writeHead(status, { 'content-type': 'text/plain' }).end({ 200: 'ok', 404: 'no', 503: 'not yet' }[status]);
  });
  return listen(server, { port, host, mostConnections: MOST_CONNECTIONS, requestMs: REQUEST_MS });
}

async function answerMetrics(metrics: MetricsText, response: ServerResponse, log: Log): Promise<void> {
  try {
    const text = await metrics.text();
    response.writeHead(200, { 'content-type': metrics.contentType }).end(text);
  } catch (error) {
    log.error({ err: error }, 'metrics could not be collected');
    response.writeHead(500, { 'content-type': 'text/plain' }).end('no metrics; the log says why');
  }
}
