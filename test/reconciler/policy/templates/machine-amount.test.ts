import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  MachineAmount,
  readMachineAmount,
  wholeUnits,
  writeAmount,
} from '#reconciler/policy/templates/machine-amount.ts';
import { boundAmount, readShare, resourceOf } from '#reconciler/policy/templates/bounds.ts';
import { compile, type Expression } from '#reconciler/policy/templates/expression.ts';
import { inputsOfLeaf, valueOfLeaf } from '#reconciler/policy/templates/leaf.ts';
import { classOf, readSizes, sortedMachine, writeSizes } from '#reconciler/policy/templates/machine-class.ts';
import { overReserved } from '#reconciler/policy/templates/over-reserved.ts';

const MEBIBYTE = 2 ** 20;
const GIBIBYTE = 2 ** 30;
const NOTHING = { labels: {} };

function expressionOf(text: string): Expression {
  const found = compile(text);
  assert.ok(!('message' in found), text);
  return found;
}

describe('an amount', () => {
  it('is written in the largest unit that it is whole in, and nothing in none', () => {
    const rows = [
      [0, '0'],
      [1023, '1023'],
      [1024, '1Ki'],
      [MEBIBYTE - 1024, '1023Ki'],
      [MEBIBYTE, '1Mi'],
    ] as const;
    for (const [size, text] of rows) assert.equal(writeAmount(size, 'bytes'), text);
    assert.equal(wholeUnits(MEBIBYTE - 0.5, 'bytes'), MEBIBYTE - 1);
    assert.equal(wholeUnits(2 * MEBIBYTE - 1, 'bytes'), MEBIBYTE);
  });

  it('is not read where it has no end', () => {
    assert.equal(readMachineAmount('1e400'), undefined);
    assert.equal(readMachineAmount('1Gi')?.size, GIBIBYTE);
  });
});

describe('a share of the machine', () => {
  const rows = [
    ['0%', 0],
    ['100%', 1],
    ['101%', undefined],
    ['-1%', undefined],
    ['25', undefined],
    [0.25, undefined],
    [['25%'], undefined],
  ] as const;
  for (const [written, share] of rows) {
    it(`${JSON.stringify(written)} is ${share ?? 'not valid'}`, () => assert.equal(readShare(written), share));
  }

  it('is that of the resource which the field is about', () => {
    const machine = { ...NOTHING, cpu: 1, memory: 2 ** 30, ephemeralStorage: 2 ** 31 };
    const resources = [
      ['cpu', 'cpu'],
      ['memory', 'memory'],
      ['memory.available', 'memory'],
      ['allocatableMemory.available', 'memory'],
      ['ephemeral-storage', 'ephemeralStorage'],
      ['nodefs.available', 'ephemeralStorage'],
      ['nodefs.inodesFree', undefined],
      ['toString', undefined],
    ] as const;
    for (const [key, resource] of resources) {
      const most = boundAmount(new MachineAmount(2 ** 40), { maxShare: '100%' }, key, machine);
      assert.equal(resourceOf(key), resource, key);
      assert.equal(most < 2 ** 40, resource !== undefined, key);
    }
  });

  it('bounds nothing where nobody knows how much the machine has', () => {
    assert.equal(boundAmount(new MachineAmount(GIBIBYTE), { maxShare: '25%' }, 'memory', NOTHING), GIBIBYTE);
  });
});

describe('a computed field', () => {
  it('needs to know how much a machine has where a share of that bounds it, and otherwise not', () => {
    const leaf = { key: 'memory', expression: expressionOf('quantity("1Gi")') };
    assert.deepEqual(valueOfLeaf({ ...leaf, bounds: {} }, NOTHING), { value: '1024Mi' });
    assert.ok('because' in valueOfLeaf({ ...leaf, bounds: { maxShare: '25%' } }, NOTHING));
  });

  it('that is a number is bounded as well', () => {
    const leaf = { key: 'maxPods', expression: expressionOf('milliCpu'), bounds: { min: 30, max: 250 } };
    assert.deepEqual(valueOfLeaf(leaf, { ...NOTHING, cpu: 4 }), { value: 250 });
    assert.deepEqual(valueOfLeaf(leaf, { ...NOTHING, cpu: 0.01 }), { value: 30 });
  });

  it('asks for what its expression asks for, and for what it takes a part of', () => {
    const expression = expressionOf('cpu * 0.1');
    assert.deepEqual(inputsOfLeaf({ key: 'memory', expression, bounds: {} }), {
      variables: new Set(['cpu', 'memory']),
      labels: [],
    });
    assert.deepEqual(inputsOfLeaf({ key: 'maxPods', expression, bounds: {} }), {
      variables: new Set(['cpu']),
      labels: [],
    });
  });
});

describe('a machine of which a Node says nothing', () => {
  it('has no sizes to be sorted by, and the class of all such machines', () => {
    assert.deepEqual(sortedMachine(NOTHING), NOTHING);
    assert.equal(writeSizes(NOTHING), '');
    const asked = new Set(['cpu', 'milliCpu', 'memory', 'ephemeralStorage', 'maxPods', 'arch', 'labels'] as const);
    assert.deepEqual(classOf(NOTHING, { variables: asked, labels: ['tier'] }), { name: 'any', machine: NOTHING });
  });

  it('was sorted by no size of nothing', () => assert.deepEqual(readSizes('memory=0'), {}));
});

describe('a config that keeps back as much as the machine has', () => {
  const machine = { ...NOTHING, memory: 4 * GIBIBYTE };
  const left = (config: Readonly<Record<string, unknown>>) => overReserved(config, 'overlay', machine);
  const keeping = (kube: string, system: string) => ({
    kubeReserved: { memory: kube },
    systemReserved: { memory: system },
    evictionHard: { 'memory.available': '1Gi' },
  });

  it('counts what is kept back for the kubelet, for the system and for eviction', () => {
    assert.equal(left(keeping('2Gi', '1023Mi')), undefined);
    for (const config of [keeping('2Gi', '1Gi'), keeping('1Gi', '2Gi'), keeping('0', '5Gi')]) {
      assert.match(left(config) ?? '', /Mi of 4096Mi memory/);
    }
  });
});
