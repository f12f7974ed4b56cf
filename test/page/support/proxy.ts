import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A proxy that serves what a port of this machine serves below a path of its own, and nothing beside it. */
export interface Proxy extends AsyncDisposable {
  /** With a slash at its end. */
  readonly url: string;
}

export async function proxyBelow(path: string, port: number): Promise<Proxy> {
  const server = createServer((asked, response) => {
    const { method, headers, url = '' } = asked;
    if (!url.startsWith(`${path}/`)) return void response.writeHead(404).end();
    const passed = { ...headers, host: `127.0.0.1:${port}` };
    const onward = request(
      { port, host: '127.0.0.1', method, path: url.slice(path.length), headers: passed },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
        answer.on('close', () => (answer.complete ? undefined : response.destroy()));
      },
    );
    // As proxies do: they answer in the place of what they cannot reach.
    onward.on('error', () => (response.headersSent ? response.destroy() : response.writeHead(502).end()));
    response.on('close', () => onward.destroy());
    onward.end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}/`,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
