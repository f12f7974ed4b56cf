import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc, forAll } from '../../../../support/property.ts';
import { type PlainReading, readPlain } from '#shared/contract/kubelet-config/decode/plain-scalar.ts';

type Reading = Omit<PlainReading, 'type'>;

const same = (value: PlainReading['value']): Reading => ({ value });
const differs = (value: PlainReading['value'], elsewhere: NonNullable<PlainReading['elsewhere']>): Reading => ({
  value,
  elsewhere,
});

const rows: readonly (readonly [string, string, Reading])[] = [
  ['text is text', 'abc', same('abc')],
  ['nothing is null', '', same(null)],
  ['a tilde is null', '~', same(null)],
  ['null in capitals is null', 'NULL', same(null)],
  ['true is true everywhere', 'True', same(true)],
  ['yes is true to the kubelet only', 'yes', differs(true, 'yes')],
  ['a lone y is true to the kubelet only', 'y', differs(true, 'y')],
  ['off is false to the kubelet only', 'off', differs(false, 'off')],
  ['a mixture of cases is text', 'yEs', same('yEs')],
  ['digits are a number', '110', same(110)],
  ['a sign belongs to the number', '-5', same(-5)],
  ['a plus sign is dropped', '+5', same(5)],
  ['minus zero is zero', '-0', same(0)],
  ['but a fraction keeps its sign', '-0.0', same(-0)],
  ['a leading zero means octal to the kubelet only', '0644', differs(420, 644)],
  ['a leading zero with a digit above seven is decimal for all', '08', same(8)],
  ['0o is octal everywhere', '0o17', same(15)],
  ['0x is hexadecimal everywhere', '0x1F', same(31)],
  ['a capital 0X is so for the kubelet only', '0X1F', differs(31, '0X1F')],
  ['0b is binary for the kubelet only', '0b11', differs(3, '0b11')],
  ['underscores group digits for the kubelet only', '1_000', differs(1000, '1_000')],
  ['an underscore in front makes text', '_1', same('_1')],
  ['base 60 is text', '1:30', same('1:30')],
  ['a date is text', '2026-11-20', same('2026-11-20')],
  ['a fraction is a number', '1.5', same(1.5)],
  ['a fraction may begin with the dot', '.5', same(0.5)],
  ['an exponent makes a number', '1E2', same(100)],
  ['two dots make text', '1.2.3', same('1.2.3')],
  ['a whole number beyond 2^53 stays exact', '9223372036854775807', same(9_223_372_036_854_775_807n)],
  ['a whole number beyond 64 bits becomes a double', '99999999999999999999', same(100_000_000_000_000_000_000n)],
  ['infinity has no value', '-.inf', same(undefined)],
  ['not a number has no value', '.NaN', same(undefined)],
  ['a quantity is text', '100Mi', same('100Mi')],
  ['a percentage is text', '10%', same('10%')],
  ['a dash alone is text', '-', same('-')],
];

function untyped(text: string): Reading {
  const { type: _type, ...reading } = readPlain(text);
  return reading;
}

describe('a plain scalar', () => {
  for (const [name, text, reading] of rows) it(name, () => assert.deepEqual(untyped(text), reading));

  it('reads every safe whole number as itself', () => {
    forAll(fc.maxSafeInteger(), (number) => assert.deepEqual(untyped(String(number)), same(number + 0)));
  });

  it('never throws, and gives back what it does not understand', () => {
    forAll(fc.string(), (text) => {
      const { value } = readPlain(text);
      if (typeof value === 'string') assert.equal(value, text);
    });
  });
});
