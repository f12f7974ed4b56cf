import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CoreV1Api, KubeConfig, makeInformer } from '@kubernetes/client-node';
import { createKube } from '#shared/kube/client.ts';
import { NODES } from '#shared/kube/kube.ts';
import { staticCredentials } from '#shared/kube/kube-credentials.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { createAuthority } from './support/certificates.ts';
import { json, list, scriptedServer, status, stream, type Turn } from './support/scripted-server.ts';
import { until } from '../../support/until.ts';

/**
 * Why the wire client is our own, measured with the real library. What turns red here is mended upstream: then take that reason out of
 * "Decisions worth knowing" in ARCHITECTURE.md, and with the last one, ask whether `shared/kube` is still worth its lines.
 */
describe('client-node, still', () => {
  const authority = createAuthority('cluster');
  const serving = authority.issue('server', ['127.0.0.1']);
  const NO_NODES = list('1', []);
  const ASKS = 5;

  const libraryAt = (url: string): KubeConfig => {
    const config = new KubeConfig();
    config.loadFromOptions({
      clusters: [{ name: 'c', server: url, caData: Buffer.from(authority.ca).toString('base64') }],
      users: [{ name: 'u', token: 'one' }],
      contexts: [{ name: 'x', cluster: 'c', user: 'u' }],
      currentContext: 'x',
    });
    return config;
  };

  it('opens a connection for each request, where ours keeps one', async () => {
    await using server = await scriptedServer(serving);
    server.play(...Array<Turn>(2 * ASKS).fill(json(NO_NODES)));
    const kube = createKube({
      server: server.url,
      credentials: staticCredentials({ ca: authority.ca, token: 'one' }),
      clock: systemClock,
      log: silentLog,
      userAgent: 'test',
    });
    for (let asks = 0; asks < ASKS; asks += 1) await kube.list({ resource: NODES });
    assert.equal(server.accepted(), 1);
    const api = libraryAt(server.url).makeApiClient(CoreV1Api);
    for (let asks = 0; asks < ASKS; asks += 1) await api.listNode();
    assert.equal(server.accepted() - 1, ASKS);
  });

  it('stops for good when a watch is answered with 500', async (t) => {
    await using server = await scriptedServer(serving);
    server.play(
      json(NO_NODES),
      status(500, 'etcd'),
      json(NO_NODES),
      stream(() => undefined),
    );
    const config = libraryAt(server.url);
    const api = config.makeApiClient(CoreV1Api);
    const informer = makeInformer(config, '/api/v1/nodes', () => api.listNode());
    t.after(() => informer.stop());
    const failed = new Promise((resolve) => informer.on('error', resolve));
    t.mock.timers.enable({ apis: ['setTimeout'] });
    await informer.start();
    await failed;
    // Far beyond every delay that it knows.
    t.mock.timers.tick(600_000);
    t.mock.timers.reset();
    await new Promise((resolve) => setTimeout(resolve, 200));
    assert.equal(server.seen.length, 2, 'it asks again');
  });

  it('ends a quiet watch after 30 s', async (t) => {
    await using server = await scriptedServer(serving);
    let [begun, ended] = [0, 0];
    const quiet = stream((response) => {
      begun += 1;
      response.on('close', () => void (ended += 1));
    });
    server.play(json(NO_NODES), quiet, quiet);
    const config = libraryAt(server.url);
    const api = config.makeApiClient(CoreV1Api);
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const informer = makeInformer(config, '/api/v1/nodes', () => api.listNode());
    void informer.start();
    await new Promise<void>((resolve) => {
      const look = (): void => void (begun === 1 ? setImmediate(resolve) : setImmediate(look));
      look();
    });
    // The answer's head has to arrive there, too.
    for (let turns = 0; turns < 100; turns += 1) await new Promise((resolve) => setImmediate(resolve));
    t.mock.timers.tick(29_000);
    for (let turns = 0; turns < 100; turns += 1) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(ended, 0);
    t.mock.timers.tick(1_001);
    t.mock.timers.reset();
    await until('the quiet watch to end, and the next to begin', () => ended === 1 && begun === 2, {
      withinMs: 10_000,
    });
    await informer.stop();
  });
});
