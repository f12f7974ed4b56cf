import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Millis } from '#shared/runtime/clock.ts';

export interface ListenOptions {
  /** 0 for any free one. */
  readonly port: number;
  readonly host: string;
  /** More are turned away. */
  readonly mostConnections: number;
  /** How long a request may take to arrive. */
  readonly requestMs: Millis;
}

export interface Listening {
  readonly port: number;
  /** Breaks every connection. */
  close(): Promise<void>;
}

/** Browsers and scrapers that come back later may as well connect anew. */
const IDLE_MS: Millis = 5_000;

/**
 * Has a server listen, within bounds: nobody can use up its connections for long.
 *
 * @throws the system's error where the port is taken
 */
export async function listen(server: Server, options: ListenOptions): Promise<Listening> {
  server.maxConnections = options.mostConnections;
  server.headersTimeout = options.requestMs;
  server.requestTimeout = options.requestMs;
  server.keepAliveTimeout = IDLE_MS;
  await new Promise<void>((resolve, reject) => {
    // Stays on: what goes wrong with one connection later (no file descriptor left for it) must not end the process.
    server.on('error', reject);
    server.listen(options.port, options.host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
