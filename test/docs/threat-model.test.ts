import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

describe('the threat model', () => {
  const threats = readFileSync('docs/threat-model.md', 'utf8').split(/\n## /).slice(2);

  it('has threats to look at', () => assert.ok(threats.length >= 14));

  for (const threat of threats) {
    it(`links the tests behind its claims: ${threat.split('\n')[0]}`, () => {
      assert.match(threat, /\]\(\.\.\/test\/[\w./-]+\.test\.ts\)/);
    });
  }
});
