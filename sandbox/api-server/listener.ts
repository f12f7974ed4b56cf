import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An HTTP listener on 127.0.0.1 that can go away and come back on the same port. */
export interface Listener {
  readonly port: () => number;
  readonly start: () => Promise<void>;
  /** Breaks all connections. */
  readonly stop: () => Promise<void>;
}

/** kube-apiservers keep idle connections longer than Node does. */
const IDLE_MS = 90_000;

/** @param port 0 for any free one */
export function createListener(port: number, answer: RequestListener): Listener {
  let server = createServer(answer);
  let bound = port;
  return {
    port: () => bound,
    async start() {
      if (server.listening) return;
      server = createServer({ keepAliveTimeout: IDLE_MS, requestTimeout: 0 }, answer);
      server.listen(bound, '127.0.0.1');
      await once(server, 'listening');
      bound = (server.address() as AddressInfo).port;
    },
    async stop() {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
