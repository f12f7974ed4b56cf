import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../support/property.ts';
import type { AnalysisSpec } from '#shared/contract/api/kubelet-pool.ts';
import { analyse } from '#reconciler/policy/analysis/analyse.ts';
import { probabilityOfRank, median } from '#reconciler/policy/analysis/rank-statistics.ts';
import type { MeasureChanges, MeasuredNode, NodeSample } from '#reconciler/policy/analysis/sample.ts';

const samples = (name: string, ...changes: readonly MeasureChanges[]): readonly MeasuredNode[] =>
  changes.map((each, index) => ({ node: `${name}-${index}`, changes: each }));
const still = (count: number, changes: MeasureChanges): readonly MeasuredNode[] =>
  samples('node', ...Array.from({ length: count }, () => changes));
const cpu = (before: number, now: number): MeasureChanges => ({ cpu: { before, now } });
const verdictOf = (canary: MeasureChanges, waiting: readonly MeasuredNode[], spec?: Partial<AnalysisSpec>) =>
  analyse(samples('canary', canary), waiting, spec).verdict;

describe('the median', () => {
  for (const [numbers, middle] of [
    [[3], 3],
    [[5, 1, 3], 3],
    [[4, 1, 3, 2], 2.5],
    [[10, 2], 6],
  ] as const) {
    it(`of ${numbers.join(', ')} is ${middle}`, () => assert.equal(median(numbers), middle));
  }
  it('of nothing is not a number', () => assert.equal(median([]), Number.NaN));
});

describe('the chance of a rank', () => {
  it('counts who ranks as high, with the number itself', () => {
    assert.equal(probabilityOfRank(5, [1, 2, 3]), 1 / 4);
    assert.equal(probabilityOfRank(2, [1, 2, 3]), 3 / 4);
    assert.equal(probabilityOfRank(0, []), 1);
  });

  it('is at most p in a share p of all orders, so that it is a chance', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer(), { minLength: 2, maxLength: 50 }), (numbers) => {
        const chances = numbers.map((value, index) => probabilityOfRank(value, numbers.toSpliced(index, 1)));
        for (const p of chances) {
          assert.ok(chances.filter((chance) => chance <= p).length <= p * numbers.length + 1e-9);
        }
      }),
    );
  });
});

describe('one measure', () => {
  // Of the CPU, 0.25 cores or 50% of what it was before are allowed, whichever is more.
  for (const [what, canary, waiting, verdict] of [
    ['grew by the least that counts', cpu(0.1, 0.35), still(19, cpu(0.1, 0.1)), 'pass'],
    ['grew by more', cpu(0.1, 0.36), still(19, cpu(0.1, 0.1)), 'fail'],
    ['grew by half of what it was', cpu(1, 1.5), still(19, cpu(1, 1)), 'pass'],
    ['grew by more than half', cpu(1, 1.51), still(19, cpu(1, 1)), 'fail'],
    ['fell', cpu(2, 0.1), still(19, cpu(1, 1)), 'pass'],
    ['grew as it did everywhere', cpu(0.1, 1.1), still(19, cpu(0.1, 0.9)), 'pass'],
    ['grew by more than everywhere', cpu(0.1, 1.2), still(19, cpu(0.1, 0.9)), 'fail'],
    ['grew where it fell elsewhere', cpu(0.1, 0.3), still(19, cpu(0.9, 0.1)), 'pass'],
    ['grew by more than on 19 nodes', cpu(0.1, 0.6), still(19, cpu(0.1, 0.1)), 'fail'],
    ['grew by less than twice what counts, with only 18 nodes', cpu(0.1, 0.6), still(18, cpu(0.1, 0.1)), 'pass'],
    ['grew by more than twice what counts, with only 18 nodes', cpu(0.1, 0.61), still(18, cpu(0.1, 0.1)), 'fail'],
    ['grew by more than twice what counts, with no other node', cpu(0.1, 0.61), [], 'fail'],
    [
      'grew as much on one of few nodes',
      cpu(0.1, 0.9),
      [...still(9, cpu(0.1, 0.1)), ...still(1, cpu(0.1, 0.9))],
      'pass',
    ],
    ['grew as much on one in twenty', cpu(0.1, 0.9), [...still(38, cpu(0.1, 0.1)), ...still(1, cpu(0.1, 0.9))], 'fail'],
    [
      'grew as much on more than that',
      cpu(0.1, 0.9),
      [...still(37, cpu(0.1, 0.1)), ...still(2, cpu(0.1, 0.9))],
      'pass',
    ],
    ['was not measured on the canary', {}, still(19, cpu(0.1, 0.1)), 'pass'],
    ['was measured on the canary alone', cpu(0.1, 0.61), still(19, {}), 'fail'],
  ] as const) {
    it(`is a ${verdict} where it ${what}`, () => assert.equal(verdictOf(canary, waiting), verdict));
  }

  it('counts by the thresholds of the pool', () => {
    const waiting = still(19, cpu(1, 1));
    assert.equal(verdictOf(cpu(1, 1.9), waiting, { thresholds: { cpu: { percent: 90 } } }), 'pass');
    assert.equal(verdictOf(cpu(1, 1.9), waiting, { thresholds: { cpu: { percent: 89 } } }), 'fail');
    assert.equal(verdictOf(cpu(1, 1.9), waiting, { thresholds: { cpu: { least: 0.9 } } }), 'pass');
    assert.equal(verdictOf(cpu(1, 1.9), waiting, { thresholds: { cpu: { least: 0 } } }), 'fail');
    assert.equal(verdictOf(cpu(1, 1.9), waiting, { measures: ['relist'] }), 'pass');
  });

  it('is that of the canary in the middle', () => {
    const waiting = still(97, cpu(0.1, 0.1));
    const three = (...now: readonly number[]) => samples('canary', ...now.map((value) => cpu(0.1, value)));
    assert.equal(analyse(three(0.1, 0.1, 9), waiting).verdict, 'pass');
    assert.equal(analyse(three(0.1, 0.9, 0.9), waiting).verdict, 'fail');
  });
});

describe('a verdict', () => {
  const waiting = [...still(39, cpu(0.1, 0.12)), ...still(1, cpu(0.1, 4))];

  it('says what got worse, and how the others did', () => {
    const changes: MeasureChanges = { cpu: { before: 0.1, now: 1.2345 }, evictions: { before: 0, now: 6 } };
    assert.deepEqual(analyse(samples('canary', changes), waiting), {
      verdict: 'fail',
      because:
        '6 evicted pods in 10 minutes, before 0; no other node was measured; ' +
        '1.23 cores for the kubelet, before 0.1; of 40 nodes that wait 1 got as much worse',
    });
  });

  for (const [name, now, said] of [
    ['evictions', 9, '9 evicted pods in 10 minutes, before 1;'],
    ['oomKills', 9, '9 times out of memory in 10 minutes, before 1;'],
    ['runtimeErrors', 99, '99 errors of the container runtime in 10 minutes, before 1;'],
    ['podStart', 12.345, '12.3 s to start a pod, before 1 s;'],
    ['relist', 9, '9 s to list the running pods, before 1 s;'],
    ['cpu', 9, '9 cores for the kubelet, before 1;'],
    ['reserved', 1.55, '155% of the memory kept from pods, before 100%;'],
  ] as const) {
    it(`says ${name} in its unit`, () => {
      const { because } = analyse(
        samples('canary', { [name]: { before: 1, now } }),
        still(19, { [name]: { before: 1, now: 1 } }),
      );
      assert.ok(because.startsWith(said), because);
    });
  }

  it('says what was compared', () => {
    assert.deepEqual(analyse(samples('canary', cpu(0.1, 0.1)), waiting), {
      verdict: 'pass',
      because: '1 node compared with 40 nodes that wait',
    });
  });

  for (const [what, now, absent, verdict] of [
    ['most of them are worse', [9, 9], 1, 'fail'],
    ['one of two is worse', [9], 1, 'unknown'],
    ['one of three is worse', [9], 2, 'unknown'],
    ['the others are no worse', [0.1, 0.1], 1, 'unknown'],
  ] as const) {
    it(`is ${verdict} where ${what} and one tells nothing`, () => {
      const measured = samples('canary', ...now.map((value) => cpu(0.1, value)));
      const mute = Array.from({ length: absent }, () => ({ node: 'mute', missing: 'mute is new' }));
      assert.equal(analyse([...mute, ...measured], waiting).verdict, verdict);
    });
  }

  it('is unknown while one canary cannot be compared', () => {
    const missing: readonly NodeSample[] = [1, 2, 3, 4, 5].map((index) => ({
      node: `c${index}`,
      missing: `c${index} is new`,
    }));
    assert.deepEqual(analyse([...samples('canary', cpu(0.1, 9)), ...missing.slice(0, 1)], waiting), {
      verdict: 'unknown',
      because: 'c1 is new',
    });
    assert.deepEqual(analyse(missing, waiting), {
      verdict: 'unknown',
      because: 'c1 is new; c2 is new; c3 is new; and 2 more',
    });
    assert.equal(analyse(missing.slice(0, 3), waiting).because, 'c1 is new; c2 is new; c3 is new');
    assert.equal(analyse([], waiting).verdict, 'unknown');
  });
});
