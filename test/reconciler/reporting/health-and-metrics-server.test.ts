import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { serveHealth, serveReconcilerMetrics } from '#reconciler/reporting/health-and-metrics-server.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import { silentLog } from '#shared/runtime/log.ts';

const HERE = { port: 0, host: '127.0.0.1', clock: systemClock };
const METRICS = { contentType: 'text/plain; version=0.0.4', text: () => Promise.resolve('up 1\n') };
const VIEW = { live: () => true, ready: () => false };

type Served = Awaited<ReturnType<typeof serveHealth>>;

function asking(t: TestContext, server: Served) {
  t.after(() => server.close());
  return async (path: string, init: RequestInit = {}): Promise<readonly [number, string]> => {
    const answer = await fetch(`http://127.0.0.1:${server.port}${path}`, init);
    return [answer.status, await answer.text()];
  };
}

/** Somebody who begins a request and never ends it. @returns whether the server has put an end to it */
async function holding(t: TestContext, port: number): Promise<() => boolean> {
  let ended = false;
  const socket = connect(port, '127.0.0.1', () => socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\nX-a: '));
  socket.on('error', () => undefined);
  socket.on('close', () => (ended = true));
  t.after(() => socket.destroy());
  await once(socket, 'connect');
  return () => ended;
}

describe('what the reconciler says of its health', () => {
  it('is one word for each of the two questions, and nothing for any other', async (t) => {
    const ask = asking(t, await serveHealth({ view: VIEW, ...HERE }));
    assert.deepEqual(await ask('/healthz'), [200, 'ok']);
    assert.deepEqual(await ask('/readyz'), [503, 'not yet']);
    assert.deepEqual(await ask('/'), [404, 'no']);
    assert.deepEqual(await ask('/metrics'), [404, 'no']);
    assert.deepEqual(await ask('/healthz', { method: 'POST' }), [404, 'no']);
  });

  it('is said however many connections strangers hold, on this port or on that of the metrics', async (t) => {
    const health = await serveHealth({ view: VIEW, ...HERE });
    const metrics = await serveReconcilerMetrics({ metrics: METRICS, log: silentLog, ...HERE });
    const [ask, scrape] = [asking(t, health), asking(t, metrics)];
    for (let round = 0; round < 3; round += 1) {
      for (const { port } of [health, metrics]) {
        await Promise.all(Array.from({ length: 80 }, () => holding(t, port)));
      }
      assert.deepEqual(await ask('/healthz'), [200, 'ok']);
      assert.deepEqual(await scrape('/metrics'), [200, 'up 1\n']);
    }
  });

  it('costs who holds a connection the connection', async (t) => {
    const health = await serveHealth({ view: VIEW, ...HERE });
    const ask = asking(t, health);
    const held = [];
    for (let number = 0; number < 70; number += 1) held.push(await holding(t, health.port));
    await ask('/healthz');
    const ended = held.filter((isEnded) => isEnded()).length;
    assert.ok(ended >= 6, `${ended} of 70`);
  });
});

describe('the numbers of the reconciler', () => {
  it('are served, and nothing else is', async (t) => {
    const ask = asking(t, await serveReconcilerMetrics({ metrics: METRICS, log: silentLog, ...HERE }));
    assert.deepEqual(await ask('/metrics'), [200, 'up 1\n']);
    assert.deepEqual(await ask('/healthz'), [404, 'no']);
  });

  it('are missed with a reason in the log', async (t) => {
    const said: unknown[] = [];
    const error = (fields: object, message: string): void => void said.push([fields, message]);
    const log = { ...silentLog, error } as Log;
    const err = new Error('a gauge with a label that it does not have');
    const metrics = { ...METRICS, text: () => Promise.reject(err) };
    const ask = asking(t, await serveReconcilerMetrics({ metrics, log, ...HERE }));
    assert.deepEqual(await ask('/metrics'), [500, 'no metrics; the log says why']);
    assert.deepEqual(said, [[{ err }, 'metrics could not be collected']]);
  });
});
