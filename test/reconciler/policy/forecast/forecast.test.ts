import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type FailsAfter,
  forecast as forecastOf,
  forecastTogether,
  type Stage,
  type ForecastTerms,
  type Underway,
} from '#reconciler/policy/forecast/forecast.ts';
import type { ForecastNode } from '#reconciler/policy/forecast/waiting.ts';

const places = (free: number, forNotReady = free) => ({ free, forNotReady });

const TERMS: ForecastTerms = {
  places: places(1),
  placesIn: () => places(Infinity),
  mostOnTrial: 100,
  canaries: 1,
  isProven: false,
  restartMs: 10,
  trialMs: { full: 600, afterCanary: 150 },
  probationMs: 50,
  soakMs: 0,
  settled: 0,
  failed: 0,
  threshold: 1,
  takenOver: new Set(),
};

const forecast = (
  terms: ForecastTerms,
  stages: readonly Stage[],
  underway: readonly Underway[] = [],
  lastPromotedMs = -Infinity,
  failsAfter: FailsAfter = () => null,
) => forecastOf({ terms, stages, underway, lastPromotedMs, failsAfter });

const node = (name: string, zone = '', isControlPlane = false): ForecastNode => ({
  name,
  zone,
  isControlPlane,
  ready: true,
});
const NODES = ['a', 'b', 'c', 'd'].map((name) => node(name));
const all = (nodes = NODES): readonly Stage[] => [{ nodes, soakMs: 0 }];
const told = (terms: Partial<ForecastTerms>, stages = all()) => {
  const { turns, endMs, soakedMs } = forecast({ ...TERMS, ...terms }, stages);
  return [turns.map((turn) => turn.map(({ name }) => name).join('')).join(' '), endMs, soakedMs];
};

describe('a forecast', () => {
  const ROWS: readonly (readonly [string, Partial<ForecastTerms>, readonly unknown[]])[] = [
    ['gives a place back after the probation', {}, ['a b c d', 610 + 60 + 60 + 160, 890]],
    [
      'keeps a place to the end of a trial that is shorter than the probation',
      { probationMs: 151 },
      ['a b c d', 610 + 3 * 160, 1090],
    ],
    [
      'keeps a place until a node has soaked, with a full probation',
      { probationMs: null, soakMs: 5 },
      ['a b c d', 4 * 610 + 15, 4 * 615],
    ],
    [
      'bounds who is on trial by nothing else, with a full probation',
      { places: places(2), probationMs: null },
      ['ab cd', 1220, 1220],
    ],
    ['has nobody begin before the canary promoted', { places: places(4) }, ['a bc d', 610 + 60 + 160, 830]],
    [
      'has one less than may be on trial begin',
      { places: places(4), mostOnTrial: 1 },
      ['a b c d', 610 + 3 * 160, 1090],
    ],
    ['has as many canaries begin as there are', { places: places(4), canaries: 3 }, ['abc d', 610 + 160, 770]],
    [
      'keeps a node on trial while it soaks',
      { places: places(4), mostOnTrial: 1, soakMs: 7 },
      ['a b c d', 610 + 3 * 160 + 21, 1118],
    ],
    ['bounds nobody where the config is proven', { places: places(3), isProven: true }, ['abc d', 60 + 160, 220]],
    ['ends with none where none may begin', { places: places(0) }, ['', null, null]],
    [
      'takes nothing but a restart where a config is taken over',
      { takenOver: new Set(['a', 'b', 'c', 'd']) },
      ['a b c d', 40, 40],
    ],
    ['counts what has settled before', { places: places(4), settled: 1 }, ['ab cd', 60 + 160, 220]],
    [
      'begins with half as many after a failure, and goes on with short trials',
      { places: places(4), settled: 1, failed: 1, threshold: 2 },
      ['a b c d', 380, 380],
    ],
  ];
  for (const [name, terms, expected] of ROWS) it(name, () => assert.deepEqual(told(terms), expected));

  it('takes nodes of the control plane one at a time, each until its trial is over', () => {
    const stages = all([node('x', '', true), node('y', '', true), node('a')]);
    assert.deepEqual(told({ places: places(3), isProven: true }, stages), ['xa y', 320, 320]);
  });

  it('takes them so as well when others have soaked', () => {
    const soaked = { node: node('a'), passesMs: -9, promotesMs: -9, releasesMs: 0 };
    const stages = all([node('x', '', true), node('y', '', true)]);
    const { turns } = forecast({ ...TERMS, places: places(3), isProven: true }, stages, [soaked]);
    assert.deepEqual(
      turns.map((turn) => turn.length),
      [1, 1],
    );
  });

  it('takes no more of a zone than it may, and the first of the others', () => {
    const stages = all([node('a', '1'), node('b', '1'), node('c', '2')]);
    assert.deepEqual(told({ places: places(3), isProven: true, placesIn: () => places(1) }, stages), [
      'ac b',
      220,
      220,
    ]);
    assert.deepEqual(told({ places: places(3), isProven: true, placesIn: () => places(2) }, stages), ['abc', 160, 160]);
  });

  it('has nodes of later waves begin in the places of those that wait for their zone, but for waves of certain nodes', () => {
    const [canaries, rest] = [
      [node('a', '1'), node('b', '1')],
      [node('c', '2'), node('d', '2')],
    ];
    const told_ = (isFixed: boolean) =>
      told({ places: places(3), canaries: 2, placesIn: () => places(1) }, [
        { nodes: canaries, isFixed, soakMs: 0 },
        { nodes: rest, soakMs: 0 },
      ])[0];
    assert.deepEqual([told_(false), told_(true)], ['ac bd', 'a b c d']);
  });

  it('lets a wave soak before the next one, also one that nobody has yet to begin in', () => {
    const stages = [{ nodes: NODES.slice(0, 1), soakMs: 30 }, ...all(NODES.slice(1, 2))];
    assert.deepEqual(told({}, stages), ['a b', 610 + 30 + 160, 800]);
    const { endMs } = forecast(TERMS, [{ nodes: [], soakMs: 30 }, ...all(NODES.slice(0, 1))], [], -10);
    assert.equal(endMs, 20 + 610);
  });

  it('is over with the last wave, which nothing has to soak for', () => {
    assert.deepEqual(told({}, [{ nodes: NODES.slice(0, 1), soakMs: 30 }]), ['a', 610, 610]);
  });

  it('has nodes that are not Ready begin in places of their own, keep them until they have soaked, and prove nothing', () => {
    const ill = (name: string) => ({ ...node(name), ready: false });
    const [a, b, x, y] = [node('a'), node('b'), ill('x'), ill('y')];
    // b waits for a to be past its probation, x and y for one place after the other.
    assert.deepEqual(told({ isProven: true }, all([a, b, x, y])), ['a b x y', 220, 440]);
    assert.deepEqual(told({ isProven: true, places: places(1, 3) }, all([a, b, x, y])), ['axy b', 220, 220]);
    assert.deepEqual(told({ isProven: true, places: places(0, 2) }, all([x, y])), ['xy', 0, 160]);
    // The wave of x is never over, and nobody else begins.
    const stages = [
      { nodes: [x], soakMs: 0 },
      { nodes: [a], soakMs: 0 },
    ];
    assert.deepEqual(told({ places: places(4) }, stages), ['x', null, null]);
    assert.deepEqual(told({ places: places(0, 1) }, all([x, a])), ['x', null, null]);
  });

  it('has no canary that is not Ready while a Ready node of its class waits for a place in change', () => {
    const ill = (name: string, className?: string) => ({ ...node(name), ready: false, className });
    const [a, b, x] = [node('a'), node('b'), ill('x')];
    const canaries = (candidates: readonly ForecastNode[]): readonly Stage[] => [
      { nodes: candidates.slice(0, 2), candidates, soakMs: 0 },
      { nodes: candidates.slice(2), soakMs: 0 },
    ];
    const begins = (stages: readonly Stage[], free: number) =>
      told({ places: places(free, 2), mostOnTrial: 9, canaries: 2, probationMs: null }, stages)[0];
    assert.equal(begins(canaries([a, b, x]), 1), 'a b x');
    // Nothing is in change that would give a place back.
    assert.equal(begins(canaries([a, b, x]), 0), 'x');
    // Of another class, it is in nobody's place.
    const [big, small] = [{ ...a, className: 'big' }, ill('x', 'small')];
    assert.equal(begins(canaries([big, small]), 1), 'ax');
  });

  it('has rollouts that share a bound go side by side as far as it reaches, each with its own waves', () => {
    const names = (letter: string) => ['1', '2'].map((number) => node(`${letter}${number}`));
    const waves = (letter: string): readonly Stage[] => names(letter).map((each) => ({ nodes: [each], soakMs: 100 }));
    const ends = (most: number) =>
      forecastTogether(
        ['a', 'b'].map((letter) => ({ terms: TERMS, stages: waves(letter) })),
        places(most),
      ).map(({ endMs, soakedMs }) => [endMs, soakedMs]);
    const alone = 610 + 100 + 160;
    assert.deepEqual(ends(2), [
      [alone, alone],
      [alone, alone],
    ]);
    // The canary of the second one begins once that of the first is past its probation.
    assert.deepEqual(ends(1), [
      [alone, alone],
      [60 + alone, 60 + alone],
    ]);
    assert.deepEqual(ends(0), [
      [null, null],
      [null, null],
    ]);
  });

  it('is not stopped where nobody may begin', () => {
    assert.equal(forecast({ ...TERMS, places: places(0) }, all()).isStopped, false);
  });

  it('goes on from what has begun', () => {
    const begun = { node: node('a'), passesMs: -5, promotesMs: 40, releasesMs: 40 };
    const { turns, endMs } = forecast({ ...TERMS, settled: 1, places: places(1) }, all(NODES.slice(1, 3)), [begun]);
    assert.deepEqual([turns.length, endMs], [2, 60 + 160]);
    const inProbation = { ...begun, passesMs: 5 };
    assert.equal(forecast({ ...TERMS, settled: 1 }, all(NODES.slice(1, 2)), [inProbation]).endMs, 5 + 160);
  });

  it('stops at as many failures as stop the rollout, and not at one less', () => {
    const fails = (most: number) => (name: string) => (name.charCodeAt(0) - 97 < most ? 20 : null);
    const seen = (threshold: number, most: number) => {
      const { turns, isStopped } = forecast({ ...TERMS, threshold }, all(), [], undefined, fails(most));
      return [turns.flat().length, isStopped];
    };
    assert.deepEqual(
      [seen(1, 0), seen(1, 1)],
      [
        [4, false],
        [1, true],
      ],
    );
    // What failed is unavailable, and uses up the only place.
    assert.equal(forecast({ ...TERMS, threshold: 2 }, all(), [], undefined, fails(1)).endMs, null);
    // Also past its probation, which took the place back.
    const calm = (name: string) => (name === 'a' ? 51 : null);
    assert.equal(forecast({ ...TERMS, threshold: 2 }, all(), [], undefined, calm).endMs, null);
    const two = forecast({ ...TERMS, threshold: 2, places: places(2) }, all(), [], undefined, fails(2));
    assert.deepEqual([two.turns.flat().length, two.isStopped], [2, true]);
    const late = forecast({ ...TERMS, places: places(4) }, all(), [], undefined, () => 600);
    assert.deepEqual([late.turns.flat().length, late.isStopped], [4, false], 'its trial is over by then');
    const last = forecast({ ...TERMS, places: places(4) }, all(), [], undefined, () => 599);
    assert.deepEqual([last.turns.flat().length, last.isStopped], [1, true]);
    assert.equal(last.endMs, 10 + 599);
  });

  it('goes on with the places that a failure leaves, also of one that came just as the probation was over', () => {
    for (const failsMs of [49, 50, 51]) {
      const ends = (budget: number) => {
        const fails = (name: string) => (name === 'a' ? failsMs : null);
        return forecast({ ...TERMS, threshold: 2, places: places(budget) }, all(), [], undefined, fails).endMs;
      };
      assert.deepEqual([ends(1), ends(2)], [null, 10 + failsMs + 610 + 60 + 160], `after ${failsMs}`);
    }
  });

  it('has nobody fail once the trial is over, while the node soaks', () => {
    for (const failsMs of [600, 601]) {
      const terms = { ...TERMS, places: places(4), mostOnTrial: 1, soakMs: 7 };
      const { endMs, isStopped } = forecast(terms, all(), [], undefined, () => failsMs);
      assert.deepEqual([endMs, isStopped], [610 + 3 * 160 + 21, false], `after ${failsMs}`);
    }
  });
});
