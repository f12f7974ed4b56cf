import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { createKube } from '#shared/kube/client.ts';
import { staticCredentials } from '#shared/kube/kube-credentials.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { freePorts } from '../../cluster/support/free-ports.ts';
import { describeOrSkip } from '../../support/describe-or-skip.ts';
import { without } from '../../support/required-tools.ts';
import { startSocksProxy } from '../../support/socks-proxy.ts';
import { startSshd, WITHOUT_SSHD } from '../../support/sshd.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { until } from '../../support/until.ts';
import { createAuthority } from './support/certificates.ts';
import { json, node, type ScriptedServer, scriptedServer } from './support/scripted-server.ts';
import { AT_NODES } from './support/test-kube.ts';

const authority = createAuthority('cluster');
const identity = authority.issue('server', ['127.0.0.1', '::1', 'localhost']);

const through = (server: string, proxy: string, connectMs = 5_000) =>
  createKube({
    server,
    proxy,
    credentials: staticCredentials({ token: 'one', ca: authority.ca }),
    clock: systemClock,
    log: silentLog,
    userAgent: 'test',
    timeouts: { connectMs },
  });

/** Two reads over one connection. */
async function readsTwice(server: ScriptedServer, url: string, proxy: string): Promise<void> {
  const before = server.accepted();
  server.play(json(node('a', '1')), json(node('b', '2')));
  const kube = through(url, proxy);
  assert.equal((await kube.get(AT_NODES, 'a'))?.metadata.resourceVersion, '1');
  assert.equal((await kube.get(AT_NODES, 'b'))?.metadata.resourceVersion, '2');
  assert.equal(server.accepted() - before, 1, 'the tunnel is kept');
}

const listens = async (port: number): Promise<boolean> => {
  const socket = connect(port, '127.0.0.1');
  const [said] = await Promise.race([
    once(socket, 'connect').then(() => [true]),
    once(socket, 'error').then(() => [false]),
  ]);
  socket.destroy();
  return said === true;
};

const WITHOUT_TINYPROXY = without('tinyproxy', ['-v'], 'nothing proves that we work with a real HTTP proxy');

describeOrSkip('an API server behind tinyproxy', { skip: WITHOUT_TINYPROXY }, () => {
  async function tinyproxy(
    t: TestContext,
    ...lines: readonly string[]
  ): Promise<{ port: number; log: () => Promise<string> }> {
    const directory = temporaryDirectory(t);
    const [port = 0] = await freePorts(1);
    const [conf, logFile] = [join(directory, 'conf'), join(directory, 'log')];
    await writeFile(
      conf,
      [`Port ${port}`, 'Listen 127.0.0.1', 'Timeout 60', `LogFile "${logFile}"`, 'LogLevel Connect', ...lines, ''].join(
        '\n',
      ),
    );
    const child = spawn('tinyproxy', ['-d', '-c', conf], { stdio: 'ignore' });
    t.after(() => child.kill());
    await until('tinyproxy', () => listens(port), { everyMs: 20 });
    return { port, log: () => readFile(logFile, 'utf8') };
  }

  it('is read through a tunnel, and over plain http by whole requests', async (t) => {
    const proxy = await tinyproxy(t, 'BasicAuth ada pass');
    const url = `http://ada:pass@127.0.0.1:${proxy.port}`;
    await using secure = await scriptedServer(identity);
    await readsTwice(secure, secure.url, url);
    await using plain = await scriptedServer();
    plain.play(json(node('a', '1')));
    assert.equal((await through(plain.url, url).get(AT_NODES, 'a'))?.metadata.name, 'a');
    assert.match(plain.seen[0]?.headers.via ?? '', /tinyproxy/);
    assert.equal(plain.seen[0]?.headers['proxy-authorization'], undefined);
    assert.match(await proxy.log(), new RegExp(`CONNECT ${new URL(secure.url).host}`));
  });

  it('is out of reach with a wrong password, which is said without it', async (t) => {
    const proxy = await tinyproxy(t, 'BasicAuth ada pass');
    const kube = through('https://127.0.0.1:1', `http://ada:guessed@127.0.0.1:${proxy.port}`);
    const why = await kube.get(AT_NODES, 'a').then(String, reasonOf);
    assert.equal(
      why.replace(/: the proxy answers.*/, ''),
      `cannot get nodes a: no answer from https://127.0.0.1:1 through the proxy 127.0.0.1:${proxy.port} (status 401)`,
    );
  });
});

describeOrSkip('an API server behind the SOCKS proxy of ssh -D', { skip: WITHOUT_SSHD }, () => {
  it('is read through it, by name and by address', async (t) => {
    const sshd = await startSshd();
    t.after(() => sshd.stop());
    const [port = 0] = await freePorts(1);
    const options = [`UserKnownHostsFile=${sshd.credentials}/known_hosts`, 'ExitOnForwardFailure=yes', 'BatchMode=yes'];
    const key = join(sshd.credentials, 'ssh-privatekey');
    const to = ['-i', key, '-p', String(sshd.port), `${sshd.user}@127.0.0.1`];
    const client = spawn('ssh', ['-N', '-D', `127.0.0.1:${port}`, ...options.flatMap((one) => ['-o', one]), ...to], {
      stdio: 'ignore',
    });
    t.after(() => client.kill());
    await until('ssh -D', () => listens(port), { everyMs: 20 });
    await using server = await scriptedServer(identity);
    await readsTwice(server, server.url, `socks5://127.0.0.1:${port}`);
    await readsTwice(server, server.url.replace('127.0.0.1', 'localhost'), `socks5h://127.0.0.1:${port}`);
    await using plain = await scriptedServer();
    await readsTwice(plain, plain.url, `socks5://127.0.0.1:${port}`);
  });
});

describe('a proxy that', () => {
  const said = (proxy: string, connectMs?: number): Promise<string> =>
    through('https://[2001:db8::1]:6443', proxy, connectMs).get(AT_NODES, 'a').then(String, reasonOf);

  it('refuses a connection of SOCKS is named, with its answer', async (t) => {
    const proxy = await startSocksProxy(t, { to: 1, reply: 5 });
    assert.match(
      await said(`socks5://${proxy.host}`),
      new RegExp(`through the proxy ${proxy.host} \\(reply 5 of SOCKS\\)`),
    );
    assert.deepEqual(proxy.asked, ['32.1.13.184.0.0.0.0.0.0.0.0.0.0.0.1:6443']);
  });

  it('is none, or hangs up, is named', async (t) => {
    for (const [answer, why] of [
      ['HTTP/1.1 400 Bad Request\r\n\r\n', 'something that is not SOCKS 5'],
      ['', 'the end of the connection'],
    ] as const) {
      const server = createServer((socket) => void socket.on('error', () => undefined).end(answer));
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      t.after(() => server.close());
      const { port } = server.address() as AddressInfo;
      assert.match(
        await said(`socks5://127.0.0.1:${port}`),
        new RegExp(`through the proxy 127.0.0.1:${port} \\(${why}\\)`),
      );
    }
  });

  it('hangs is given up on, and no connection stays behind', async (t) => {
    const open = new Set<Socket>();
    const server = createServer((socket) => {
      open.add(socket.once('close', () => open.delete(socket)));
      socket.on('error', () => undefined).resume();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => server.close());
    const { port } = server.address() as AddressInfo;
    for (const scheme of ['http', 'socks5']) {
      const why = `no connection to [2001:db8::1]:6443 through the proxy 127.0.0.1:${port} within 0.2 s`;
      assert.ok((await said(`${scheme}://127.0.0.1:${port}`, 200)).includes(why));
    }
    await until('no connection', () => Promise.resolve(open.size === 0), { everyMs: 20 });
  });
});
