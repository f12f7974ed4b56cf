import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

/** CONTRIBUTING.md's table: what to say, and what it stands in place of. */
const [, after = ''] = readFileSync('CONTRIBUTING.md', 'utf8').split('\n## Words\n');
const [table = ''] = after.split('\n## ');
const ROWS = [...table.matchAll(/^\| ([^|]+) \| ([^|]+) \|$/gm)].slice(2).map(([, say = '', not = '']) => ({
  say: say.trim(),
  not: [...not.matchAll(/`([^`]+)`/g)].map(([, phrase = '']) => phrase),
}));
const TEXTS = /^(?!CONTRIBUTING\.md$|CHANGELOG\.md$|test\/docs\/english\.test\.ts$).*\.(?:md|ts|mjs|ya?ml|sh|tpl|txt)$/;
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { encoding: 'utf8' })
  .split('\n')
  .filter((file) => TEXTS.test(file));

/** `no X` stands for any word in place of X that has no capital letter. */
const patternOf = (phrase: string): RegExp =>
  new RegExp(`(?<!\\w)${phrase.replaceAll('X', '(?!longer|more)[a-z]+')}(?!\\w)`, 'i');

describe('the words of the project', () => {
  it('has a table of them, and texts to look at', () => {
    assert.ok(ROWS.length >= 5 && ROWS.every(({ not }) => not.length > 0), JSON.stringify(ROWS));
    assert.ok(files.length > 1000, `${files.length}`);
  });

  for (const { say, not } of ROWS) {
    it(`are “${say}” rather than ${not.join(', ')}`, () => {
      const patterns = not.map(patternOf);
      const found = files.flatMap((file) =>
        readFileSync(file, 'utf8')
          .split('\n')
          .flatMap((line, index) =>
            patterns.some((each) => each.test(line)) ? [`${file}:${index + 1}: ${line.trim()}`] : [],
          ),
      );
      assert.deepEqual(found, []);
    });
  }
});
