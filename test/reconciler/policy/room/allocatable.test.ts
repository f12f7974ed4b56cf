import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../support/property.ts';
import {
  allocatableEffect,
  mostLeft,
  type NodeSize,
  rounded,
  showAmount,
} from '#reconciler/policy/room/allocatable.ts';

const MI = 2 ** 20;
const GI = 2 ** 30;
const CAPACITY = { cpu: '4', memory: '16Gi', 'ephemeral-storage': '100Gi', pods: '110' };

const size = (capacity: Readonly<Record<string, string>> = {}, kubeletVersion = 'v1.34.2'): NodeSize => ({
  kubeletVersion,
  capacity: { ...CAPACITY, ...capacity },
  allocatable: CAPACITY,
});

type Config = Readonly<Record<string, unknown>>;
const over = (value: Config) => ({ value, apply: 'overlay' }) as const;
const instead = (value: Config) => ({ value, apply: 'replace' }) as const;
const ALL = { kubeReserved: { memory: '0' }, systemReserved: { memory: '0' } };

/** What a first config of a node leaves, exactly and at most; undefined where nothing is said of it. */
const ROWS: readonly (readonly [
  string,
  { readonly value: Config; readonly apply: 'overlay' | 'replace' },
  NodeSize,
  'cpu' | 'memory' | 'ephemeral-storage' | 'pods',
  readonly [number | undefined, number | undefined],
])[] = [
  [
    'all parts of it, named',
    over({ ...ALL, kubeReserved: { memory: '1Gi' }, evictionHard: { 'memory.available': '512Mi' } }),
    size(),
    'memory',
    [14.5 * GI, 14.5 * GI],
  ],
  [
    'one part, and the others are the node’s own',
    over({ evictionHard: { 'memory.available': '15Gi' } }),
    size(),
    'memory',
    [undefined, GI],
  ],
  ['a map that does not name it', over({ kubeReserved: { cpu: '1' } }), size(), 'memory', [undefined, undefined]],
  [
    'maps that are taken back, and stay away',
    over({ kubeReserved: null, systemReserved: null, evictionHard: { 'memory.available': '1Gi' } }),
    size(),
    'memory',
    [15 * GI, 15 * GI],
  ],
  [
    'a share of the memory, in whole bytes of a 32-bit float',
    over({ ...ALL, evictionHard: { 'memory.available': '10%' } }),
    size({ memory: '16393244Ki' }),
    'memory',
    [16393244 * 1024 - Math.trunc(16393244 * 1024 * Math.fround(0.1)), 15108013646],
  ],
  ['99 %', over({ ...ALL, evictionHard: { 'memory.available': '99%' } }), size(), 'memory', [171798528, 171798528]],
  [
    'thresholds that are switched off',
    over({ ...ALL, evictionHard: { 'memory.available': '100%' } }),
    size(),
    'memory',
    [undefined, undefined],
  ],
  [
    'huge pages, which are no memory',
    over({ ...ALL, evictionHard: { 'memory.available': '1Gi' } }),
    size({ 'hugepages-2Mi': '2Gi', 'hugepages-1Gi': '1Gi', 'attachable-volumes-x': '39' }),
    'memory',
    [12 * GI, 12 * GI],
  ],
  [
    'huge pages, which are no disk',
    instead({}),
    size({ 'hugepages-2Mi': '2Gi' }),
    'ephemeral-storage',
    [96636764000, 96636764000],
  ],
  [
    'nothing, in place of what there was: its defaults',
    instead({}),
    size(),
    'memory',
    [16 * GI - 100 * MI, 16 * GI - 100 * MI],
  ],
  [
    'thresholds without this one, in place of what there was',
    instead({ evictionHard: { 'pid.available': '1%' } }),
    size(),
    'memory',
    [undefined, undefined],
  ],
  [
    'thresholds to which the defaults are added',
    instead({ evictionHard: { 'pid.available': '1%' }, mergeDefaultEvictionSettings: true }),
    size(),
    'memory',
    [16 * GI - 100 * MI, 16 * GI - 100 * MI],
  ],
  [
    'a threshold of its own beside the defaults that are added',
    instead({ evictionHard: { 'memory.available': '1Gi' }, mergeDefaultEvictionSettings: true }),
    size(),
    'memory',
    [15 * GI, 15 * GI],
  ],
  [
    'defaults asked for of a kubelet that adds none',
    instead({ evictionHard: { 'pid.available': '1%' }, mergeDefaultEvictionSettings: true }),
    size({}, 'v1.30.1'),
    'memory',
    [undefined, undefined],
  ],
  ['shares of CPUs', over({ kubeReserved: { cpu: '100m' }, systemReserved: { cpu: '1' } }), size(), 'cpu', [2.9, 2.9]],
  ['shares of CPUs, one part', over({ kubeReserved: { cpu: '3990m' } }), size(), 'cpu', [undefined, 0.01]],
  [
    'CPUs in place of the shares',
    over({ kubeReserved: { cpu: '3' }, systemReserved: { cpu: '1' }, reservedSystemCPUs: '0-1' }),
    size(),
    'cpu',
    [2, 2],
  ],
  ['a limit of pods', over({ maxPods: 20 }), size(), 'pods', [20, 20]],
  ['pods for each core', over({ maxPods: 110, podsPerCore: 3 }), size(), 'pods', [12, 12]],
  ['more pods for each core than the limit', over({ maxPods: 20, podsPerCore: 30 }), size(), 'pods', [20, 20]],
  [
    'pods for each core of nobody knows how many',
    over({ maxPods: 20, podsPerCore: 3 }),
    size({ cpu: '?' }),
    'pods',
    [20, 20],
  ],
  ['no limit of pods', over({ podsPerCore: 3 }), size(), 'pods', [undefined, undefined]],
  ['no limit of pods, in place of what there was', instead({ podsPerCore: 3 }), size(), 'pods', [12, 12]],
  ['more pods than now', over({ maxPods: 250 }), size(), 'pods', [250, undefined]],
  [
    'a node that does not say its size',
    over({ maxPods: 20 }),
    { ...size(), allocatable: {} },
    'pods',
    [undefined, undefined],
  ],
];

describe('what a first config of a node leaves for pods', () => {
  for (const [which, config, node, resource, [exactly, atMost]] of ROWS) {
    it(`${resource} of ${which}`, () => {
      const effect = allocatableEffect(node, null, config).find((each) => each.resource === resource);
      assert.equal(effect?.after, exactly);
      const most = mostLeft(node, null, config).find((each) => each.resource === resource);
      assert.equal(most?.after, atMost);
    });
  }

  it('says what takes how much', () => {
    const config = over({ ...ALL, kubeReserved: { memory: '1Gi' }, evictionHard: { 'memory.available': '512Mi' } });
    const [memory] = mostLeft(size({ 'hugepages-2Mi': '2Gi' }), null, config);
    assert.equal(memory?.capacity, 16 * GI);
    assert.deepEqual(memory?.taken, [
      { what: 'kubeReserved', amount: GI },
      { what: 'evictionHard', amount: 512 * MI },
      { what: 'huge pages', amount: 2 * GI },
    ]);
    const [cpu] = mostLeft(size(), null, over({ reservedSystemCPUs: '0-1' }));
    assert.deepEqual(cpu?.taken, [{ what: 'reservedSystemCPUs', amount: 2 }]);
    assert.deepEqual(mostLeft(size(), null, over({ maxPods: 3 })), [
      { resource: 'pods', before: 110, after: 3, capacity: 110, taken: [] },
    ]);
  });
});

describe('what a change of configs leaves for pods', () => {
  const node: NodeSize = { ...size(), allocatable: { ...CAPACITY, memory: '14Gi', cpu: '3' } };
  const reserving = (memory: string) => over({ kubeReserved: { memory } });
  const left = (before: Config, after: Config) =>
    [allocatableEffect, mostLeft].map(
      (effect) => effect(node, over(before), over(after)).find(({ resource }) => resource === 'memory')?.after,
    );

  it('is the difference, where the rest is the node’s own in both', () => {
    assert.deepEqual(left(reserving('1Gi').value, reserving('3Gi').value), [12 * GI, 12 * GI]);
    assert.deepEqual(left(reserving('3Gi').value, reserving('1Gi').value), [16 * GI, undefined]);
  });

  it('is not known where a part was the node’s own', () => {
    const evicts = { evictionHard: { 'memory.available': '3Gi' } };
    assert.deepEqual(left(reserving('1Gi').value, { ...reserving('1Gi').value, ...evicts }), [undefined, 12 * GI]);
    assert.deepEqual(left({ ...reserving('1Gi').value, ...evicts }, reserving('1Gi').value), [undefined, undefined]);
  });

  it('is nothing to speak of where both take the same', () => {
    assert.deepEqual(left(reserving('5Gi').value, reserving('5Gi').value), [undefined, undefined]);
    const pods = (before: number, after: number) =>
      allocatableEffect(node, over({ maxPods: before }), over({ maxPods: after })).map((each) => each.after);
    assert.deepEqual(pods(50, 50), []);
    assert.deepEqual(pods(50, 40), [40]);
  });

  it('never is more at most than exactly, nor names what takes nothing', () => {
    const amount = fc.option(
      fc.integer({ min: 0, max: 20 }).map((gi) => `${gi}Gi`),
      { nil: undefined },
    );
    const config = fc.record({ kube: amount, system: amount, evict: amount }).map(({ kube, system, evict }) => ({
      ...(kube === undefined ? {} : { kubeReserved: { memory: kube } }),
      ...(system === undefined ? {} : { systemReserved: { memory: system } }),
      ...(evict === undefined ? {} : { evictionHard: { 'memory.available': evict } }),
    }));
    const apply = fc.constantFrom('overlay', 'replace');
    fc.assert(
      fc.property(fc.option(config), config, apply, (before, after, how) => {
        const was = before === null ? null : { value: before, apply: how };
        const exact = allocatableEffect(node, was, { value: after, apply: how });
        for (const most of mostLeft(node, was, { value: after, apply: how })) {
          assert.ok(most.after < most.before);
          assert.ok(most.taken.every(({ amount: taken }) => taken > 0));
          const same = exact.find(({ resource }) => resource === most.resource);
          assert.ok(same === undefined || most.after <= same.after);
          const sum = most.taken.reduce((total, { amount: taken }) => total + taken, 0);
          assert.ok(most.after <= most.capacity - sum);
        }
      }),
    );
  });
});

describe('an amount', () => {
  it('is said as people say it', () => {
    assert.equal(showAmount('cpu', 3.9), '3900m');
    assert.equal(showAmount('memory', 14.25 * GI), '14.3Gi');
    assert.equal(showAmount('memory', GI), '1.0Gi');
    assert.equal(showAmount('ephemeral-storage', GI - 1), '1024Mi');
    assert.equal(showAmount('pods', 110), '110');
  });

  it('counts thousandths of a core', () => {
    assert.equal(rounded(0.1 + 0.2), 0.3);
    assert.equal(rounded(1.0004), 1);
  });
});
