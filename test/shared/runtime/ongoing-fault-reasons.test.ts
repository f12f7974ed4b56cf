import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createOngoingFaultReasons } from '#shared/runtime/ongoing-fault-reasons.ts';

describe('the reasons of a fault that goes on', () => {
  it('are told once each, and again after it was over', () => {
    const reasons = createOngoingFaultReasons();
    assert.equal(reasons.over(), false);
    const tell = (): readonly boolean[] =>
      ['refused', 'refused', 'unauthorized', 'refused'].map((reason) => reasons.isNew(new Error(reason)));
    assert.deepEqual(tell(), [true, false, true, false]);
    assert.equal(reasons.over(), true);
    assert.deepEqual(tell(), [true, false, true, false]);
  });

  it('are told of no more than a few times where their words change with every try', () => {
    const { isNew } = createOngoingFaultReasons();
    const told = Array.from({ length: 1_000 }, (_, index) => isNew(new Error(`try ${index}`)));
    assert.equal(told.filter(Boolean).length, 8);
  });
});
