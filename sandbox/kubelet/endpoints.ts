import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a running kubelet answers. */
export interface Answers {
  /** Empty for a healthy kubelet, otherwise what is wrong. */
  healthz(): string;
  configz(): unknown;
}

/** The kubelet's ports, on 127.0.0.1: real ones, as many as there are kubelets in this process. */
export interface Endpoints {
  /** The same each time it is opened. */
  open(): Promise<number>;
  /** From now on connections are refused; those that are open are cut. */
  close(): Promise<void>;
}

export function createEndpoints(answers: Answers): Endpoints {
  let server: Server | undefined;
  let port = 0;
  return {
    async open() {
      server = createServer((request, response) => answer(request.url ?? '', answers, response));
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
      // A process that does nothing but simulate may end.
      server.unref();
      port = (server.address() as AddressInfo).port;
      return port;
    },
    async close() {
      if (server === undefined) return;
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      server = undefined;
      await closed;
    },
  };
}

function answer(path: string, { healthz, configz }: Answers, response: ServerResponse): void {
  if (path === '/healthz') {
    const wrong = healthz();
    response.writeHead(wrong === '' ? 200 : 500).end(wrong === '' ? 'ok' : `[-]${wrong} failed: reason withheld\n`);
  } else if (path === '/configz') {
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ kubeletconfig: configz() }, bigints));
  } else {
    response.writeHead(404).end();
  }
}

const bigints = (_key: string, value: unknown): unknown => (typeof value === 'bigint' ? Number(value) : value);
