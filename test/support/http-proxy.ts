import { once } from 'node:events';
import { createServer, type IncomingMessage, request as ask } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

/** A forward proxy as sites have them: tunnels for https, whole requests for http, with a password or without. */
export interface HttpProxy {
  /** `host:port`. */
  readonly host: string;
  /** What it was asked for: `CONNECT git.example.test:443`, `GET http://…`. */
  readonly asked: readonly string[];
  /** Everything that went through it in the clear: heads of requests. */
  readonly heard: readonly string[];
}

export interface ProxyOptions {
  /** Port on this machine that every name leads to: the proxy alone knows where a name is. */
  readonly to: number;
  /** The same for requests that are no tunnels. Default: the same. */
  readonly plain?: number;
  /** `user:password` that it wants. */
  readonly password?: string;
}

export async function startHttpProxy(t: Pick<TestContext, 'after'>, options: ProxyOptions): Promise<HttpProxy> {
  const asked: string[] = [];
  const heard: string[] = [];
  const sockets = new Set<Socket>();
  const note = (request: IncomingMessage): boolean => {
    asked.push(`${request.method} ${request.url}`);
    heard.push(JSON.stringify(request.headers));
    const wanted = options.password && `Basic ${Buffer.from(options.password).toString('base64')}`;
    return wanted === undefined || request.headers['proxy-authorization'] === wanted;
  };
  const server = createServer((request, response) => {
    if (!note(request)) return void response.writeHead(407, { 'proxy-authenticate': 'Basic' }).end();
    const { pathname, search } = new URL(request.url ?? '');
    const { 'proxy-authorization': _, 'proxy-connection': __, ...headers } = request.headers;
    const onward = ask(
      { port: options.plain ?? options.to, method: request.method, path: pathname + search, headers },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  });
  server.on('connect', (request: IncomingMessage, socket: Socket) => {
    socket.on('error', () => undefined);
    if (!note(request)) return void socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    const onward = connect(options.to, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      onward.pipe(socket).pipe(onward);
    });
    sockets.add(onward);
    onward.on('error', () => socket.destroy());
    socket.on('close', () => onward.destroy());
  });
  server.on('connection', (socket: Socket) => sockets.add(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, asked, heard };
}
