import assert from 'node:assert/strict';
import { it } from 'node:test';
import { firstOf } from '#agent/decide/first-of.ts';

it('the first of many phrases are three, and how many more there are', () => {
  assert.equal(firstOf(['a']), 'a');
  assert.equal(firstOf(['a', 'b', 'c']), 'a; b; c');
  assert.match(firstOf(['a', 'b', 'c', 'd', 'e']), /^a; b; c \D*2\D*$/);
});
