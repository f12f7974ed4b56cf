import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { queryOf, readAnswer, requestFor } from '#reconciler/cluster/blockers/prometheus.ts';

const url = 'http://prometheus.monitoring:9090';
const alerts = { url, alerts: ['KubePodCrashLooping', 'a.b'] };
const letters = { url, alerts: ['A', 'B', 'a', 'b', 'c', 'd', 'e'] };
const query = { url, query: 'up == 0' };

const success = (result: unknown, resultType = 'vector', more: object = {}): string =>
  JSON.stringify({ status: 'success', data: { resultType, result }, ...more });
const series = (metric: object): object => ({ metric, value: [1, '1'] });

describe('the question to Prometheus', () => {
  it('is the query as the pool has it', () => {
    assert.equal(queryOf(query), 'up == 0');
  });

  it('asks for alerts by their whole names, whatever is in them', () => {
    assert.equal(queryOf(alerts), String.raw`ALERTS{alertname=~"KubePodCrashLooping|a\\.b",alertstate="firing"}`);
  });

  it('keeps a path in front of the API', () => {
    const request = requestFor({ url: 'https://example.test/prometheus/', query: 'a&b' }, 5);
    assert.equal(request.href, 'https://example.test/prometheus/api/v1/query?query=a%26b&timeout=5s');
  });
});

const rows = [
  ['an empty result', query, 200, success([]), true, /quiet/],
  ['a series', query, 200, success([series({ __name__: 'up', job: 'x' })]), false, /has 1 in Prometheus at \S+$/],
  ['a scalar', query, 200, success([1, '0'], 'scalar'), false, /has 1 in Prometheus at \S+$/],
  ['an empty matrix', query, 200, success([], 'matrix'), true, /quiet/],
  ['a firing alert', letters, 200, success([series({ alertname: 'A', alertstate: 'firing' })]), false, /^A is firing/],
  [
    'two firing alerts',
    letters,
    200,
    success(['B', 'A'].map((alertname) => series({ alertname }))),
    false,
    /^A, B are/,
  ],
  [
    'five',
    letters,
    200,
    success(['e', 'd', 'c', 'b', 'a'].map((alertname) => series({ alertname }))),
    false,
    /^a, b, c and 2 more/,
  ],
  [
    'one alert on two nodes',
    letters,
    200,
    success(['1', '2'].map((n) => series({ alertname: 'A', n }))),
    false,
    /^A is/,
  ],
  [
    'a part of the data',
    query,
    200,
    success([], 'vector', { warnings: ['store away'] }),
    false,
    /answered in part only$/,
  ],
  [
    'an error',
    query,
    400,
    '{"status":"error","errorType":"bad_data","error":"parse error"}',
    false,
    /refuses the question \(bad_data\)$/,
  ],
  ['a page of something else', query, 200, '<html>', false, /HTTP 200 without an answer of its API/],
  ['another JSON', query, 404, '{"message":"no"}', false, /HTTP 404 without/],
  ['a success without data', query, 200, '{"status":"success"}', false, /no result in it/],
] as const;

describe('the answer of Prometheus', () => {
  for (const [what, spec, status, text, quiet, because] of rows) {
    it(`${what} is ${quiet ? 'quiet' : 'not quiet'}`, () => {
      const answer = readAnswer(spec, status, text);
      assert.equal(answer.quiet, quiet);
      assert.match(answer.because, because);
    });
  }

  it('names the server without its credential', () => {
    const { because } = readAnswer({ url: 'https://user:secret@example.test/p', query: 'x' }, 500, '');
    assert.match(because, /Prometheus at https:\/\/example\.test\/p cannot be asked/);
    assert.doesNotMatch(because, /secret/);
  });
});
