import assert from 'node:assert/strict';
import { it } from 'node:test';
import { firstPhrases } from '#agent/decide/first-phrases.ts';

it('the first of many phrases are three, and how many more there are', () => {
  assert.equal(firstPhrases(['a']), 'a');
  assert.equal(firstPhrases(['a', 'b', 'c']), 'a; b; c');
  assert.match(firstPhrases(['a', 'b', 'c', 'd', 'e']), /^a; b; c \D*2\D*$/);
});
