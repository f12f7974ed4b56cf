import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc, forAll } from '../../support/property.ts';
import { mergeDiff } from '#shared/kube/merge-diff.ts';

/** RFC 7396, section 2, word for word as code. */
function applyMergePatch(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const isObject = typeof target === 'object' && target !== null && !Array.isArray(target);
  const result: Record<string, unknown> = isObject ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = applyMergePatch(result[key], value);
  }
  return result;
}

const leaf = fc.oneof(fc.integer(), fc.string(), fc.boolean(), fc.array(fc.integer(), { maxLength: 3 }));
const key = fc.constantFrom('a', 'b', 'c', 'd');
const plainObjects = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<Record<string, T>> =>
  fc.dictionary(key, value, { noNullPrototype: true });
const objects = plainObjects(fc.oneof(leaf, plainObjects(fc.oneof(leaf, plainObjects(leaf)))));

describe('mergeDiff', () => {
  it('gives the patch that turns one object into the other', () => {
    forAll(objects, objects, (before, after) => {
      const patch = mergeDiff(before, after);
      assert.deepEqual(patch === null ? before : applyMergePatch(before, patch), after);
    });
  });

  it('gives nothing where nothing differs', () => {
    forAll(objects, (object) => assert.equal(mergeDiff(object, structuredClone(object)), null));
  });

  it('names what is gone, so that it goes', () => {
    const before = { matchLabels: { a: '1' }, keep: true };
    assert.deepEqual(mergeDiff(before, { matchLabels: { b: '2' }, keep: true }), { matchLabels: { a: null, b: '2' } });
  });
});
