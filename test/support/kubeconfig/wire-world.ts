import { once } from 'node:events';
import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { createAuthority, type Identity } from '../../shared/kube/support/certificates.ts';
import { startHttpProxy } from '../http-proxy.ts';
import { startSocksProxy } from '../socks-proxy.ts';
import { temporaryDirectory } from '../temporary-directory.ts';

/** What stands for an API server, and everything that a kubeconfig can name, on this machine. */
export interface WireWorld {
  /** Where kubeconfigs belong; `ca.crt`, `me.crt`, `me.key`, `token` and `bin/plugin` lie beside them. */
  readonly directory: string;
  readonly https: string;
  readonly http: string;
  /** `host:port` of the proxies, which alone know where `kube.test` is. The second wants `ada:p@ss`. */
  readonly proxy: string;
  readonly strictProxy: string;
  readonly socks: string;
  readonly strictSocks: string;
  readonly ca: string;
  readonly me: Identity;
  /**
   * What came since the last call, sorted: headers by which a server knows the caller, the name that was asked for in TLS, the client's
   * certificate, what proxies were asked for, what the plugin was told.
   */
  taken(): Promise<readonly string[]>;
}

const HEADERS = /^(?:authorization|impersonate-.*|accept-encoding)$/i;

export async function startWireWorld(t: Pick<TestContext, 'after'>): Promise<WireWorld> {
  const directory = temporaryDirectory(t);
  const authority = createAuthority('cluster');
  const me = authority.issue('someone');
  const heard: string[] = [];
  const sockets = new Set<Socket>();
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    for (let at = 0; at < request.rawHeaders.length; at += 2) {
      const [name = '', value = ''] = request.rawHeaders.slice(at, at + 2);
      if (HEADERS.test(name)) heard.push(`${name.toLowerCase()}: ${Buffer.from(value, 'latin1').toString()}`);
    }
    const socket = request.socket as Partial<TLSSocket>;
    if (typeof socket.servername === 'string') heard.push(`name: ${socket.servername}`);
    const certificate = socket.getPeerCertificate?.().subject?.CN;
    if (certificate !== undefined) heard.push(`certificate: ${String(certificate)}`);
    response.writeHead(200, { 'content-type': 'application/json', connection: 'close' });
    response.end('{"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]}');
  };
  const serving = { ...authority.issue('server', ['127.0.0.1', 'kube.test', 'other.test']), ca: authority.ca };
  const servers = [
    createHttpsServer({ ...serving, requestCert: true, rejectUnauthorized: false }, answer),
    createHttpServer(answer),
  ];
  const ports: number[] = [];
  for (const server of servers) {
    server.on('connection', (socket: Socket) => sockets.add(socket));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    ports.push((server.address() as AddressInfo).port);
  }
  t.after(() => {
    for (const server of servers) server.close();
    for (const socket of sockets) socket.destroy();
  });
  const [tls = 0, plain = 0] = ports;
  const toTls = { to: tls };
  const proxies = [
    await startHttpProxy(t, { ...toTls, plain }),
    await startHttpProxy(t, { ...toTls, plain, password: 'ada:p@ss' }),
  ];
  const socks = [await startSocksProxy(t, toTls), await startSocksProxy(t, { ...toTls, password: 'ada:p@ss' })];
  await mkdir(join(directory, 'bin'));
  const files = { 'ca.crt': authority.ca, 'me.crt': me.cert, 'me.key': me.key, token: 'from-file\n' };
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
  const told = join(directory, 'told');
  await writeFile(join(directory, 'printed'), JSON.stringify(printed({ token: 'from-plugin' })));
  const plugin = join(directory, 'bin', 'plugin');
  await writeFile(
    plugin,
    `#!/bin/sh
{ echo "info: $KUBERNETES_EXEC_INFO"; echo "args: $*"; echo "env: $EXTRA"; if [ -t 0 ]; then echo 'stdin: terminal'; fi; } >> '${told}'
if [ -n "$SAYS" ]; then echo "$SAYS" >&2; fi
cat '${directory}/printed'
`,
  );
  await chmod(plugin, 0o755);
  const seen = new Map<readonly string[], number>();
  const fresh = (asked: readonly string[]): readonly string[] => {
    const from = seen.get(asked) ?? 0;
    seen.set(asked, asked.length);
    return asked.slice(from);
  };
  return {
    directory,
    https: `https://127.0.0.1:${tls}`,
    http: `http://127.0.0.1:${plain}`,
    proxy: proxies[0]?.host ?? '',
    strictProxy: proxies[1]?.host ?? '',
    socks: socks[0]?.host ?? '',
    strictSocks: socks[1]?.host ?? '',
    ca: authority.ca,
    me,
    async taken() {
      const plugins = await readFile(told, 'utf8').catch(() => '');
      await rm(told, { force: true });
      const all = [
        ...heard.splice(0),
        ...proxies.flatMap((one) => fresh(one.asked)).map((one) => `proxy: ${one.replace(/\?.*/, '')}`),
        ...socks.flatMap((one) => fresh(one.asked)).map((one) => `socks: ${one}`),
        ...plugins.split('\n').filter((line) => line !== ''),
      ];
      return all.map(withSortedInfo).toSorted();
    },
  };
}

/** What a plugin prints. */
const printed = (status: object) => ({
  kind: 'ExecCredential',
  apiVersion: 'client.authentication.k8s.io/v1',
  status,
});

/** Whoever writes JSON may write its keys in any order. */
function withSortedInfo(line: string): string {
  if (!line.startsWith('info: ')) return line;
  const sorted = (value: unknown): unknown =>
    typeof value !== 'object' || value === null || Array.isArray(value)
      ? value
      : Object.fromEntries(
          Object.entries(value)
            .toSorted(([a], [b]) => (a < b ? -1 : 1))
            .map(([key, one]) => [key, sorted(one)]),
        );
  return `info: ${JSON.stringify(sorted(JSON.parse(line.slice('info: '.length))))}`;
}
