import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

/** What a server does with everything that it was sent: say it back, in the place where others put their reasons. */
export type Echo =
  | { readonly echo: 'status'; readonly status: number; readonly only?: RegExp }
  /** Sends on to an address that has what it heard in it. */
  | { readonly echo: 'redirect' }
  /** 200, and a body that begins as what was asked for does. */
  | { readonly echo: 'body' };

export interface EchoingFront {
  readonly origin: string;
  /** How it answers from now on; null: as the server behind it does. */
  answer: Echo | null;
  /** How many requests it answered by itself. */
  echoed: number;
  stop(): Promise<void>;
}

/**
 * Stands before a server as a hostile or broken proxy would, and shows in every answer what it was told in confidence.
 *
 * @param tls of PEM; plain HTTP without it
 */
export async function startEchoingFront(
  behind: string,
  tls?: { readonly certificate: string; readonly key: string },
): Promise<EchoingFront> {
  const serve = (incoming: IncomingMessage, response: ServerResponse): void => {
    const { answer } = front;
    if (answer === null || (answer.echo === 'status' && answer.only?.test(incoming.url ?? '') === false)) {
      const { host: _, ...headers } = incoming.headers;
      const target = new URL(incoming.url ?? '/', behind);
      const onward = request(target, { method: incoming.method, headers, agent: false }, (reply) => {
        response.writeHead(reply.statusCode ?? 502, reply.headers);
        reply.pipe(response);
      });
      onward.on('error', () => response.destroy());
      incoming.pipe(onward);
      return;
    }
    front.echoed += 1;
    incoming.resume();
    const said = confided(incoming);
    if (answer.echo === 'redirect') {
      const user = encodeURIComponent(said.slice(0, 200));
      response.writeHead(302, { location: `http://u:${user}@elsewhere.invalid/?${user}` }).end();
    } else if (answer.echo === 'body') {
      response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-advertisement' }).end(`001e# ${said}`);
    } else if (incoming.url?.startsWith('/api') === true) {
      const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', message: said, code: answer.status };
      response.writeHead(answer.status, { 'content-type': 'application/json', warning: `299 - "${said}"` });
      response.end(JSON.stringify(status));
    } else {
      const headers = { 'content-type': 'text/plain', 'www-authenticate': `Basic realm="${said.replaceAll('"', '')}"` };
      response.writeHead(answer.status, `No ${said}`.slice(0, 200), headers).end(`refused: ${said}`);
    }
  };
  const server =
    tls === undefined ? createServer(serve) : createSecureServer({ cert: tls.certificate, key: tls.key }, serve);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const front: EchoingFront = {
    origin: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answer: null,
    echoed: 0,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  return front;
}

/** The credential as it came, and what it means. */
function confided({ headers }: IncomingMessage): string {
  const shown = headers.authorization ?? String(headers['private-token'] ?? 'nothing');
  const [, encoded = ''] = /^basic (.*)$/i.exec(shown) ?? [];
  return `${shown} ${Buffer.from(encoded, 'base64').toString('utf8')}`;
}
