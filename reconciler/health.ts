import { createServer } from 'node:http';
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

/** Serves `/healthz` and `/readyz`: 200 `ok`, or 503 with one word. Nothing else is answered. */
export async function serveHealth(view: HealthView, port: number, host = '0.0.0.0'): Promise<HealthServer> {
  const server = createServer((request, response) => {
    const checks: Readonly<Record<string, () => boolean>> = { '/healthz': view.live, '/readyz': view.ready };
    const check = request.method === 'GET' ? checks[request.url ?? ''] : undefined;
    const status = check === undefined ? 404 : check() ? 200 : 503;
    response.writeHead(status, { 'content-type': 'text/plain' }).end({ 200: 'ok', 404: 'no', 503: 'not yet' }[status]);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return { port: (server.address() as AddressInfo).port, close: () => server.close() };
}
