import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { printerColumn } from '#sandbox/api-server/table/column.ts';
import type { StoredObject } from '#sandbox/api-server/stored-object.ts';

const OBJECT = {
  metadata: { name: 'x', resourceVersion: '1' },
  status: {
    phase: 'Settled',
    conditions: [
      { type: 'Stalled', status: 'False' },
      { type: 'Ready', status: 'True' },
    ],
  },
} as unknown as StoredObject;

const cellAt = (jsonPath: string) => printerColumn({ name: 'A', type: 'string', jsonPath }).cell(OBJECT, 0);

describe('a printer column', () => {
  it('shows a field', () => assert.equal(cellAt('.status.phase'), 'Settled'));
  it('shows a field of the condition that has a type', () => {
    assert.equal(cellAt('.status.conditions[?(@.type=="Ready")].status'), 'True');
    assert.equal(cellAt('.status.conditions[?(@.type=="Stalled")].status'), 'False');
  });
  it('is empty where there is nothing', () => {
    assert.equal(cellAt('.status.nothing.there'), null);
    assert.equal(cellAt('.status.conditions[?(@.type=="Other")].status'), null);
    assert.equal(cellAt('.status[?(@.type=="Ready")].status'), null);
  });
  it('is refused where the sandbox cannot read its path', () => {
    for (const path of ['status', '.status.conditions[0].type', '.status.conditions[*].type'])
      assert.throws(() => cellAt(path), /the sandbox reads printer columns/);
  });
});
