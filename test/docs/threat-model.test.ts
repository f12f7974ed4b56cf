import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

const PAGE = readFileSync('docs/threat-model.md', 'utf8').replaceAll(/\s+/g, ' ');

/** Tests as the page names them: a file, and the words that the test has there. */
const NAMED = [...PAGE.matchAll(/`(test\/[\w./-]+\.test\.ts)`((?:,? ?“[^”]+”)+)/g)].flatMap(
  ([, file = '', names = '']) => [...names.matchAll(/“([^”]+)”/g)].map(([, name = '']) => ({ file, name })),
);

describe('the threat model', () => {
  it('names a test for its claims', () => {
    assert.ok(NAMED.length >= 35, `${NAMED.length}`);
    const threats = PAGE.split(/ ## /).slice(3);
    assert.ok(threats.length >= 10);
    for (const threat of threats) assert.match(threat, /`test\//, threat.slice(0, 60));
  });

  it('names no file of tests without saying which of them', () => {
    const files = [...PAGE.matchAll(/`(test\/[\w./-]+\.test\.ts)`/g)].map(([, file = '']) => file);
    const silent = files.filter((file) => !NAMED.some((named) => named.file === file));
    assert.deepEqual([...new Set(silent)], ['test/docs/threat-model.test.ts']);
  });

  for (const { file, name } of NAMED) {
    it(`“${name}” is a test in ${file}`, () => {
      assert.ok(existsSync(file), `there is no ${file}`);
      assert.ok(readFileSync(file, 'utf8').includes(name), `${file} has no test of that name`);
    });
  }
});
