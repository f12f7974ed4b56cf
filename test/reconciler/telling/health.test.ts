import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { type HealthOptions, serveHealth } from '#reconciler/telling/health.ts';
import type { Log } from '#shared/runtime/log.ts';
import { silentLog } from '#shared/runtime/log.ts';

const METRICS = { contentType: 'text/plain; version=0.0.4', text: () => Promise.resolve('up 1\n') };

async function serving(t: TestContext, options: Partial<HealthOptions> = {}) {
  const view = { live: () => true, ready: () => false };
  const server = await serveHealth({ view, metrics: METRICS, port: 0, host: '127.0.0.1', log: silentLog, ...options });
  t.after(() => server.close());
  return async (path: string, init: RequestInit = {}): Promise<readonly [number, string]> => {
    const answer = await fetch(`http://127.0.0.1:${server.port}${path}`, init);
    return [answer.status, await answer.text()];
  };
}

describe('what the reconciler says of its health', () => {
  it('is one word for each of the two questions, and nothing for any other', async (t) => {
    const ask = await serving(t);
    assert.deepEqual(await ask('/healthz'), [200, 'ok']);
    assert.deepEqual(await ask('/readyz'), [503, 'not yet']);
    assert.deepEqual(await ask('/'), [404, 'no']);
    assert.deepEqual(await ask('/healthz', { method: 'POST' }), [404, 'no']);
  });

  it('has its numbers beside it', async (t) => {
    assert.deepEqual(await (await serving(t))('/metrics'), [200, 'up 1\n']);
  });

  it('says in the log why there are no numbers', async (t) => {
    const said: unknown[] = [];
    const error = (fields: object, message: string): void => void said.push([fields, message]);
    const log = { ...silentLog, error } as Log;
    const err = new Error('a gauge with a label that it does not have');
    const ask = await serving(t, { metrics: { ...METRICS, text: () => Promise.reject(err) }, log });
    assert.deepEqual(await ask('/metrics'), [500, 'no metrics; the log says why']);
    assert.deepEqual(said, [[{ err }, 'metrics could not be collected']]);
    assert.deepEqual(await ask('/healthz'), [200, 'ok']);
  });
});
