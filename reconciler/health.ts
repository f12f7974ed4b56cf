import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the reconciler says of itself to the kubelet that runs it. */
export interface HealthView {
  /** The loop has gone round lately, or is rightly waiting. */
  readonly live: () => boolean;
  /** Everything was seen once, so that decisions can be made. */
  readonly ready: () => boolean;
}

export interface HealthServer {
  readonly port: number;
  close(): void;
}

/** Numbers for Prometheus, in the text format that the content type names. */
export interface MetricsText {
  readonly contentType: string;
  text(): Promise<string>;
}

/** Serves `/healthz` and `/readyz`: 200 `ok`, or 503 with one word; and `/metrics`. Nothing else is answered. */
export async function serveHealth(
  view: HealthView,
  metrics: MetricsText,
  port: number,
  host = '0.0.0.0',
): Promise<HealthServer> {
  const checks: Readonly<Record<string, () => boolean>> = { '/healthz': view.live, '/readyz': view.ready };
  const server = createServer((request, response) => {
    const path = request.method === 'GET' ? (request.url ?? '') : '';
    if (path === '/metrics') return void answerMetrics(metrics, response);
    const check = checks[path];
    const status = check === undefined ? 404 : check() ? 200 : 503;
    response.writeHead(status, { 'content-type': 'text/plain' }).end({ 200: 'ok', 404: 'no', 503: 'not yet' }[status]);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return { port: (server.address() as AddressInfo).port, close: () => server.close() };
}

async function answerMetrics(metrics: MetricsText, response: ServerResponse): Promise<void> {
  try {
    const text = await metrics.text();
    response.writeHead(200, { 'content-type': metrics.contentType }).end(text);
  } catch {
    response.writeHead(500, { 'content-type': 'text/plain' }).end('no metrics');
  }
}
