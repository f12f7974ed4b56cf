import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../support/property.ts';
import type { NodeSize } from '#reconciler/policy/allocatable/allocatable.ts';
import { lockOutReasons } from '#reconciler/policy/allocatable/lock-out-reasons.ts';
import type { VitalPods } from '#reconciler/policy/allocatable/vital-pods.ts';

const MI = 2 ** 20;
const CAPACITY = { cpu: '4', memory: '16Gi', 'ephemeral-storage': '100Gi', pods: '110' };
const NODE: NodeSize = {
  kubeletVersion: 'v1.36.2',
  capacity: CAPACITY,
  allocatable: { ...CAPACITY, memory: '15Gi', cpu: '3900m', 'ephemeral-storage': '90Gi' },
};
const needs = (requests: Partial<VitalPods['requests']>, count = 7): VitalPods => ({
  count,
  requests: { cpu: 0, memory: 0, 'ephemeral-storage': 0, ...requests },
});
const over = (value: Readonly<Record<string, unknown>>) => ({ value, apply: 'overlay' }) as const;
const WHY = 'after a restart the kubelet would refuse some of them';

const request = (amount: string): string => `, and its 7 critical and DaemonSet pods request ${amount}: ${WHY}`;

/** A config, what the pods request that fits just so, and a little more than that with what is said of it. */
const ROWS: readonly (readonly [string, Readonly<Record<string, unknown>>, VitalPods | null, VitalPods, string])[] = [
  [
    'memory, by the one threshold that was seen to lock an agent out',
    { evictionHard: { 'memory.available': '99%' } },
    needs({ memory: 171798528 }),
    needs({ memory: 171798529 }),
    `163Mi memory would be left (16384Mi - evictionHard 16221Mi)${request('164Mi')}`,
  ],
  [
    'memory, all parts of it',
    { kubeReserved: { memory: '8Gi' }, systemReserved: { memory: '4Gi' }, evictionHard: { 'memory.available': '1Gi' } },
    needs({ memory: 3072 * MI }),
    needs({ memory: 3072 * MI + 1 }),
    `3072Mi memory would be left (16384Mi - kubeReserved 8192Mi - systemReserved 4096Mi - evictionHard 1024Mi)${request('3073Mi')}`,
  ],
  [
    'CPUs',
    { kubeReserved: { cpu: '3700m' } },
    needs({ cpu: 0.1 + 0.2 }),
    needs({ cpu: 0.301 }),
    `300m cpu would be left (4000m - kubeReserved 3700m)${request('301m')}`,
  ],
  [
    'disk',
    { evictionHard: { 'nodefs.available': '99Gi' } },
    needs({ 'ephemeral-storage': 1024 * MI }),
    needs({ 'ephemeral-storage': 1025 * MI }),
    `1024Mi ephemeral-storage would be left (102400Mi - evictionHard 101376Mi)${request('1025Mi')}`,
  ],
  [
    'places for pods',
    { maxPods: 7 },
    needs({}, 7),
    needs({}, 8),
    `7 pods would be left, and its 8 critical and DaemonSet pods are more: ${WHY}`,
  ],
  [
    'more of the memory than there is',
    { kubeReserved: { memory: '17Gi' } },
    null,
    needs({ memory: MI }),
    `-1024Mi memory would be left (16384Mi - kubeReserved 17408Mi)${request('1Mi')}`,
  ],
];

describe('a config that leaves too little for the pods that a node cannot do without', () => {
  for (const [which, config, fits, more, says] of ROWS) {
    it(`of ${which}`, () => {
      assert.deepEqual(lockOutReasons(NODE, null, over(config), more), [says]);
      if (fits !== null) assert.deepEqual(lockOutReasons(NODE, null, over(config), fits), []);
    });
  }

  it('is said of each resource', () => {
    const config = over({ kubeReserved: { cpu: '3900m', memory: '15999Mi' } });
    assert.equal(lockOutReasons(NODE, null, config, needs({ cpu: 1, memory: 1000 * MI })).length, 2);
  });

  it('is let through where it leaves at least what there is now: it may be the way out', () => {
    const locked: NodeSize = { ...NODE, allocatable: { ...NODE.allocatable, memory: '100Mi' } };
    const [worse, same, better] = ['16285Mi', '16284Mi', '16000Mi'].map((threshold) =>
      lockOutReasons(
        locked,
        null,
        over({ evictionHard: { 'memory.available': threshold } }),
        needs({ memory: 900 * MI }),
      ),
    );
    assert.deepEqual([worse?.length, same, better], [1, [], []]);
  });

  it('is never found where the pods request no more than before and less is taken', () => {
    const gi = fc.integer({ min: 0, max: 16 });
    fc.assert(
      fc.property(gi, gi, gi, (then, now, needed) => {
        const reserves = (amount: number) => over({ kubeReserved: { memory: `${amount}Gi` } });
        const found = lockOutReasons(NODE, reserves(then), reserves(now), needs({ memory: needed * 1024 * MI }, 1));
        if (now <= then) assert.deepEqual(found, []);
        else assert.equal(found.length > 0, Math.min(15 - (now - then), 16 - now) < needed);
      }),
    );
  });
});
