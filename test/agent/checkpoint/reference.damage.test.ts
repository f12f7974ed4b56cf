import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { describe, it } from 'node:test';
import { fc, forAllOf } from '../../support/property.ts';
import { decodeReference, encodeReference, NO_REFERENCE } from '#agent/checkpoint/reference.ts';
import { CONFIG_SOURCE_PATTERNS } from '#agent/decide/assignment/intent.ts';
import { codeOf } from '#shared/runtime/errors.ts';
import { A, AT } from '../../support/agent/states.ts';

const WHOLE = encodeReference(
  { target: { ...A, allowFields: ['port'], tolerate: ['a: b'] }, promotedAt: AT },
  'node-a',
);

/** A reference to which something happened, and bytes that never were one. */
const damage: fc.Arbitrary<Uint8Array> = fc.oneof(
  fc.tuple(fc.nat(WHOLE.length), fc.nat(40), fc.uint8Array({ maxLength: 8 })).map(([at, length, put]) => {
    const bytes = Buffer.from(WHOLE);
    return Buffer.concat([bytes.subarray(0, at), put, bytes.subarray(at + length)]);
  }),
  fc.uint8Array({ maxLength: 300 }),
  fc
    .array(fc.constantFrom('{', '[', '"', ':', ',', '}', '\\', ' ', '\0'), { maxLength: 60 })
    .map((parts) => Buffer.from(parts.join(''))),
);

describe('a damaged reference', () => {
  it('is read as some reference or called damaged, and nothing else', () => {
    forAllOf(5000, damage, (bytes) => {
      try {
        const { target } = decodeReference(Buffer.from(bytes).toString('utf8'), 'node-a');
        for (const [part, shape] of Object.entries(CONFIG_SOURCE_PATTERNS)) {
          if (target !== null) assert.match(target.source[part as keyof typeof CONFIG_SOURCE_PATTERNS], shape);
        }
      } catch (error) {
        assert.match(codeOf(error) ?? String(error), /^(?:CHECKPOINT_DAMAGED|STATE_UNREADABLE)$/);
      }
    });
  });

  const rows: readonly (readonly [what: string, text: string])[] = [
    ['a list', '[]'],
    ['nothing but a line end', '\n'],
    ['two documents', `${WHOLE}${WHOLE}`],
    ['a number in the place of a text', WHOLE.replace('"41"', '41')],
    ['null in the place of a text', WHOLE.replace('"uid-a"', 'null')],
    ['nesting beyond all bounds', '['.repeat(500_000)],
    ['maps within maps beyond all bounds', '{"a":'.repeat(300_000)],
    ['another kind', WHOLE.replace('SerializedNodeConfigSource', 'Pod')],
  ];
  for (const [what, text] of rows) {
    it(`is one with ${what}`, () => {
      assert.notEqual(text, WHOLE);
      assert.throws(() => decodeReference(text, 'node-a'), { code: 'CHECKPOINT_DAMAGED' });
    });
  }

  it('is not an empty one, which means local', () => assert.deepEqual(decodeReference('', 'node-a'), NO_REFERENCE));
});
