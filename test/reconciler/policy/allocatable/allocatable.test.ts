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

const hard = (memory: string) => ({ 'memory.available': memory });
const DEFAULTS = 16 * GI - 100 * MI;

/** What a first config of a node leaves, where that is not the same, exactly and at most; undefined where nothing is said of it. */
const ROWS: readonly (readonly [
  string,
  'cpu' | 'memory' | 'ephemeral-storage' | 'pods',
  { readonly value: Config; readonly apply: 'overlay' | 'replace'; readonly keepFields?: readonly string[] },
  left: number | undefined | readonly [number | undefined, number | undefined],
  NodeSize?,
])[] = [
  [
    'all parts of it, named',
    'memory',
    over({ ...ALL, kubeReserved: { memory: '1Gi' }, evictionHard: hard('512Mi') }),
    14.5 * GI,
  ],
  ['one part, and the others are the node’s own', 'memory', over({ evictionHard: hard('15Gi') }), [undefined, GI]],
  [
    'CPUs that are kept aside, which are no memory',
    'memory',
    over({ ...ALL, systemReserved: { memory: '1Gi' }, evictionHard: hard('1Gi'), reservedSystemCPUs: '0-1' }),
    14 * GI,
  ],
  [
    'nothing, where the node claims more for pods than it has',
    'memory',
    over({ kubeReserved: { memory: '0' } }),
    undefined,
    size({ memory: '8Gi' }),
  ],
  [
    'one part, and another is kept of the node’s own',
    'memory',
    {
      value: { evictionHard: hard('1Gi') },
      apply: 'replace',
      keepFields: ['kubeReserved', 'systemReserved.memory'],
    },
    [undefined, 15 * GI],
  ],
  [
    'no pods, where that is kept of the node’s own',
    'pods',
    { value: {}, apply: 'replace', keepFields: ['maxPods'] },
    undefined,
  ],
  ['a map that does not name it', 'memory', over({ kubeReserved: { cpu: '1' } }), undefined],
  [
    'maps that are taken back, and stay away',
    'memory',
    over({ kubeReserved: null, systemReserved: null, evictionHard: hard('1Gi') }),
    15 * GI,
  ],
  [
    'a share of the memory, in whole bytes of a 32-bit float',
    'memory',
    over({ ...ALL, evictionHard: hard('10%') }),
    [16393244 * 1024 - Math.trunc(16393244 * 1024 * Math.fround(0.1)), 15108013646],
    size({ memory: '16393244Ki' }),
  ],
  ['99 %', 'memory', over({ ...ALL, evictionHard: hard('99%') }), 171798528],
  ['thresholds that are switched off', 'memory', over({ ...ALL, evictionHard: hard('100%') }), undefined],
  [
    'huge pages, which are no memory',
    'memory',
    over({ ...ALL, evictionHard: hard('1Gi') }),
    12 * GI,
    size({ 'hugepages-2Mi': '2Gi', 'hugepages-1Gi': '1Gi', 'attachable-volumes-x': '39' }),
  ],
  ['huge pages, which are no disk', 'ephemeral-storage', instead({}), 96636764000, size({ 'hugepages-2Mi': '2Gi' })],
  ['nothing, in place of what there was: its defaults', 'memory', instead({}), DEFAULTS],
  [
    'thresholds without this one, in place of what there was',
    'memory',
    instead({ evictionHard: { 'pid.available': '1%' } }),
    undefined,
  ],
  [
    'thresholds to which the defaults are added',
    'memory',
    instead({ evictionHard: { 'pid.available': '1%' }, mergeDefaultEvictionSettings: true }),
    DEFAULTS,
  ],
  [
    'a threshold of its own beside the defaults that are added',
    'memory',
    instead({ evictionHard: hard('1Gi'), mergeDefaultEvictionSettings: true }),
    15 * GI,
  ],
  [
    'defaults asked for of a kubelet that adds none',
    'memory',
    instead({ evictionHard: { 'pid.available': '1%' }, mergeDefaultEvictionSettings: true }),
    undefined,
    size({}, 'v1.30.1'),
  ],
  ['shares of CPUs', 'cpu', over({ kubeReserved: { cpu: '100m' }, systemReserved: { cpu: '1' } }), 2.9],
  ['shares of CPUs, one part', 'cpu', over({ kubeReserved: { cpu: '3990m' } }), [undefined, 0.01]],
  [
    'CPUs in place of the shares',
    'cpu',
    over({ kubeReserved: { cpu: '3' }, systemReserved: { cpu: '1' }, reservedSystemCPUs: '0-1' }),
    2,
  ],
  ['a limit of pods', 'pods', over({ maxPods: 20 }), 20],
  ['pods for each core', 'pods', over({ maxPods: 110, podsPerCore: 3 }), 12],
  ['more pods for each core than the limit', 'pods', over({ maxPods: 20, podsPerCore: 30 }), 20],
  [
    'pods for each core of nobody knows how many',
    'pods',
    over({ maxPods: 20, podsPerCore: 3 }),
    20,
    size({ cpu: '?' }),
  ],
  ['no limit of pods', 'pods', over({ podsPerCore: 3 }), undefined],
  ['no limit of pods, in place of what there was', 'pods', instead({ podsPerCore: 3 }), 12],
  ['more pods than now', 'pods', over({ maxPods: 250 }), [250, undefined]],
  ['a node that does not say its size', 'pods', over({ maxPods: 20 }), undefined, { ...size(), allocatable: {} }],
  ['a node that says only what it has for pods', 'pods', over({ maxPods: 20 }), undefined, { ...size(), capacity: {} }],
];

describe('what a first config of a node leaves for pods', () => {
  for (const [which, resource, config, left, node = size()] of ROWS) {
    const [exactly, atMost] = Array.isArray(left) ? left : [left, left];
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
