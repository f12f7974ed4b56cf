import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { backoffDelay } from '#shared/runtime/backoff.ts';
import { cutSlowReaders } from '#shared/http/slow-readers.ts';
import type { Clock, Millis } from '#shared/runtime/clock.ts';
import { memoizeFor } from '#shared/runtime/memoize-for.ts';
import type { Log } from '#shared/runtime/log.ts';
import { CONTENT_TYPE } from './text-format.ts';

interface AgentMetricsOptions {
  readonly host: string;
  /** 0 takes any free one. */
  readonly port: number;
  readonly text: () => string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly onListening?: (port: number) => void;
}

const BACKOFF = { firstMs: 5_000, maxMs: 5 * 60_000, jitter: 0.2 };
/** Prometheus asks every few seconds; more than a handful at once is no scrape. */
const MOST_CONNECTIONS = 16;
const REQUEST_TIMEOUT_MS = 5_000;
const TEXT_LASTS_MS: Millis = 1_000;

/**
 * Serves `GET /metrics` until the signal aborts. Never rejects: a port that is taken on the host is tried again, because a
 * node must not lose its agent over its metrics.
 */
export async function serveMetrics(options: AgentMetricsOptions, signal: AbortSignal): Promise<void> {
  const { clock, random, log } = options;
  for (let faults = 1; !signal.aborted; faults += 1) {
    try {
      await serveOnce(options, signal);
      return;
    } catch (error) {
      if (faults === 1) log.warn({ err: error }, 'metrics cannot be served: trying again');
      await clock.sleep(backoffDelay(faults, BACKOFF, random()), signal);
    }
  }
}

function serveOnce(options: AgentMetricsOptions, signal: AbortSignal): Promise<void> {
  const { host, port, onListening } = options;
  // Thousands of requests can come in one packet: they share a text, and the first answer ends the connection.
  const text = memoizeFor(options.clock, TEXT_LASTS_MS, options.text);
  const headers = { 'content-type': CONTENT_TYPE, connection: 'close' };
  return new Promise((resolve, reject) => {
    // Node looks for requests that take too long only every half a minute by default.
    const server = createServer({ connectionsCheckingInterval: 1_000 }, (request, response) => {
      const known = request.method === 'GET' && request.url === '/metrics';
      if (known) response.writeHead(200, headers).end(text());
      else response.writeHead(404, { 'content-type': 'text/plain', connection: 'close' }).end('no');
    });
    cutSlowReaders(server);
    server.maxConnections = MOST_CONNECTIONS;
    server.requestTimeout = REQUEST_TIMEOUT_MS;
    server.headersTimeout = REQUEST_TIMEOUT_MS;
    const close = (): void => {
      server.close();
      server.closeAllConnections();
    };
    // Also later, where no file descriptor is left for a connection: then it is begun again.
    server.on('error', (error) => {
      reject(error);
      close();
    });
    server.once('close', () => {
      signal.removeEventListener('abort', close);
      resolve();
    });
    signal.addEventListener('abort', close);
    server.listen(port, host, () => onListening?.((server.address() as AddressInfo).port));
  });
}
