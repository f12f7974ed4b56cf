import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LIMITS, read, type Spec } from './support/limits.ts';

const said = (more: Spec): readonly string[] => read(more).findings.map(({ code, field }) => `${code} ${field}`);

describe('a pool may have', () => {
  for (const [what, last, beyond, finding] of LIMITS) {
    it(`${what} up to a limit`, () => {
      assert.deepEqual(said(last), []);
      assert.deepEqual(said(beyond), [finding]);
    });
  }
});
