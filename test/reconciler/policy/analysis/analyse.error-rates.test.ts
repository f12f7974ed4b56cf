import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { analyse, type CanaryVerdict } from '#reconciler/policy/analysis/analyse.ts';
import { judgeQueries } from '#reconciler/policy/analysis/judge-queries.ts';
import type { QueryAnswer } from '#reconciler/policy/analysis/query-answer.ts';
import type { NodeQuery } from '#shared/contract/api/prometheus-queries.ts';
import type { Measures } from '#shared/contract/api/measures.ts';
import { sampleOfCanary, sampleOfWaiting } from '#reconciler/policy/analysis/sample.ts';
import { seededRandom } from '#cli/seeded-random.ts';
import { type Effect, type Look, looksAt } from './support/fleet-of-measures.ts';

const SIZES = [
  { canaries: 1, waiting: 2 },
  { canaries: 1, waiting: 9 },
  { canaries: 1, waiting: 39 },
  { canaries: 3, waiting: 40 },
  { canaries: 5, waiting: 40 },
];

/** The verdict that stands: a change that looks worse is looked at again, ten minutes later. */
function judged(effect: Effect, size: (typeof SIZES)[number], seed: number, moved = 0): CanaryVerdict {
  const [first, second] = looksAt(size, effect, seededRandom(seed), moved);
  const verdict = verdictOf(first);
  return verdict.verdict === 'fail' ? verdictOf(second) : verdict;
}

const verdictOf = ({ canaries, waiting }: Look): CanaryVerdict =>
  analyse(
    canaries.map((measures, index) => sampleOfCanary(`canary-${index}`, measures, 'new')),
    waiting.flatMap((measures, index) => sampleOfWaiting(`node-${index}`, measures, 'new') ?? []),
  );

/** Each leaves the kubelet healthy. */
const REGRESSIONS: readonly (readonly [string, Effect])[] = [
  ['an eviction threshold that many nodes pass', () => ({ evictions: 12 })],
  ['an eviction threshold that a few pods pass', ({ evictions }) => ({ evictions: evictions + 6 })],
  ['an eviction threshold for disks', ({ evictions }) => ({ evictions: evictions + 5 })],
  ['pods refused and evicted for want of process IDs', ({ evictions }) => ({ evictions: evictions + 8 })],
  ['a memory limit on all pods', ({ oomKills }) => ({ oomKills: oomKills + 8 })],
  ['a smaller memory limit on burstable pods', ({ oomKills }) => ({ oomKills: oomKills + 5 })],
  ['images pulled one after the other', ({ podStart }) => ({ podStart: podStart * 6 })],
  ['one image pulled in five seconds', ({ podStart }) => ({ podStart: podStart + 25 })],
  ['one request to the API server in a second', ({ podStart }) => ({ podStart: podStart + 18 })],
  ['a CPU limit on the kubelet', ({ podStart, relist }) => ({ podStart: podStart * 5, relist: relist * 8 })],
  ['a runtime that times out', ({ runtimeErrors }) => ({ runtimeErrors: runtimeErrors + 90 })],
  ['a runtime timeout that is too short', ({ runtimeErrors }) => ({ runtimeErrors: runtimeErrors + 40 })],
  ['an image credential provider that fails', ({ runtimeErrors }) => ({ runtimeErrors: runtimeErrors + 60 })],
  ['a log directory on a slow disk', ({ relist }) => ({ relist: relist + 1.6 })],
  ['three times as many pods', ({ relist, cpu }) => ({ relist: relist * 3, cpu: cpu + 0.9 })],
  ['a sync of all pods in each second', ({ cpu }) => ({ cpu: cpu + 0.8 })],
  ['logs of level 10', ({ cpu }) => ({ cpu: cpu + 0.7 })],
  ['a status in each second', ({ cpu }) => ({ cpu: cpu + 0.6 })],
  ['reservations of the next larger machine', ({ reserved }) => ({ reserved: reserved + 0.6 })],
  ['reservations written in the wrong unit', ({ reserved }) => ({ reserved: reserved + 0.85 })],
];

describe('the analysis of canaries', () => {
  for (const size of SIZES) {
    const pool = `${size.canaries} of ${size.canaries + size.waiting} nodes`;

    it(`stops at least 18 of 20 regressions that leave the kubelet healthy: ${pool}`, () => {
      const passed = REGRESSIONS.flatMap(([name, effect], index) =>
        judged(effect, size, 1000 + index).verdict === 'fail' ? [] : [name],
      );
      assert.ok(passed.length <= 2, passed.join('; '));
    });

    it(`stops at most one in 200 changes that do nothing: ${pool}`, () => {
      const changes = 1000;
      const stopped = Array.from({ length: changes }, (_, seed) => judged(() => ({}), size, seed)).flatMap((verdict) =>
        verdict.verdict === 'fail' ? [verdict.because] : [],
      );
      assert.ok(stopped.length <= changes / 200, stopped.join('\n'));
    });

    // A workload that comes to the only canary and stays looks like the config's doing.
    const most = size.canaries === 1 ? 33 : 200;
    it(`stops at most one in ${most} where one node in twelve gets another workload meanwhile: ${pool}`, () => {
      const changes = 1000;
      const stopped = Array.from({ length: changes }, (_, seed) => judged(() => ({}), size, seed, 1 / 12));
      const failed = stopped.filter(({ verdict }) => verdict === 'fail');
      assert.ok(failed.length <= changes / most, failed.map(({ because }) => because).join('\n'));
    });
  }
});

/** Seconds that pods take to start, and how many a minute are started: of the one more is worse, of the other less. */
const QUERIES: readonly (readonly [NodeQuery, (podStart: number) => number])[] = [
  [{ name: 'start', query: 'x', least: 1, percent: 100 }, (podStart) => podStart],
  [{ name: 'started', query: 'x', least: 1, percent: 40, worse: 'down' }, (podStart) => 60 / podStart],
];

function askedTwice(
  [query, numberOf]: (typeof QUERIES)[number],
  times: number,
  size: (typeof SIZES)[number],
  seed: number,
) {
  const slower: Effect = ({ podStart }) => ({ podStart: podStart * times });
  const verdicts = looksAt(size, slower, seededRandom(seed)).map(({ canaries, waiting }) => {
    const named = [
      ...canaries.map((measures, index) => [`c${index}`, measures] as const),
      ...waiting.map((measures, index) => [`n${index}`, measures] as const),
    ];
    const side = (key: 'before' | 'now') =>
      new Map(named.map(([name, measures]) => [name, numberOf(podStartOf(measures, key))]));
    const answer: QueryAnswer = { before: side('before'), now: side('now') };
    const names = { canaries: canaries.map((_, n) => `c${n}`), waiting: waiting.map((_, n) => `n${n}`) };
    return judgeQueries({ url: 'http://p', queries: [query] }, new Map([[query.name, answer]]), names)[0]?.verdict;
  });
  return verdicts.every((verdict) => verdict === 'fail');
}

const podStartOf = (measures: Measures, key: 'before' | 'now'): number => measures[key]?.values.podStart ?? Number.NaN;

describe('the analysis of what Prometheus says', () => {
  for (const each of QUERIES) {
    const [{ name }] = each;
    for (const size of SIZES) {
      const pool = `${size.canaries} of ${size.canaries + size.waiting} nodes`;
      it(`stops at least 18 of 20 configs that change ${name} eightfold: ${pool}`, () => {
        const stopped = Array.from({ length: 20 }, (_, seed) => askedTwice(each, 8, size, 1000 + seed));
        assert.ok(stopped.filter(Boolean).length >= 18, `${stopped.filter(Boolean).length} of 20`);
      });
      it(`stops at most one in 200 configs that do nothing to ${name}: ${pool}`, () => {
        const stopped = Array.from({ length: 1000 }, (_, seed) => askedTwice(each, 1, size, seed));
        assert.ok(stopped.filter(Boolean).length <= 5, `${stopped.filter(Boolean).length} of 1000`);
      });
    }
  }
});
