import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { allocatableEffect, mostLeft, type NodeSize } from '#reconciler/policy/allocatable/allocatable.ts';
import { fc } from '../../../support/property.ts';
import { CAPACITY, type Config, GI, instead, over, size } from './support/sizes.ts';

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
    assert.deepEqual(left({ ...reserving('1Gi').value, ...evicts }, reserving('2Gi').value), [undefined, undefined]);
  });

  it('is nothing to speak of where both take the same', () => {
    assert.deepEqual(left(reserving('5Gi').value, reserving('5Gi').value), [undefined, undefined]);
    const same = instead(reserving('5Gi').value);
    assert.deepEqual([allocatableEffect(node, same, same), mostLeft(node, same, same)], [[], []]);
    const pods = (before: number, after: number) =>
      allocatableEffect(node, over({ maxPods: before }), over({ maxPods: after })).map((each) => each.after);
    assert.deepEqual(pods(50, 50), []);
    assert.deepEqual(pods(50, 40), [40]);
  });

  it('is nothing to speak of where another field takes it', () => {
    const shares = (kube: string, system: string) =>
      over({ kubeReserved: { memory: kube }, systemReserved: { memory: system } });
    const [before, after] = [shares('1Gi', '3Gi'), shares('3Gi', '1Gi')];
    assert.deepEqual([allocatableEffect(size(), before, after), mostLeft(size(), before, after)], [[], []]);
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
