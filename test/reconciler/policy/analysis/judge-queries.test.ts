import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../support/property.ts';
import type { FleetQuery, NodeQuery } from '#shared/contract/api/prometheus-queries.ts';
import type { CanaryVerdict } from '#reconciler/policy/analysis/analyse.ts';
import { judgeQueries } from '#reconciler/policy/analysis/judge-queries.ts';
import type { NodeNumber, QueryAnswer } from '#reconciler/policy/analysis/query-answer.ts';

const URL = 'http://prometheus.monitoring:9090';
const P99: NodeQuery = { name: 'p99', query: 'x', least: 2, percent: 50 };
const FREE: NodeQuery = { name: 'free', query: 'x', least: 2, percent: 50, worse: 'down' };

type Numbers = readonly (readonly [before: NodeNumber, now: NodeNumber])[];

/** The canaries are c0, c1, …; the nodes that wait are n0, n1, … */
function judged(query: NodeQuery | FleetQuery, canaries: Numbers, waiting: Numbers, more?: QueryAnswer): CanaryVerdict {
  const named = [
    ...canaries.map((pair, index) => [`c${index}`, pair] as const),
    ...waiting.map((pair, index) => [`n${index}`, pair] as const),
  ];
  const side = (index: 0 | 1): ReadonlyMap<string, NodeNumber> => new Map(named.map(([n, pair]) => [n, pair[index]]));
  const answer = more ?? { before: side(0), now: side(1) };
  const names = { canaries: canaries.map((_, n) => `c${n}`), waiting: waiting.map((_, n) => `n${n}`) };
  const [verdict] = judgeQueries({ url: URL, queries: [query] }, new Map([[query.name, answer]]), names);
  assert.ok(verdict !== undefined);
  return verdict;
}

const still = (count: number, before: number, now = before): Numbers =>
  Array.from({ length: count }, () => [before, now]);

describe('one number for each node', () => {
  for (const [what, query, canaries, waiting, verdict] of [
    ['grew by the least that counts', P99, still(1, 1, 3), still(19, 1), 'pass'],
    ['grew by more', P99, still(1, 1, 3.01), still(19, 1), 'fail'],
    ['grew by half of what it was', P99, still(1, 10, 15), still(19, 10), 'pass'],
    ['grew by more than half', P99, still(1, 10, 15.1), still(19, 10), 'fail'],
    ['grew from nothing', P99, still(1, 0, 2.01), still(19, 0), 'fail'],
    ['grew as it did everywhere', P99, still(1, 1, 9), still(19, 1, 8), 'pass'],
    ['grew by less than twice as much, with 18 nodes', P99, still(1, 1, 5), still(18, 1), 'pass'],
    ['grew by more than twice as much, with 18 nodes', P99, still(1, 1, 5.01), still(18, 1), 'fail'],
    ['grew with no other node', P99, still(1, 1, 5.01), [], 'fail'],
    ['grew as much on one of few nodes', P99, still(1, 1, 9), [...still(9, 1), ...still(1, 1, 9)], 'pass'],
    ['grew as much on one in twenty', P99, still(1, 1, 9), [...still(38, 1), ...still(1, 1, 9)], 'fail'],
    ['grew as much on more', P99, still(1, 1, 9), [...still(37, 1), ...still(2, 1, 9)], 'pass'],
    [
      'grew on the canary in the middle',
      P99,
      [
        [1, 1],
        [1, 9],
        [1, 9],
      ],
      still(97, 1),
      'fail',
    ],
    [
      'grew on one of three canaries',
      P99,
      [
        [1, 1],
        [1, 1],
        [1, 9],
      ],
      still(97, 1),
      'pass',
    ],
    ['stayed, near the largest number there is', { ...P99, percent: 0 }, still(2, 1e308), [], 'pass'],
    ['fell, which is better', P99, still(1, 10, 0), still(19, 10), 'pass'],
    ['fell by the least that counts', FREE, still(1, 4, 2), still(19, 4), 'pass'],
    ['fell by more', FREE, still(1, 4, 1.99), still(19, 4), 'fail'],
    ['fell by half', FREE, still(1, 10, 5), still(19, 10), 'pass'],
    ['fell by more than half', FREE, still(1, 10, 4.9), still(19, 10), 'fail'],
    ['fell by three quarters, with 18 nodes', FREE, still(1, 100, 25), still(18, 100), 'pass'],
    ['fell by more than three quarters, with 18 nodes', FREE, still(1, 100, 24.9), still(18, 100), 'fail'],
    ['fell as it did everywhere', FREE, still(1, 10, 0), still(19, 10, 1), 'pass'],
    ['fell as much on more than one in twenty', FREE, still(1, 10, 1), [...still(37, 10), ...still(2, 10, 1)], 'pass'],
    ['grew, which is better', FREE, still(1, 1, 100), still(19, 1), 'pass'],
  ] as const) {
    it(`is a ${verdict} where it ${what}`, () => assert.equal(judged(query, canaries, waiting).verdict, verdict));
  }

  it('says from what to what, and how the others did', () => {
    assert.deepEqual(judged(P99, still(1, 1.2345, 9), [...still(39, 1), ...still(1, 1, 99)]), {
      verdict: 'fail',
      because: 'p99 is 9, before 1.23; of 40 nodes that wait 1 got as much worse',
    });
    assert.deepEqual(judged(P99, still(1, 1, 2), still(1, 1)), {
      verdict: 'pass',
      because: 'p99 is 2, before 1; nodes that wait: 1',
    });
  });

  it('leaves out nodes that wait and have no number at both times', () => {
    const gone: Numbers = [['none', 9], [1, 'several'], ...still(18, 1)];
    assert.match(judged(P99, still(1, 1, 1), gone).because, /that wait: 18$/);
  });

  for (const [what, pair, missing] of [
    ['none of the right kind', [1, 'none'], 'p99: no number of at least 0 for c0'],
    ['several', [1, 'several'], 'p99: several series for c0'],
    ['none of before', ['none', 9], 'p99: no number of at least 0 for c0 before the change'],
    ['several of before', ['several', 9], 'p99: several series for c0 before the change'],
  ] as const) {
    it(`is unknown where a canary has ${what}, unless most of them are worse`, () => {
      const beside = (count: number, now: number) => judged(P99, [pair, ...still(count, 1, now)], still(19, 1));
      assert.deepEqual(beside(1, 99), { verdict: 'unknown', because: missing });
      assert.deepEqual(beside(2, 1), { verdict: 'unknown', because: missing });
      assert.equal(beside(2, 99).verdict, 'fail');
    });
  }

  it('is unknown where a canary has no series', () => {
    const answer = { before: new Map([['c0', 1]]), now: new Map<string, number>() };
    assert.equal(judged(P99, still(1, 1), [], answer).because, 'p99: no series for c0');
    const later = { before: new Map<string, number>(), now: new Map([['c0', 1]]) };
    assert.equal(judged(P99, still(1, 1), [], later).because, 'p99: no series for c0 before the change');
    assert.equal(judged(P99, [], still(19, 1)).verdict, 'unknown');
  });

  it('never fails a config that left the number of each canary as it was', () => {
    const number = fc.double({ min: 0, max: 1e9, noNaN: true });
    const numbers = fc.array(fc.tuple(number, number), { maxLength: 50 });
    fc.assert(
      fc.property(fc.array(number, { minLength: 1, maxLength: 5 }), numbers, fc.boolean(), (same, others, down) => {
        const canaries = same.map((each) => [each, each] as const);
        assert.equal(judged(down ? FREE : P99, canaries, others).verdict, 'pass');
      }),
    );
  });
});

describe('one number', () => {
  const ABOVE: FleetQuery = { name: 'errors', query: 'x', above: 0.1 };
  const BELOW: FleetQuery = { name: 'ready', query: 'x', below: -1 };
  for (const [query, value, verdict, because] of [
    [ABOVE, 0.1, 'pass', 'errors is 0.1'],
    [ABOVE, 0.101, 'fail', 'errors is 0.101, above 0.1'],
    [ABOVE, -5, 'pass', 'errors is -5'],
    [BELOW, -1, 'pass', 'ready is -1'],
    [BELOW, -1.01, 'fail', 'ready is -1.01, below -1'],
    [BELOW, 5, 'pass', 'ready is 5'],
  ] as const) {
    it(`is a ${verdict}: ${because}`, () => {
      assert.deepEqual(judged(query, [], [], { value }), { verdict, because });
    });
  }
});

describe('no answer', () => {
  const ABOVE: FleetQuery = { name: 'errors', query: 'x', above: 0.1 };
  for (const [what, query, answer, because] of [
    ['from a Prometheus that is away', P99, { missing: 'no connection' }, 'p99: no connection'],
    ['for all nodes at once', P99, { value: 9 }, 'p99: has one number for all nodes'],
    ['for each node', ABOVE, { before: new Map(), now: new Map() }, 'errors: has a number for each node'],
  ] as const) {
    it(`${what} is no verdict`, () => {
      assert.deepEqual(judged(query, still(1, 1, 99), [], answer), { verdict: 'unknown', because });
    });
  }

  it('is none yet', () => {
    const [verdict] = judgeQueries({ url: URL, queries: [ABOVE] }, new Map(), { canaries: ['c0'], waiting: [] });
    assert.deepEqual(verdict, { verdict: 'unknown', because: 'errors: has not been asked yet' });
  });
});
