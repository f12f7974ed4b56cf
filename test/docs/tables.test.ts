import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

/** More belongs into a sentence below the table. */
const MOST_WORDS = 25;

const PAGES = globSync(['*.md', '{docs,config-repo-template,test,deploy}/**/*.md']).sort();

/** Cells of tables that are too long, with their lines; the addresses of links are no words. */
function longCells(page: string): readonly string[] {
  const lines = page
    .replaceAll(/^( *)(`{3,})[^\n]*\n[\s\S]*?^\1\2$/gm, (code) => code.replaceAll(/^.*$/gm, ''))
    .split('\n');
  return lines.flatMap((line, index) => {
    if (!line.startsWith('|')) return [];
    const cells = line.replaceAll(/\]\([^)]*\)/g, ']').split(/(?<!\\)\|/);
    const long = cells.filter((cell) => cell.trim().split(/\s+/).length > MOST_WORDS);
    return long.map((cell) => `line ${index + 1}: ${cell.trim()}`);
  });
}

describe('tables of the documentation', () => {
  it('are found', () => assert.ok(PAGES.length > 30));

  for (const page of PAGES) {
    it(`have no cell of more than ${MOST_WORDS} words in ${page}`, () => {
      assert.deepEqual(longCells(readFileSync(page, 'utf8')), []);
    });
  }

  it('would be caught with one', () => {
    const words = (count: number): string => Array.from({ length: count }, () => 'word').join(' ');
    assert.deepEqual(longCells(`| a | ${words(25)} |`), []);
    assert.deepEqual(longCells(`\n| a | ${words(26)} |`), [`line 2: ${words(26)}`]);
    assert.deepEqual(longCells(`\`\`\`\n| a | ${words(26)} |\n\`\`\``), []);
  });
});
