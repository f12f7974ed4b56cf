import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  allocatableEffect,
  mostLeft,
  type NodeSize,
  roundToThousandths,
  formatResource,
} from '#reconciler/policy/allocatable/allocatable.ts';
import { type Config, GI, instead, MI, over, size } from './support/sizes.ts';

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
  [
    'CPUs that are kept aside, which are no memory',
    over({
      ...ALL,
      systemReserved: { memory: '1Gi' },
      evictionHard: { 'memory.available': '1Gi' },
      reservedSystemCPUs: '0-1',
    }),
    size(),
    'memory',
    [14 * GI, 14 * GI],
  ],
  [
    'nothing, where the node claims more for pods than it has',
    over({ kubeReserved: { memory: '0' } }),
    size({ memory: '8Gi' }),
    'memory',
    [undefined, undefined],
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
  [
    'a node that says only what it has for pods',
    over({ maxPods: 20 }),
    { ...size(), capacity: {} },
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

  it('is not said of a node that does not say its size', () => {
    const node = { ...size(), allocatable: {} };
    assert.deepEqual([allocatableEffect(node, null, instead({})), mostLeft(node, null, instead({}))], [[], []]);
  });

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
    const systemCpus = { systemReserved: { cpu: '1', memory: '1Gi' } };
    const takenBy = (value: Config) => mostLeft(size(), null, over(value)).map(({ taken }) => taken);
    const ofMemory = [{ what: 'systemReserved', amount: GI }];
    assert.deepEqual(takenBy(systemCpus), [[{ what: 'systemReserved', amount: 1 }], ofMemory]);
    assert.deepEqual(takenBy({ ...systemCpus, reservedSystemCPUs: '0-1' }), [
      [{ what: 'reservedSystemCPUs', amount: 2 }],
      ofMemory,
    ]);
    assert.deepEqual(mostLeft(size(), null, over({ maxPods: 3 })), [
      { resource: 'pods', before: 110, after: 3, capacity: 110, taken: [] },
    ]);
  });
});

describe('an amount', () => {
  it('is said as people say it', () => {
    assert.equal(formatResource('cpu', 3.9), '3900m');
    assert.equal(formatResource('memory', 14.25 * GI), '14.3Gi');
    assert.equal(formatResource('memory', GI), '1.0Gi');
    assert.equal(formatResource('ephemeral-storage', GI - 1), '1024Mi');
    assert.equal(formatResource('pods', 110), '110');
  });

  it('counts thousandths of a core', () => {
    assert.equal(roundToThousandths(0.1 + 0.2), 0.3);
    assert.equal(roundToThousandths(1.0004), 1);
  });
});
