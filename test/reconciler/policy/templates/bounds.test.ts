import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MachineAmount, readMachineAmount, writeAmount } from '#reconciler/policy/templates/machine-amount.ts';
import { boundAmount, boundNumber } from '#reconciler/policy/templates/bounds.ts';
import { compile } from '#reconciler/policy/templates/expression.ts';
import { valueOfLeaf } from '#reconciler/policy/templates/leaf.ts';
import { classSize } from '#reconciler/policy/templates/machine-class.ts';
import { PROFILES } from '#reconciler/policy/templates/profiles.ts';
import { fc } from '../../../support/property.ts';

const MEBIBYTE = 2 ** 20;
const GIBIBYTE = 2 ** 30;
const machine = { cpu: 4, memory: 16 * GIBIBYTE, ephemeralStorage: 64 * GIBIBYTE, maxPods: 110, labels: {} };

describe('a bound', () => {
  const rows = [
    ['nothing bounded', '300.5Mi', {}, 'memory', '300Mi'],
    ['a minimum', '100Mi', { min: '255Mi' }, 'memory', '255Mi'],
    ['a maximum', '9Gi', { max: '8Gi' }, 'memory', '8192Mi'],
    ['a maximum that is no whole mebibyte', '9Gi', { max: '1536Ki' }, 'memory', '1536Ki'],
    // Of the smallest machine of the class, which has a quarter of a step less: 16 GiB - 256 MiB.
    ['a share', '9Gi', { maxShare: '25%' }, 'memory', '4032Mi'],
    ['a share that is less than the minimum', '1Gi', { min: '8Gi', maxShare: '25%' }, 'memory', '4032Mi'],
    ['a share of CPUs', '3', { maxShare: '10%' }, 'cpu', '400m'],
    ['a share of a threshold', '9Gi', { maxShare: '25%' }, 'memory.available', '4032Mi'],
    ['less than a mebibyte', '1000.7', {}, 'memory', '1000'],
  ] as const;
  for (const [what, amount, bounds, key, expected] of rows) {
    it(`makes ${expected} of ${amount}: ${what}`, () => {
      const bounded = boundAmount(readMachineAmount(amount) ?? new MachineAmount(0), bounds, key, machine);
      assert.equal(writeAmount(bounded, key === 'cpu' ? 'cores' : 'bytes'), expected);
    });
  }

  it('of a number is a number', () => {
    assert.equal(boundNumber(737, { max: 250 }), 250);
    assert.equal(boundNumber(4, { min: '30' }), 30);
    assert.equal(boundNumber(40, {}), 40);
  });

  it('keeps the profile of EKS from taking all memory for pods that nobody runs (amazon-eks-ami#2580)', () => {
    const expression = compile(PROFILES.eks.computed.kubeReserved.memory);
    assert.ok(!('message' in expression));
    const small = { ...machine, memory: 8 * GIBIBYTE, maxPods: 737 };
    assert.deepEqual(valueOfLeaf({ key: 'memory', expression, bounds: {} }, small), { value: '8362Mi' });
    const bounds = { maxShare: '25%' };
    assert.deepEqual(valueOfLeaf({ key: 'memory', expression, bounds }, small), { value: '2016Mi' });
  });

  it('is never passed, on no machine of a class', () => {
    const mebibytes = fc.integer({ min: 64, max: 4 * 1024 * 1024 });
    const all = fc.tuple(
      mebibytes,
      fc.integer({ min: -200, max: 200 }),
      fc.integer({ min: 1, max: 100 }),
      mebibytes,
      mebibytes,
    );
    fc.assert(
      fc.property(all, ([own, move, percent, most, amount]) => {
        const had = classSize(own * MEBIBYTE);
        const moved = Math.max(1, own + move) * MEBIBYTE;
        const memory = classSize(moved, had);
        const bounds = { max: `${most}Mi`, maxShare: `${percent}%` };
        const got = boundAmount(new MachineAmount(amount * MEBIBYTE), bounds, 'memory', { memory, labels: {} });
        assert.ok(got <= most * MEBIBYTE && got <= (moved * percent) / 100);
      }),
    );
  });
});
