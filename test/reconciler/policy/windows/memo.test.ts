import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { memo } from '#reconciler/policy/windows/memo.ts';

/** The keys for which something had to be made, in order, where two are kept. */
function made(...keys: readonly string[]): readonly string[] {
  const known = new Map<string, string | undefined>();
  const all: string[] = [];
  for (const key of keys) {
    const found = memo(known, 2, key, () => {
      all.push(key);
      return key === 'nothing' ? undefined : `${key} itself`;
    });
    assert.equal(found, key === 'nothing' ? undefined : `${key} itself`);
  }
  return all;
}

describe('what is kept', () => {
  for (const [name, asked, expected] of [
    ['is made once for each key', 'a b a b a', 'a b'],
    ['is made once though it is nothing', 'nothing nothing', 'nothing'],
    ['goes when more come than are to be kept, and is made again', 'a b c a c b', 'a b c a b'],
  ] as const) {
    it(name, () => assert.deepEqual(made(...asked.split(' ')), expected.split(' ')));
  }
});
