import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MachineAmount } from '#reconciler/policy/templates/machine-amount.ts';
import { compile, type Expression } from '#reconciler/policy/templates/expression.ts';
import { allInputs } from '#reconciler/policy/templates/expression-inputs.ts';

const MACHINE = { cpu: 4, memory: 2 ** 34, arch: 'arm64', labels: { tier: 'gold' } };

function compiled(text: string): Expression {
  const found = compile(text);
  assert.ok(!('message' in found), `${text}: ${'message' in found ? found.message : ''}`);
  return found;
}

function valueOf(text: string): unknown {
  const result = compiled(text).of(MACHINE);
  assert.ok('value' in result, text);
  return result.value instanceof MachineAmount ? result.value.size : result.value;
}

describe('amounts in expressions', () => {
  /** One below what the machine has, as much, and one above. */
  const compared = [
    ['<', [false, false, true]],
    ['<=', [false, true, true]],
    ['>', [true, false, false]],
    ['>=', [true, true, false]],
    ['==', [false, true, false]],
    ['!=', [true, false, true]],
  ] as const;
  for (const [operator, expected] of compared) {
    it(`are compared by ${operator}`, () => {
      const found = ['3999m', '4', '4001m'].map((amount) => valueOf(`cpu ${operator} quantity("${amount}")`));
      assert.deepEqual(found, expected);
    });
  }

  it('and numbers have a least and a greatest, of two and of three', () => {
    const rows = [
      ['min(2, 1)', 1],
      ['min(1, 2)', 1],
      ['min(3, 1, 2)', 1],
      ['max(2, 1)', 2],
      ['max(1, 2)', 2],
      ['max(2, 3, 1)', 3],
      ['max(1.5, 2.5)', 2.5],
      ['min(cpu, quantity("1"))', 1],
      ['max(cpu, quantity("5"), quantity("6"))', 6],
    ] as const;
    for (const [text, expected] of rows) assert.equal(valueOf(text), expected, text);
  });

  it('may be scaled from either side, and numbers have a sign', () => {
    for (const text of ['cpu * 2', '2 * cpu', 'cpu * 2.0', '2.0 * cpu', 'cpu / 0.5']) assert.equal(valueOf(text), 8);
    assert.equal(valueOf('cpu / 2'), 2);
    assert.equal(valueOf('cpu + quantity("1")'), 5);
    assert.equal(valueOf('-milliCpu + 5000'), 1000);
  });
});

describe('what an expression asks of the machine', () => {
  const rows = [
    ['arch in ["arm64"]', ['arch'], []],
    ['milliCpu in [1, 4000]', ['milliCpu'], []],
    ['labels.tier.startsWith(arch)', ['labels', 'arch'], ['tier']],
    ['arch == "labels" || arch == "memory"', ['arch'], []],
    ['"labels"', [], []],
    ['"b" in labels && "a" in labels', ['labels'], ['a', 'b']],
  ] as const;
  for (const [text, variables, labels] of rows) {
    it(`is ${variables.join(' and ') || 'nothing'}: ${text}`, () => {
      assert.deepEqual(compiled(text).inputs, { variables: new Set(variables), labels });
    });
  }

  it('is asked for together in one order, whatever is read first', () => {
    const each = (labels: readonly string[]) => ({ variables: new Set(['labels'] as const), labels });
    assert.deepEqual(allInputs([each(['b']), each(['a', 'b'])]).labels, ['a', 'b']);
  });
});

describe('an expression that is refused', () => {
  const rows = [
    ['labels == labels', 1, /asked for by name/],
    ['size(arch)', 1, /there is no function size/],
    ['max(size(arch), 1)', 5, /there is no function size/],
    ['arch.size()', 1, /there is no function size/],
    ['[1][0]', 1, /only labels/],
    ['arch.x', 1, /nothing here has a field x/],
    ['arch["x"]', 1, /only labels/],
    ['"labels"["x"]', 1, /only labels/],
    ['{}', 1, /map is not part of the language/],
    ['1 + (2 + 2.0)', 6, /no such overload/],
    ['quantity(1)', 1, /overload/],
  ] as const;
  for (const [text, at, message] of rows) {
    it(`says what is wrong at character ${at}: ${text}`, () => {
      const found = compile(text);
      assert.ok('message' in found, 'it is taken');
      assert.equal(found.at, at, found.message);
      assert.match(found.message, message);
    });
  }

  it('has more than a thousand characters, and one that has a thousand is taken', () => {
    const quoted = (length: number): string => `"${'x'.repeat(length - 2)}"`;
    assert.ok(!('message' in compile(quoted(1000))));
    assert.ok('message' in compile(quoted(1001)));
  });
});

describe('a value', () => {
  it('is a number up to the largest that is exact', () => {
    assert.equal(valueOf('9007199254740991'), Number.MAX_SAFE_INTEGER);
    assert.ok('because' in compiled('9007199254740992').of(MACHINE));
  });

  it('may be a text that is no amount, and what a text says is read on the machine', () => {
    const rows = [
      ['string("gold")', 'gold'],
      ['double("1.5")', 1.5],
      ['int("3")', 3],
      ['arch.startsWith("arm")', true],
      ['arch.endsWith("64")', true],
      ['arch.contains("m6")', true],
    ] as const;
    for (const [text, expected] of rows) assert.equal(valueOf(text), expected, text);
    assert.deepEqual(compiled('quantity(arch)').of(MACHINE), { because: '"arm64" is not a valid quantity' });
  });
});
