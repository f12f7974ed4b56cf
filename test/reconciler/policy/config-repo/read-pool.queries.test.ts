import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mistakesIn, readSpec } from './support/read-spec.ts';

const read = (rest: string) => readSpec(`\n  nodeSelector: {}\n  ${rest}`);

describe('what Prometheus is asked of canaries', () => {
  it('asks Prometheus as it was written', () => {
    const { spec, findings } = read(`rollout:
    canary: {nodes: 1}
    analysis:
      measures: []
      prometheus:
        url: https://prometheus.monitoring:9090/p
        nodeLabel: instance
        queries:
          - {name: pod-start.p99, query: "max by (instance)\n (x)", least: 0.5, percent: 50}
          - {name: free, query: u, least: 1, worse: down}
          - {name: errors, query: z, above: 0.01}
          - {name: ready, query: z, below: -1, percent: null}`);
    assert.deepEqual(findings, []);
    assert.deepEqual(spec.rollout.analysis, {
      measures: [],
      prometheus: {
        url: 'https://prometheus.monitoring:9090/p',
        nodeLabel: 'instance',
        queries: [
          { name: 'pod-start.p99', query: 'max by (instance) (x)', least: 0.5, percent: 50 },
          { name: 'free', query: 'u', least: 1, worse: 'down' },
          { name: 'errors', query: 'z', above: 0.01 },
          { name: 'ready', query: 'z', below: -1 },
        ],
      },
      timeout: '30m',
    });
    const beside = read(
      'rollout: {canary: {nodes: 1}, analysis: {prometheus: {url: "http://p", queries: [{name: a, query: b, above: 0}]}}}',
    );
    assert.deepEqual(beside.findings, []);
    assert.deepEqual(Object.keys(beside.spec.rollout.analysis ?? {}), ['prometheus', 'timeout']);
  });

  it('leaves out what has no name or no query', () => {
    const queries = '[{name: a, above: 1}, {name: a b, query: c, above: 1}, up, {name: d, query: e, above: 1}]';
    const { spec, findings } = read(
      `rollout: {canary: {nodes: 1}, analysis: {prometheus: {url: "http://p", queries: ${queries}}}}`,
    );
    assert.deepEqual(spec.rollout.analysis?.prometheus?.queries, [{ name: 'd', query: 'e', above: 1 }]);
    assert.equal(findings.length, 3);
  });

  it('is asked beside agents', () => {
    const { spec, findings } = read(
      'rollout: {canary: {nodes: 1}, analysis: {measures: [cpu], prometheus: {url: "http://p", queries: [{name: a, query: b, above: 0}]}}}',
    );
    assert.deepEqual(findings, []);
    assert.deepEqual(spec.rollout.analysis?.measures, ['cpu']);
  });

  it('is said to be wrong by file, line and column', () => {
    const [finding] = read(`rollout:
    canary: {nodes: 1}
    analysis:
      prometheus:
        url: http://p
        queries:
          - {name: a, query: b, least: 0}`).findings;
    const { file, line, column, code } = finding ?? {};
    assert.deepEqual([code, line, column], ['out-of-range', 11, 33], file);
  });
});

/** Codes and places of what is wrong with a Prometheus that says this besides its address. */
function said(more: Readonly<Record<string, unknown>>): readonly string[] {
  const prometheus = JSON.stringify({ url: 'http://p', ...more });
  const wrong = mistakesIn(`{nodeSelector: {}, rollout: {canary: {nodes: 1}, analysis: {prometheus: ${prometheus}}}}`);
  return wrong.map((each) => each.replace(/spec\.rollout\.analysis\.prometheus\.?/, '').trim());
}

const query = (more: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => ({
  queries: [{ name: 'a', query: 'b', least: 1, ...more }],
});
const one = (more: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => ({
  queries: [{ name: 'a', query: 'b', ...more }],
});
const many = (count: number): Readonly<Record<string, unknown>> => ({
  queries: Array.from({ length: count }, (_, index) => ({ name: `a${index}`, query: 'b', above: 1 })),
});

/** What is limited; the last that is taken; the first that is not; what is said of that. */
const rows: readonly (readonly [string, Readonly<Record<string, unknown>>, object, string])[] = [
  ['the queries', many(10), many(11), 'out-of-range queries'],
  ['some query', many(1), many(0), 'wrong-type queries'],
  ['a query', many(1), { queries: ['up'] }, 'wrong-type queries[0]'],
  ['a query that is there', many(1), { queries: [null] }, 'wrong-type queries[0]'],
  ['the queries at all', many(1), {}, 'missing-field'],
  ['an address', query({}), { ...query({}), url: 'ftp://p' }, 'bad-url url'],
  ['an address without a password', query({}), { ...query({}), url: 'http://a:b@p' }, 'bad-url url'],
  ['an address at all', query({}), { ...query({}), url: undefined }, 'missing-field url'],
  ['a key', query({}), { ...query({}), query: 'up' }, 'unknown-field query'],
  ['a label', { ...query({}), nodeLabel: '_a9' }, { ...query({}), nodeLabel: '9a' }, 'bad-label nodeLabel'],
  ['a label in words', { ...query({}), nodeLabel: 'a' }, { ...query({}), nodeLabel: true }, 'bad-label nodeLabel'],
  [
    'a long label',
    { ...query({}), nodeLabel: 'a'.repeat(100) },
    { ...query({}), nodeLabel: 'a'.repeat(101) },
    'bad-label nodeLabel',
  ],
  ['a name', query({ name: 'a'.repeat(63) }), query({ name: 'a'.repeat(64) }), 'bad-text queries[0].name'],
  ['a name of letters', query({ name: 'A-b_c.9' }), query({ name: 'a b' }), 'bad-text queries[0].name'],
  ['a name that begins with one', query({ name: 'a9' }), query({ name: '9a' }), 'bad-text queries[0].name'],
  ['a name in words', query({ name: 'true' }), query({ name: true }), 'bad-text queries[0].name'],
  ['a name at all', query({}), query({ name: undefined }), 'missing-field queries[0]'],
  [
    'names that differ',
    many(2),
    { queries: [0, 1].map(() => ({ name: 'a', query: 'b', above: 1 })) },
    'duplicate-item queries[1].name',
  ],
  ['PromQL', query({ query: 'a'.repeat(4096) }), query({ query: 'a'.repeat(4097) }), 'bad-text queries[0].query'],
  ['PromQL at all', query({}), query({ query: undefined }), 'missing-field queries[0]'],
  ['PromQL in quotes', query({ query: '5' }), query({ query: 5 }), 'bad-text queries[0].query'],
  ['a least', query({ least: 0.001 }), query({ least: 0 }), 'out-of-range queries[0].least'],
  ['a least in digits', query({}), query({ least: '1' }), 'out-of-range queries[0].least'],
  ['a percentage', query({ percent: 100_000 }), query({ percent: 100_001 }), 'out-of-range queries[0].percent'],
  ['a whole percentage', query({ percent: 0 }), query({ percent: 0.5 }), 'out-of-range queries[0].percent'],
  [
    'a percentage of a fall',
    query({ percent: 99, worse: 'down' }),
    query({ percent: 100, worse: 'down' }),
    'out-of-range queries[0].percent',
  ],
  ['a way', query({ worse: 'up' }), query({ worse: 'Down' }), 'unknown-value queries[0].worse'],
  ['a bound', one({ above: -0.5 }), one({ above: '1' }), 'out-of-range queries[0].above'],
  ['a lower bound', one({ below: 0 }), one({ below: [0] }), 'out-of-range queries[0].below'],
  ['a comparison', one({ below: 1 }), one({}), 'missing-field queries[0]'],
  ['one comparison', one({ above: 1 }), one({ above: 1, below: 0 }), 'conflict queries[0]'],
  ['one of two comparisons', query({}), query({ above: 1 }), 'conflict queries[0]'],
  ['a share of something', query({ percent: 5 }), one({ above: 1, percent: 5 }), 'conflict queries[0].percent'],
  ['a way of something', query({ worse: 'down' }), one({ above: 1, worse: 'up' }), 'conflict queries[0].worse'],
];

describe('a Prometheus that is asked may have', () => {
  for (const [what, last, beyond, finding] of rows) {
    it(`${what} up to a limit`, () => {
      assert.deepEqual(said(last), []);
      assert.deepEqual(said({ ...beyond }), [finding]);
    });
  }
});
