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
];

describe('nodes are changed', () => {
  for (const [name, members] of ROWS) {
    it(name, () => {
      const things = members().map((each) => ({ member: each }));
      const names = (of: typeof things): readonly string[] => of.map(({ member: { node } }) => node.name);
      const [first = { member: member('x') }, ...rest] = things;
      for (const given of [things, things.toReversed(), [...rest, first]]) {
        assert.deepEqual(names([...inChangeOrder(given)]), names(things));
      }
    });
  }
});
