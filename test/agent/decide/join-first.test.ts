import assert from 'node:assert/strict';
import { it } from 'node:test';
import { joinFirst } from '#agent/decide/join-first.ts';

it('the first of many phrases are three, and how many more there are', () => {
  assert.equal(joinFirst(['a']), 'a');
  assert.equal(joinFirst(['a', 'b', 'c']), 'a; b; c');
  assert.match(joinFirst(['a', 'b', 'c', 'd', 'e']), /^a; b; c \D*2\D*$/);
});
