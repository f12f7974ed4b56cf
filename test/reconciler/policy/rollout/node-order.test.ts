import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeView } from '#reconciler/policy/fleet.ts';
import { LIFECYCLE } from '#reconciler/policy/rollout/lifecycle.ts';
import { type Member, memberOf } from '#reconciler/policy/rollout/membership.ts';
import { inChangeOrder } from '#reconciler/policy/rollout/node-order.ts';
import { nodeView, NOW } from '../../../support/fleet.ts';

const ZONE = 'topology.kubernetes.io/zone';
const member = (name: string, view: Partial<NodeView> = {}, changing = false): Member => ({
  ...memberOf(nodeView(name, 'workers', view), undefined, null, 0, NOW),
  lifecycle: changing ? LIFECYCLE.changing : LIFECYCLE.outdated,
});
const inZone = (zone: string): Partial<NodeView> => ({ labels: { [ZONE]: zone } });
const aged = (ms: number): Partial<NodeView> => ({ createdAt: NOW - ms });
const ILL = { ready: false };
const IN_VAIN = { drainFailed: { config: 'x', at: NOW, times: 1 } };
const MAY_GO = { deletionCandidate: true } as const;
const DRAINED = { drain: { config: 'x', at: NOW } };

/** Nodes in the order in which they are to be changed. */
const ROWS: readonly (readonly [string, () => readonly Member[]])[] = [
  ['by name', () => [member('a'), member('b'), member('c')]],
  ['the oldest first', () => [member('c', aged(3)), member('a', aged(2)), member('b', aged(1))]],
  ['by name where they are of one age', () => [member('c', aged(3)), member('a', aged(2)), member('b', aged(2))]],
  [
    'zone by zone, and those without one first',
    () => [member('d'), member('c', inZone('a')), member('a', inZone('b')), member('b', inZone('b'))],
  ],
  ['those that are not Ready last', () => [member('b'), member('c'), member('a', ILL)]],
  [
    'those that an autoscaler may remove after the other Ready ones',
    () => [member('b'), member('c'), member('a', MAY_GO), member('d', { ...MAY_GO, ...ILL })],
  ],
  [
    'those in the middle of a change first, Ready or not',
    () => [member('c', {}, true), member('d', ILL, true), member('a'), member('b', ILL)],
  ],
  ['those that are being drained first', () => [member('c', DRAINED), member('a'), member('b')]],
  [
    'those that were drained in vain behind all that were not, but for those that are not Ready',
    () => [member('c'), member('d', inZone('z')), member('a', IN_VAIN), member('b', ILL)],
  ],
  ['those that are being drained once more first', () => [member('c', { ...DRAINED, ...IN_VAIN }), member('a')]],
];

const HOUR = 3_600_000;
const old = (hours: number): Partial<NodeView> => ({ ...aged(hours * HOUR), firstSeen: 0 });
const inClass = (name: string, each: Member): Member => ({
  ...each,
  payloadClass: { name, config: null, because: '', target: { sha256: name, apply: 'overlay' } },
});

/** The same where they are to be canaries. */
const CANARIES: readonly (readonly [string, () => readonly Member[]])[] = [
  [
    'those nearest to the median age first, the older of two that are equally near',
    () => [member('d', old(12)), member('e', old(13)), member('a', old(1)), member('b', old(24))],
  ],
  [
    'those nearest to the median with the ages of those that have begun',
    () => [
      member('a', old(100), true),
      member('b', old(90), true),
      member('e', old(50)),
      member('d', old(2)),
      member('c', old(1)),
    ],
  ],
  [
    'each zone by its own median',
    () => [
      member('d', { ...old(5), ...inZone('a') }),
      member('e', { ...old(7), ...inZone('a') }),
      member('c', { ...old(2), ...inZone('a') }),
      member('b', { ...old(10), ...inZone('b') }),
      member('a', { ...old(50), ...inZone('b') }),
    ],
  ],
  [
    'each class by its own median',
    () => [
      inClass('small', member('b', old(2))),
      inClass('large', member('a', old(1))),
      inClass('small', member('d', old(9))),
      inClass('large', member('c', old(10))),
    ],
  ],
  [
    'who joined less than a quarter of an hour ago last',
    () => [member('b', old(30)), member('a', { ...aged(0), firstSeen: NOW - 15 * 60_000 })],
  ],
  [
    'those that are not Ready or were drained in vain behind the others',
    () => [member('d', old(1)), member('c', old(20)), member('b', { ...old(10), ...IN_VAIN }), member('a', ILL)],
  ],
];

const orderOf = (members: readonly Member[], isFirst?: () => boolean): readonly string[] =>
  inChangeOrder(
    members.map((each) => ({ member: each })),
    NOW,
    isFirst,
  ).map(({ member: { node } }) => node.name);

describe('nodes are changed', () => {
  for (const [name, members] of ROWS) {
    it(name, () => {
      const expected = members();
      const names = expected.map(({ node }) => node.name);
      const [first = member('x'), ...rest] = expected;
      for (const given of [expected, expected.toReversed(), [...rest, first]]) {
        assert.deepEqual(orderOf(given), names);
      }
    });
  }
});

describe('canaries are', () => {
  for (const [name, members] of CANARIES) {
    it(name, () => {
      const expected = members();
      const names = expected.map(({ node }) => node.name);
      for (const given of [expected, expected.toReversed()])
        assert.deepEqual(
          orderOf(given, () => true),
          names,
        );
    });
  }
});
