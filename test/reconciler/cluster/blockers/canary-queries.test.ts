import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import type { QueriedPool, QueryAnswer } from '#reconciler/policy/analysis/query-answer.ts';
import { ANSWER_LASTS_MS, createCanaryQueries } from '#reconciler/cluster/blockers/canary-queries.ts';
import { createWebGet, type WebGet } from '#reconciler/cluster/blockers/web-get.ts';
import type { QueryMeasure } from '#shared/contract/api/prometheus-queries.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

const BEFORE = Date.parse('2026-11-23T11:59:00Z');
const URL_OF = 'http://prometheus.monitoring:9090/p';
const P99: QueryMeasure = { name: 'p99', query: 'max by (node) (x)', least: 1 };
const ERRORS: QueryMeasure = { name: 'errors', query: 'sum(y)', above: 1 };

const pool = (queries: readonly QueryMeasure[], more: Partial<QueriedPool['source']> = {}): QueriedPool => ({
  name: 'workers',
  source: { url: URL_OF, queries, ...more },
  before: BEFORE,
});
const vector = (label: string, node: string, value: string): string =>
  JSON.stringify({
    status: 'success',
    data: { resultType: 'vector', result: [{ metric: { [label]: node }, value: [0, value] }] },
  });

const asking = (web: WebGet, clock = createManualClock()) => {
  const queries = createCanaryQueries({ web, clock });
  return async (...pools: readonly QueriedPool[]): Promise<ReadonlyMap<string, QueryAnswer> | undefined> =>
    (await queries.ask(pools, new AbortController().signal)).get('workers');
};

describe('asking Prometheus for measures', () => {
  it('asks for each node about now and about before the change, and for one number about now', async () => {
    const asked: string[] = [];
    const answers = await asking((url) => {
      asked.push(`${url.pathname}?${decodeURIComponent(url.search.slice(1)).replaceAll('+', ' ')}`);
      const value = url.searchParams.has('time') ? '1' : '9';
      return Promise.resolve({ status: 200, text: vector('node', 'a', value) });
    })(pool([P99, ERRORS]));
    assert.deepEqual(
      answers,
      new Map([
        ['p99', { before: new Map([['a', 1]]), now: new Map([['a', 9]]) }],
        ['errors', { value: 9 }],
      ] as const),
    );
    assert.deepEqual(asked.sort(), [
      '/p/api/v1/query?query=max by (node) (x)&timeout=5s',
      '/p/api/v1/query?query=max by (node) (x)&timeout=5s&time=2026-11-23T11:59:00Z',
      '/p/api/v1/query?query=sum(y)&timeout=5s',
    ]);
  });

  it('goes by the label that the pool names', async () => {
    const web: WebGet = () => Promise.resolve({ status: 200, text: vector('instance', 'a:9100', '1') });
    const found = await asking(web)(pool([P99], { nodeLabel: 'instance' }));
    assert.deepEqual(found?.get('p99'), { before: new Map([['a', 1]]), now: new Map([['a', 1]]) });
    const other = await asking(web)(pool([P99]));
    const missing = 'Prometheus at http://prometheus.monitoring:9090/p: none of its series has the label node';
    assert.deepEqual(other?.get('p99'), { missing });
  });

  it('has no answer where a VictoriaMetrics cluster knows a part of the data', async () => {
    let isPartial = false;
    const server = createServer((_, response) =>
      response.end(vector('node', 'a', '1').replace('{', `{"isPartial":${isPartial},`)),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const web = createWebGet({ clock: systemClock, timeoutMs: 60_000, maxBytes: 1000 });
    const missing = async (): Promise<readonly boolean[]> =>
      [...((await asking(web)(pool([P99, ERRORS], { url })))?.values() ?? [])].map((answer) => 'missing' in answer);
    try {
      assert.deepEqual(await missing(), [false, false]);
      isPartial = true;
      assert.deepEqual(await missing(), [true, true]);
    } finally {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  });

  it('says of each query why it has no answer', async () => {
    const answers = await asking((url) =>
      url.search.includes('sum')
        ? Promise.reject(new Error('no connection'))
        : Promise.resolve({ status: 503, text: 'no' }),
    )(pool([P99, ERRORS]));
    assert.deepEqual(
      answers,
      new Map([
        ['p99', { missing: `Prometheus at ${URL_OF}: HTTP 503 without an answer of its API: is the address right?` }],
        ['errors', { missing: `Prometheus at ${URL_OF} cannot be asked: no connection` }],
      ]),
    );
  });

  it('has no answer where only one of the two times has one', async () => {
    for (const isBefore of [true, false]) {
      const answers = await asking((url) =>
        url.searchParams.has('time') === isBefore
          ? Promise.resolve({ status: 500, text: '' })
          : Promise.resolve({ status: 200, text: vector('node', 'a', '1') }),
      )(pool([P99]));
      assert.ok('missing' in (answers?.get('p99') ?? {}));
    }
  });

  it('asks no more than once a minute, also for pools that ask for the same', async () => {
    const clock = createManualClock();
    let count = 0;
    const ask = asking(() => {
      count += 1;
      return Promise.resolve({ status: 200, text: '{}' });
    }, clock);
    await ask(pool([ERRORS]), { ...pool([ERRORS]), name: 'others' });
    assert.equal(count, 1);
    await clock.advance(ANSWER_LASTS_MS - 1);
    await ask(pool([ERRORS]));
    assert.equal(count, 1);
    await clock.advance(1);
    await ask(pool([ERRORS]));
    assert.equal(count, 2);
    await ask({ ...pool([ERRORS]), before: BEFORE + 1 });
    assert.equal(count, 3, 'another rollout has another time before');
  });

  it('asks none that the operator did not name', async () => {
    const origins = ['http://prometheus.elsewhere:9090'];
    const web = createWebGet({ clock: systemClock, timeoutMs: 60_000, maxBytes: 1000, origins });
    const answer = (await asking(web)(pool([ERRORS])))?.get('errors');
    assert.ok(answer !== undefined && 'missing' in answer);
    assert.match(answer.missing, /cannot be asked: the reconciler may not ask it\. Add it to PROMETHEUS_URLS/);
  });
});
