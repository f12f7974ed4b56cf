import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import type { KubeErrorCode } from '#shared/kube/kube-error.ts';
import { codeOf, reasonOf } from '#shared/runtime/errors.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import {
  hang,
  json,
  list,
  node,
  reset,
  scriptedServer,
  status,
  text,
  type Turn,
  playing,
} from './support/scripted-server.ts';
import { AT_NODES, kubeFor, refusalOf } from './support/test-kube.ts';
import { until } from '../../support/until.ts';

const rows: readonly (readonly [fault: string, turn: Turn, code: KubeErrorCode])[] = [
  ['a reset connection', reset, 'KUBE_UNREACHABLE'],
  ['a server error', status(500, 'etcd is away'), 'KUBE_SERVER_ERROR'],
  ['a server that starts', status(503, 'starting'), 'KUBE_SERVER_ERROR'],
  ['too many requests', status(429, 'slow down', {}, { 'retry-after': '1' }), 'KUBE_THROTTLED'],
  ['a refused token', status(401, 'Unauthorized'), 'KUBE_UNAUTHORIZED'],
  ['a missing right', status(403, 'nodes is forbidden'), 'KUBE_FORBIDDEN'],
  ['a page of a proxy', text('<html>Sign in</html>'), 'KUBE_GARBLED'],
  [
    'an answer that breaks off',
    (response, _seen, socket) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('{"kind":');
      setImmediate(() => socket.resetAndDestroy());
    },
    'KUBE_UNREACHABLE',
  ],
];

/** Accepts connections and says nothing, not even hello. */
async function silentServer() {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
    socket.resume();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    open: () => sockets.size,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

describe('a call that meets', () => {
  for (const [fault, turn, code] of rows) {
    it(`${fault} ends with ${code}, and the next one is well`, async () => {
      await using server = await playing(turn, json(list('1', [])));
      const kube = kubeFor(server);
      const error = await refusalOf(kube.list(AT_NODES));
      assert.equal(error.code, code);
      assert.match(error.message, /^cannot list nodes: /);
      assert.deepEqual(await kube.list(AT_NODES), { resourceVersion: '1', items: [] });
    });
  }

  it('nobody at the address says where it went and why not', async () => {
    const server = await scriptedServer();
    await server[Symbol.asyncDispose]();
    const error = await refusalOf(kubeFor(server).list(AT_NODES));
    assert.equal(error.code, 'KUBE_UNREACHABLE');
    assert.equal(error.message, `cannot list nodes: no answer from ${server.url} (ECONNREFUSED)`);
    assert.match(reasonOf(error), /connect ECONNREFUSED/);
  });

  it('silence ends after thirty seconds', async () => {
    await using server = await playing(hang);
    const clock = createManualClock();
    const call = refusalOf(kubeFor(server, { clock }).list(AT_NODES));
    await until('the request is there', () => server.seen.length === 1);
    await clock.advance(29_999);
    assert.equal(server.open(), 1);
    await clock.advance(1);
    const error = await call;
    assert.equal(error.code, 'KUBE_TIMEOUT');
    assert.equal(error.message, 'cannot list nodes: no complete answer within 30 s');
    await until('the connection is gone', () => server.open() === 0);
    assert.deepEqual(clock.sleeping(), []);
  });

  it('an answer that stops half-way ends after thirty seconds as well', async () => {
    await using server = await playing((response) => {
      response.writeHead(200);
      response.write('{');
    });
    const clock = createManualClock();
    const call = refusalOf(kubeFor(server, { clock }).get(AT_NODES, 'a'));
    await until('the request is there', () => server.seen.length === 1);
    await clock.advance(30_000);
    assert.equal((await call).code, 'KUBE_TIMEOUT');
    await until('the connection is gone', () => server.open() === 0);
  });

  it('a server that accepts but does not speak TLS ends after ten seconds', async () => {
    await using server = await silentServer();
    const clock = createManualClock();
    const call = refusalOf(kubeFor(server, { clock }).get(AT_NODES, 'a'));
    await until('the connection is there', () => server.open() === 1 && clock.sleeping().length === 2);
    await clock.advance(10_000);
    const error = await call;
    assert.equal(error.code, 'KUBE_TIMEOUT');
    assert.match(error.message, /no connection to 127\.0\.0\.1:\d+ within 10 s$/);
    await until('the connection is gone', () => server.open() === 0);
  });

  it('credentials that take forever ends after thirty seconds', async () => {
    await using server = await scriptedServer();
    const clock = createManualClock();
    const credentials = { current: () => new Promise<never>(() => undefined), refresh: () => undefined };
    const call = refusalOf(kubeFor(server, { clock, credentials }).get(AT_NODES, 'a'));
    await clock.advance(30_000);
    const error = await call;
    assert.equal(error.code, 'KUBE_TIMEOUT');
    assert.match(error.message, /^cannot get nodes a: no credential from where it comes from .* within 30 s$/);
  });

  it('its caller changing their mind ends at once, and says why', async () => {
    await using server = await playing(hang);
    const caller = new AbortController();
    const kube = kubeFor(server);
    const call = refusalOf(kube.list(AT_NODES, caller.signal));
    await until('the request is there', () => server.seen.length === 1);
    caller.abort(new Error('the pod is told to go'));
    const error = await call;
    assert.equal(error.code, 'KUBE_ABORTED');
    assert.match(reasonOf(error), /the pod is told to go/);
    await until('the connection is gone', () => server.open() === 0);
    assert.equal((await refusalOf(kube.list(AT_NODES, caller.signal))).code, 'KUBE_ABORTED');
    assert.equal(server.seen.length, 1);
  });
});

describe('a kept connection that the server closed', () => {
  it('is no fault for a read: it goes out once more', async () => {
    await using server = await playing(json(node('a', '1')), reset, json(node('a', '2')));
    const kube = kubeFor(server);
    await kube.get(AT_NODES, 'a');
    assert.deepEqual(await kube.get(AT_NODES, 'a'), node('a', '2'));
    assert.equal(server.accepted(), 2);
  });

  it('is a fault for a read that meets two of them', async () => {
    await using server = await playing(json(node('a', '1')), reset, reset);
    const kube = kubeFor(server);
    await kube.get(AT_NODES, 'a');
    assert.equal((await refusalOf(kube.get(AT_NODES, 'a'))).code, 'KUBE_UNREACHABLE');
    assert.equal(server.seen.length, 3);
  });

  it('is a fault for a write: nobody knows whether it arrived', async () => {
    await using server = await playing(json(node('a', '1')), reset, json(node('a', '2')));
    const kube = kubeFor(server);
    await kube.get(AT_NODES, 'a');
    const error = await refusalOf(kube.mergePatch(AT_NODES, 'a', {}));
    assert.equal(error.code, 'KUBE_UNREACHABLE');
    assert.equal(codeOf(error.cause), 'ECONNRESET');
  });
});
