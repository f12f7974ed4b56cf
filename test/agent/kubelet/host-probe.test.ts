import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { createHostProbe } from '#agent/kubelet/host-probe.ts';
import type { Health, RunningConfig } from '#agent/ports/kubelet-probe.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { createAuthority, type Identity } from '../../shared/kube/support/certificates.ts';

const never = new AbortController().signal;
const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function listening(server: TcpServer | Server, host = '127.0.0.1'): Promise<number> {
  server.listen(0, host);
  await once(server, 'listening');
  closing.push(() => {
    server.close();
    if ('closeAllConnections' in server) server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}

describe('healthz', () => {
  const ask = (port: number, { host = '127.0.0.1', timeoutMs = 2000, signal = never } = {}): Promise<Health> =>
    createHostProbe({ token: async () => '', servingCertFiles: [], timeoutMs }).health(
      { healthz: { host, port }, api: null },
      signal,
    );
  const serving = (answer: RequestListener, host?: string): Promise<number> =>
    listening(createHttpServer(answer), host);

  it('is ok when it answers 200', async () => {
    const port = await serving((request, response) =>
      response.writeHead(request.url === '/healthz' ? 200 : 404).end('ok'),
    );
    assert.deepEqual(await ask(port), { health: 'ok' });
  });

  const hasIPv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'));
  it('is asked over IPv6 where the kubelet listens there', { skip: !hasIPv6 && 'no IPv6 here' }, async () => {
    const port = await serving((_, response) => response.end('ok'), '::1');
    assert.deepEqual(await ask(port, { host: '::1' }), { health: 'ok' });
  });

  it('is failing with the check that fails', async () => {
    const body = '[+]ping ok\n[+]log ok\n[-]syncloop failed: reason withheld\nhealthz check failed\n';
    const port = await serving((_, response) => response.writeHead(500).end(body));
    const reason = 'healthz answers 500: [-]syncloop failed: reason withheld';
    assert.deepEqual(await ask(port), { health: 'failing', reason });
  });

  it('is down when nobody listens, with the reason', async () => {
    const port = await serving((_, response) => response.end());
    for (const close of closing.splice(0)) close();
    const health = await ask(port);
    assert.ok(health.health === 'down' && /ECONNREFUSED/.test(health.reason));
  });

  it('is down when no answer comes in time, or no whole one', async () => {
    const silent = await listening(createTcpServer(() => undefined));
    assert.deepEqual(await ask(silent, { timeoutMs: 30 }), { health: 'down', reason: 'no answer within 30 ms' });
    const slow = await serving((_, response) => void response.writeHead(200).write('o'));
    assert.deepEqual(await ask(slow, { timeoutMs: 30 }), { health: 'down', reason: 'no answer within 30 ms' });
    const cut = await serving((request) => request.socket.destroy());
    assert.equal((await ask(cut)).health, 'down');
    const endless = await serving((_, response) => {
      const pour = (): void =>
        void (response.write('x'.repeat(10_000)) ? setImmediate(pour) : response.once('drain', pour));
      pour();
    });
    assert.deepEqual(await ask(endless), { health: 'down', reason: '/healthz gives more than 16384 bytes' });
  });

  it('is given two seconds to answer', async () => {
    const clock = createManualClock();
    const asked = Promise.withResolvers<void>();
    const port = await serving(() => asked.resolve());
    const probe = createHostProbe({ token: async () => '', servingCertFiles: [], clock });
    const look = probe.health({ healthz: { host: '127.0.0.1', port }, api: null }, never);
    await asked.promise;
    await clock.advance(1_999);
    assert.deepEqual(clock.sleeping(), [1]);
    await clock.advance(1);
    assert.deepEqual(await look, { health: 'down', reason: 'no answer within 2000 ms' });
  });

  it('is down at once for whoever gives up', async () => {
    const port = await serving(() => undefined);
    assert.deepEqual(await ask(port, { signal: AbortSignal.abort() }), { health: 'down', reason: 'given up' });
  });

  it('is down, as far as that can be said, where it is switched off', async () => {
    const probe = createHostProbe({ token: async () => '', servingCertFiles: [] });
    assert.equal((await probe.health({ healthz: null, api: null }, never)).health, 'down');
  });
});

describe('configz', () => {
  const authority = createAuthority('the kubelet itself');
  const own = authority.issue('node-1', ['127.0.0.1']);
  let directory: string;
  const pem = (name: string): string => join(directory, name);
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-probe-'));
    // As the kubelet writes it: its certificate and key in one file, and whoever signed it after them.
    await writeFile(pem('current.pem'), own.cert + own.key + authority.ca);
    await writeFile(pem('damaged.pem'), '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n');
  });
  after(() => rm(directory, { recursive: true }));

  interface Kubelet {
    readonly port: number;
    /** Authorization headers that it was shown. */
    readonly shown: (string | undefined)[];
    /** Bytes that came to it after the handshake. */
    readonly bytes: () => number;
  }
  async function serving({ cert, key }: Identity, status: number, body: string): Promise<Kubelet> {
    const shown: (string | undefined)[] = [];
    let bytes = 0;
    const server = createHttpsServer({ cert, key }, (request, response) => {
      shown.push(request.headers.authorization);
      response.writeHead(request.url === '/configz' ? status : 404).end(body);
    });
    server.on('secureConnection', (socket) => socket.on('data', (chunk: Buffer) => (bytes += chunk.length)));
    return { port: await listening(server), shown, bytes: () => bytes };
  }
  const ask = (
    port: number,
    files = ['missing.pem', 'damaged.pem', 'current.pem'],
    timeoutMs = 2000,
  ): Promise<RunningConfig> =>
    createHostProbe({ token: async () => 'secret', servingCertFiles: files.map(pem), timeoutMs }).runningConfig(
      { healthz: null, api: { host: '127.0.0.1', port } },
      never,
    );
  const why = (running: RunningConfig): string => (running.seen ? 'seen' : running.why);

  it('is read from the kubelet with the token', async () => {
    const kubelet = await serving(own, 200, '{"kubeletconfig":{"maxPods":42}}');
    assert.deepEqual(await ask(kubelet.port), { seen: true, config: { maxPods: 42 } });
    assert.deepEqual(kubelet.shown, ['Bearer secret']);
  });

  it('is read where the certificate is the one that its config names', async () => {
    const kubelet = await serving(own, 200, '{"kubeletconfig":{"maxPods":42}}');
    const api = { host: '127.0.0.1', port: kubelet.port };
    const ask = (servingCertFiles: string[], servingCerts: string[]) =>
      createHostProbe({ token: async () => 'secret', servingCertFiles }).runningConfig(
        { healthz: null, api, servingCerts },
        never,
      );
    assert.equal(why(await ask([pem('missing.pem')], [pem('current.pem')])), 'seen');
    assert.equal(why(await ask([pem('current.pem')], [pem('missing.pem')])), 'seen');
    const none = await ask([pem('missing.pem')], [pem('damaged.pem')]);
    assert.ok(!none.seen && none.why === 'untrusted' && none.reason.includes('damaged.pem'));
  });

  it('is read by the files as the host has them', async () => {
    const { port } = await serving(own, 200, '{"kubeletconfig":{}}');
    const probe = createHostProbe({
      token: async () => 'secret',
      servingCertFiles: ['/host.crt'],
      readCert: async (path) => (path === '/host.crt' ? own.cert : undefined),
    });
    assert.equal(why(await probe.runningConfig({ healthz: null, api: { host: '127.0.0.1', port } }, never)), 'seen');
  });

  it('tells of the certificate that the kubelet itself showed, and of no other', async () => {
    const told: string[] = [];
    const probe = createHostProbe({
      token: async () => 'secret',
      servingCertFiles: [pem('current.pem')],
      onServed: (certificate) => told.push(new X509Certificate(certificate).subject),
    });
    for (const identity of [createAuthority('other').issue('node-1'), own]) {
      const { port } = await serving(identity, 403, '');
      await probe.runningConfig({ healthz: null, api: { host: '127.0.0.1', port } }, never);
    }
    assert.deepEqual(told, ['CN=node-1']);
  });

  it('is not asked for where another certificate is shown, not even one of the same authority or name', async () => {
    for (const other of [authority.issue('node-1', ['127.0.0.1']), createAuthority('other').issue('node-1')]) {
      const impostor = await serving(other, 200, '{"kubeletconfig":{}}');
      const running = await ask(impostor.port);
      assert.equal(why(running), 'untrusted');
      assert.ok(!running.seen && /KUBELET_SERVING_CERTS/.test(running.reason));
      assert.deepEqual(impostor.shown, []);
      assert.equal(impostor.bytes(), 0, 'nothing at all was said to it');
    }
  });

  it('is not asked for from somebody who shows the signer of the kubelet’s certificate', async () => {
    const mighty = createAuthority('mighty');
    const leaf = mighty.issue('node-1');
    await writeFile(pem('chain.pem'), own.cert + leaf.cert);
    const impostor = await serving(leaf, 200, '{"kubeletconfig":{}}');
    assert.equal(why(await ask(impostor.port, ['chain.pem'])), 'untrusted');
    assert.equal(impostor.bytes(), 0);
  });

  it('is not asked for where no certificate of the kubelet is known', async () => {
    const kubelet = await serving(own, 200, '{"kubeletconfig":{}}');
    assert.equal(why(await ask(kubelet.port, ['missing.pem', 'damaged.pem'])), 'untrusted');
    assert.deepEqual(kubelet.shown, []);
  });

  it('follows a certificate that is renewed', async () => {
    const next = authority.issue('node-1');
    await writeFile(pem('renewed.pem'), own.cert);
    const kubelet = await serving(next, 200, '{"kubeletconfig":{}}');
    assert.equal(why(await ask(kubelet.port, ['renewed.pem'])), 'untrusted');
    await writeFile(pem('renewed.pem'), next.cert);
    assert.equal(why(await ask(kubelet.port, ['renewed.pem'])), 'seen');
  });

  it('is forbidden without the right, which is named', async () => {
    const forbidden = await ask((await serving(own, 403, 'Forbidden (user=system:serviceaccount:…)')).port);
    assert.ok(
      !forbidden.seen && forbidden.why === 'forbidden' && /nodes\/configz.*nodes\/proxy/.test(forbidden.reason),
    );
    const unknown = await ask((await serving(own, 401, 'Unauthorized')).port);
    assert.ok(!unknown.seen && unknown.why === 'forbidden' && /authentication\.webhook/.test(unknown.reason));
  });

  it('is an error for every other answer', async () => {
    for (const [status, body] of [
      [500, ''],
      [200, 'no JSON'],
      [200, 'null'],
      [200, '{"other":{}}'],
      [200, '{"kubeletconfig":[]}'],
      [200, `{"kubeletconfig":{"x":"${'x'.repeat(1024 * 1024)}"}}`],
    ] as const) {
      assert.equal(why(await ask((await serving(own, status, body)).port)), 'error', `${status} ${body.slice(0, 30)}`);
    }
  });

  it('is down when nobody listens, nobody speaks TLS, or nobody says anything', async () => {
    const gone = await serving(own, 200, '');
    for (const close of closing.splice(0)) close();
    assert.equal(why(await ask(gone.port)), 'down');
    const plain = await listening(createHttpServer((_, response) => response.end()));
    assert.equal(why(await ask(plain)), 'down');
    const silent = await listening(createTcpServer(() => undefined));
    const running = await ask(silent, ['current.pem'], 30);
    assert.deepEqual(running, { seen: false, why: 'down', reason: 'no answer within 30 ms' });
  });

  it('is an error when the kubelet hangs after the handshake, or the token cannot be had', async () => {
    const { cert, key } = own;
    const clock = createManualClock();
    // The time is up when the request is there, however long the machine takes for the handshake.
    const hanging = await listening(createHttpsServer({ cert, key }, () => void clock.advance(2000)));
    const impatient = createHostProbe({ token: async () => 'secret', servingCertFiles: [pem('current.pem')], clock });
    const running = await impatient.runningConfig({ healthz: null, api: { host: '127.0.0.1', port: hanging } }, never);
    assert.deepEqual(running, { seen: false, why: 'error', reason: 'no answer within 2000 ms' });
    const kubelet = await serving(own, 200, '{"kubeletconfig":{}}');
    const token = async (): Promise<string> => Promise.reject(new Error('no token file'));
    const probe = createHostProbe({ token, servingCertFiles: [pem('current.pem')] });
    const without = await probe.runningConfig({ healthz: null, api: { host: '127.0.0.1', port: kubelet.port } }, never);
    assert.deepEqual(without, { seen: false, why: 'error', reason: 'no token file' });
  });

  it('is not the only thing that is read from it: it also says which pods it evicted and refused', async () => {
    let [status, body] = [200, 'kubelet_evictions{eviction_signal="memory.available"} 3\n'];
    const shown: (string | undefined)[] = [];
    const server = createHttpsServer({ cert: own.cert, key: own.key }, (request, response) => {
      shown.push(`${request.url} ${request.headers.authorization}`);
      response.writeHead(status).end(body);
    });
    const address = { healthz: null, api: { host: '127.0.0.1', port: await listening(server) } };
    const clock = createManualClock();
    const probeOf = (file: string) =>
      createHostProbe({ token: async () => 'secret', servingCertFiles: [pem(file)], clock });
    const probe = probeOf('current.pem');
    const ask = async () => probe.podHarm(address, never);
    assert.deepEqual(await ask(), { 'evicted memory.available': 3 });
    assert.deepEqual(shown, ['/metrics Bearer secret']);
    status = 500;
    assert.equal(await ask(), null);
    status = 200;
    body = 'x'.repeat(4 * 1024 * 1024 + 1);
    assert.equal(await ask(), null);
    body = '';
    assert.deepEqual(await ask(), {});
    assert.equal(await probeOf('missing.pem').podHarm(address, never), null);
    assert.equal(await probe.podHarm({ healthz: null, api: null }, never), null);
    assert.equal(shown.length, 4, 'nobody but the kubelet was shown the token');
    for (const refusal of [401, 403]) {
      status = refusal;
      const asked: number = shown.length;
      assert.equal(await ask(), null);
      clock.skip(599_999);
      assert.equal(await ask(), null);
      assert.equal(shown.length, asked + 1, 'a right that is missing is not asked for at each look');
      clock.skip(1);
      status = 200;
      assert.deepEqual(await ask(), {});
    }
  });
});
