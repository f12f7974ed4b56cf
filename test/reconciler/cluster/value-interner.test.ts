import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createValueInterner } from '#reconciler/cluster/value-interner.ts';
import { viewNode } from '#reconciler/cluster/object-views.ts';
import { nodeObject } from '../../support/fleet-process/node-object.ts';
import { fc } from '../../support/property.ts';

const fresh = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

describe('what nodes say alike', () => {
  it('is in memory once', () => {
    const share = createValueInterner();
    const [first, second] = [0, 3].map((index) => share(viewNode(fresh(nodeObject(index, 1)))));
    assert.notEqual(first?.name, second?.name);
    assert.ok(first?.size !== undefined && first.size.capacity === second?.size?.capacity);
  });

  it('is what it was, undefined and keys of prototypes included, and what was given is not touched', () => {
    const share = createValueInterner();
    const part = fc.oneof(fc.jsonValue(), fc.constant({ a: undefined }), fc.constant({}));
    fc.assert(
      fc.property(fc.array(part), (values) => {
        const before = structuredClone(values);
        assert.deepEqual(share(values), before);
        assert.deepEqual(values, before);
      }),
    );
    const odd = JSON.parse('[{"__proto__":"a","toJSON":"b"},{"__proto__":{"c":"d"}}]') as readonly object[];
    assert.deepEqual(share(odd), odd);
  });

  it('cannot be changed for all of them', () => {
    const labels: Record<string, string> = createValueInterner()({ pool: 'workers' });
    assert.throws(() => (labels['pool'] = 'other'), TypeError);
  });

  it('is not remembered where it is long', () => {
    const share = createValueInterner();
    const of = (length: number): object => share({ text: 'x'.repeat(length) });
    // With its name and quotes in JSON.
    assert.equal(of(989), of(989));
    assert.notEqual(of(990), of(990));
  });

  it('is forgotten again where too much is rare', () => {
    const share = createValueInterner();
    const frequent = share({ name: 'c' });
    share(Array.from({ length: 3_999 }, (_, index) => ({ name: `c-${index}` })));
    assert.equal(share({ name: 'c' }), frequent);
    share({ name: 'one more' });
    assert.notEqual(share({ name: 'c' }), frequent);
  });
});
