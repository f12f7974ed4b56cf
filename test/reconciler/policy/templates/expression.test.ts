import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MachineAmount } from '#reconciler/policy/templates/machine-amount.ts';
import { compile } from '#reconciler/policy/templates/expression.ts';
import type { Machine } from '#reconciler/policy/templates/machine.ts';

const MACHINE: Machine = {
  cpu: 4,
  memory: 16 * 2 ** 30,
  ephemeralStorage: 100 * 2 ** 30,
  maxPods: 110,
  arch: 'arm64',
  labels: { tier: 'gold', reserve: '2Gi', other: 'x' },
};

function evaluated(text: string, machine: Machine = MACHINE): unknown {
  const expression = compile(text);
  if ('message' in expression) return `fault at ${expression.at}: ${expression.message}`;
  const result = expression.of(machine);
  if ('because' in result) return `none: ${result.because}`;
  return result.value instanceof MachineAmount ? { amount: result.value.size } : result.value;
}

describe('an expression', () => {
  const rows = [
    ['max(quantity("255Mi"), memory * 0.25)', { amount: 4 * 2 ** 30 }],
    ['min(quantity("1Gi"), memory, ephemeralStorage / 2)', { amount: 2 ** 30 }],
    ['quantity("11Mi") * maxPods + 255 * quantity("1Mi")', { amount: 1465 * 2 ** 20 }],
    ['cpu * 0.06', { amount: 0.24 }],
    ['milliCpu / 1000 * 8', 32],
    ['int(memory / quantity("1Gi")) * 8', 128],
    ['max(30, maxPods, 3)', 110],
    ['min(2.5, 1.5)', 1.5],
    ['floor(memory * 0.1, quantity("1Gi"))', { amount: 2 ** 30 }],
    ['ceil(memory * 0.1, quantity("1Gi"))', { amount: 2 * 2 ** 30 }],
    ['round(memory * 0.1, quantity("1Gi"))', { amount: 2 * 2 ** 30 }],
    ['between(memory, quantity("4Gi"), quantity("8Gi"))', { amount: 4 * 2 ** 30 }],
    ['between(memory, quantity("32Gi"), quantity("64Gi"))', { amount: 0 }],
    ['memory >= quantity("16Gi") && cpu != quantity("3") ? "large" : "small"', 'large'],
    ['labels.tier == "gold" && "tier" in labels && has(labels.tier)', true],
    ['"missing" in labels ? 1 : 2', 2],
    ['quantity(labels["reserve"])', { amount: 2 * 2 ** 30 }],
    ['arch in ["arm64", "riscv64"] ? 1 : 2', 1],
    ['arch.startsWith("arm")', true],
  ] as const;
  for (const [text, expected] of rows) {
    it(`comes to ${JSON.stringify(expected)}: ${text}`, () => assert.deepEqual(evaluated(text), expected));
  }

  const none = [
    ['labels["gone"]', 'none: the Node has no label gone'],
    ['1 / 0', 'none: division by zero'],
    ['memory / 0', 'none: division by zero'],
    ['floor(memory, quantity("0"))', 'none: a step has to be more than nothing'],
    ['cpu - quantity("5")', 'none: it comes to less than nothing'],
    ['memory * 1e308 * 1e308', 'none: it comes to no finite amount'],
    ['9007199254740993', 'none: it comes to a number that no field takes'],
    ['quantity(labels.tier)', 'none: "gold" is not a valid quantity'],
  ] as const;
  for (const [text, expected] of none) {
    it(`has no value, and says why: ${text}`, () => assert.equal(evaluated(text), expected));
  }

  it('has no value where the Node does not say what it asks for', () => {
    assert.equal(evaluated('memory * 0.1', { labels: {} }), 'none: the Node does not say its memory');
  });

  it('sees no label that it does not name', () => {
    const expression = compile('labels.tier + labels["reserve"]');
    assert.ok(!('message' in expression));
    assert.deepEqual(expression.inputs.labels, ['reserve', 'tier']);
    assert.deepEqual([...expression.inputs.variables], ['labels']);
  });

  const faults = [
    ['memory * 0.', 12],
    ['memoryy', 1],
    ['memory * 2 + 1', 1],
    ['1 == 1 && int == int', 11],
    ['quantity("1GB")', 10],
    ['1 + 2.0', 1],
    ['[1, 2].map(x, x * 2)', 1],
    ['[1, 2].all(x, x > 0)', 1],
    ['arch.matches("(a+)+$")', 1],
    ['cel.bind(x, memory, x + x)', 1],
    ['now()', 1],
    ['timestamp("2024-01-01T00:00:00Z")', 1],
    ['labels', 1],
    ['labels[arch]', 8],
    ['[1]', 1],
    ['', 1],
  ] as const;
  for (const [text, at] of faults) {
    it(`is refused when it is read, at character ${at}: ${text}`, () => {
      const found = compile(text);
      assert.ok('message' in found, 'it is taken');
      assert.equal(found.at, at, found.message);
    });
  }

  for (const text of ['quantity()', 'quantity(true)']) {
    it(`is refused by the type of what is given: ${text}`, () => {
      const found = compile(text);
      assert.match('message' in found ? found.message : '', /^found no matching overload/);
    });
  }

  it('is refused when it is long, wide or deep: it is run for every class in every pass', () => {
    for (const text of [
      `"${'x'.repeat(1000)}"`,
      Array.from({ length: 150 }, () => '1').join(' + '),
      `${'('.repeat(40)}1${')'.repeat(40)}`,
    ]) {
      assert.ok('message' in compile(text), text);
    }
  });
});
