import type { Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { cutSlowReaders } from '#shared/http/slow-readers.ts';
import type { Millis } from '#shared/runtime/clock.ts';

interface ListenOptions {
  /** 0 for any free one. */
  readonly port: number;
  readonly host: string;
  readonly mostConnections: number;
  /**
   * Who has to go where there are more: usually who comes, so that those who are served stay. The oldest, where answers take no
   * time: who is still there then only holds the place.
   */
  readonly whenFull?: 'turn away' | 'drop the oldest';
  /** How long a request may take to arrive. */
  readonly requestMs: Millis;
}

export interface Listening {
  readonly port: number;
  /** Breaks every connection. */
  close(): Promise<void>;
}

/** Browsers and scrapers that come back later may as well connect again. */
const IDLE_MS: Millis = 5_000;

/** For `createServer`: Node looks for requests that take too long only every half a minute by default. */
export const SERVER_TIMEOUTS = { connectionsCheckingInterval: 1_000 } as const;

/**
 * Has a server listen, within bounds: no client can use up its connections for long.
 *
 * @throws the system's error where the port is taken
 */
export async function listen(server: Server, options: ListenOptions): Promise<Listening> {
  if (options.whenFull === 'drop the oldest') dropOldest(server, options.mostConnections);
  else server.maxConnections = options.mostConnections;
  cutSlowReaders(server);
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

function dropOldest(server: Server, most: number): void {
  // Sets keep the order in which things came.
  const open = new Set<Socket>();
  server.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    if (open.size <= most) return;
    const [oldest] = open;
    oldest?.destroy();
  });
}
