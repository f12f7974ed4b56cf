import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { EVIDENCE } from './support/threat-evidence.ts';

const PAGE = readFileSync('docs/threat-model.md', 'utf8');

const linkedIn = (text: string): readonly string[] =>
  [...text.matchAll(/\]\(\.\.\/(test\/[\w./-]+\.test\.ts)\)/g)].map(([, file = '']) => file);

describe('the threat model', () => {
  it('names a test for its claims', () => {
    const threats = PAGE.split(/\n## /).slice(2);
    assert.ok(threats.length >= 14);
    for (const threat of threats) assert.notDeepEqual(linkedIn(threat), [], threat.slice(0, 60));
  });

  it('links the tests that are its evidence, all of them and no others', () => {
    assert.deepEqual([...new Set(linkedIn(PAGE))].sort(), Object.keys(EVIDENCE).sort());
  });

  for (const [file, claims] of Object.entries(EVIDENCE)) {
    for (const claim of claims) {
      it(`“${claim}” is a test in ${file}`, () => {
        assert.ok(existsSync(file), `there is no ${file}`);
        assert.ok(readFileSync(file, 'utf8').includes(claim), `${file} has no test of that name`);
      });
    }
  }
});
