import { fc } from '../../../../support/property.ts';
import type { DBusValue } from '#agent/host/dbus/value.ts';

/** A signature of one type, and a value of it. */
export interface Typed {
  readonly signature: string;
  readonly value: DBusValue;
}

interface Kind {
  readonly signature: string;
  readonly values: fc.Arbitrary<DBusValue>;
}

const text = fc.string({ unit: 'grapheme', maxLength: 20 }).filter((value) => !value.includes('\0'));

const BASIC: readonly Kind[] = [
  { signature: 'y', values: fc.integer({ min: 0, max: 255 }) },
  { signature: 'b', values: fc.boolean() },
  { signature: 'n', values: fc.integer({ min: -0x8000, max: 0x7fff }) },
  { signature: 'q', values: fc.integer({ min: 0, max: 0xffff }) },
  { signature: 'i', values: fc.integer({ min: -0x8000_0000, max: 0x7fff_ffff }) },
  { signature: 'u', values: fc.integer({ min: 0, max: 0xffff_ffff }) },
  { signature: 'x', values: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }) },
  { signature: 't', values: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }) },
  { signature: 'd', values: fc.double({ noNaN: true }) },
  { signature: 's', values: text },
  { signature: 'o', values: fc.constantFrom('/', '/a', '/org/freedesktop/systemd1/unit/kubelet_2eservice') },
  { signature: 'g', values: fc.constantFrom('', 'a{sv}', '(uo)', 'aay') },
];

const basic = fc.constantFrom(...BASIC);

/** Every type there is, inside each other up to `depth` times. */
function kinds(depth: number): fc.Arbitrary<Kind> {
  if (depth === 0) return basic;
  const inner = kinds(depth - 1);
  return fc.oneof(
    basic,
    inner.map((kind) => ({
      signature: 'v',
      values: kind.values.map((value) => ({ signature: kind.signature, value })),
    })),
    inner.map(({ signature, values }) => ({ signature: `a${signature}`, values: arrays(signature, values) })),
    fc.array(inner, { minLength: 1, maxLength: 4 }).map((fields) => ({
      signature: `(${fields.map(({ signature }) => signature).join('')})`,
      values: fc.tuple(...fields.map(({ values }) => values)),
    })),
    fc.tuple(basic, inner).map(([key, value]) => ({
      signature: `a{${key.signature}${value.signature}}`,
      values: maps(key.values, value.values),
    })),
  );
}

const arrays = (signature: string, values: fc.Arbitrary<DBusValue>): fc.Arbitrary<DBusValue> =>
  signature === 'y' ? fc.uint8Array({ maxLength: 20 }) : fc.array(values, { maxLength: 5 });

const maps = (keys: fc.Arbitrary<DBusValue>, values: fc.Arbitrary<DBusValue>): fc.Arbitrary<DBusValue> =>
  fc.array(fc.tuple(keys, values), { maxLength: 5 }).map((entries) => new Map(entries));

export const typedValue: fc.Arbitrary<Typed> = kinds(3).chain(({ signature, values }) =>
  values.map((value) => ({ signature, value })),
);

export const typedValues: fc.Arbitrary<readonly Typed[]> = fc
  .array(typedValue, { maxLength: 4 })
  .filter((values) => values.map(({ signature }) => signature).join('').length <= 255);
