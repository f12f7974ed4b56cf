import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { relativeUri, sarifMessage } from '#cli/sarif-log.ts';

describe('text of others in SARIF', () => {
  for (const [what, made, wanted] of [
    ['no link', sarifMessage('key "[a](javascript:x)"').text, 'key "[a]\u200B(javascript:x)"'],
    ['no placeholder', sarifMessage('{0} {a: 1}').text, '{\u200B0} {a: 1}'],
    ['no half character', sarifMessage('\uD800').text, '\uFFFD'],
    ['no scheme, query or fragment', relativeUri('a:b/c?d#e'), 'a%3Ab/c%3Fd%23e'],
  ] as const) {
    it(`is ${what}`, () => assert.equal(made, wanted));
  }
});
