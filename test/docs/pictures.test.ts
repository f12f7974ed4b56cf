import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { drawTerminal } from '../../scripts/pictures/draw-terminal.ts';

const PAGES = ['README.md', ...globSync('docs/**/*.md')];

describe('the pictures of the documentation', () => {
  it('are where the pages look for them', () => {
    const missing = PAGES.flatMap((page) =>
      [...readFileSync(page, 'utf8').matchAll(/(?:src|srcset)="([^":]+)"/g)]
        .map(([, path = '']) => join(dirname(page), path))
        .filter((path) => !existsSync(path)),
    );
    assert.deepEqual(missing, []);
  });

  for (const file of globSync('docs/pictures/*')) {
    it(`${file} is text that shows something and does nothing`, () => {
      const svg = readFileSync(file, 'utf8');
      assert.match(svg, /^<svg\s/);
      assert.match(svg, /<title>[^<]+<\/title>/);
      assert.match(svg, /<text\s/);
      assert.doesNotMatch(svg, /<(?:script|foreignObject|image|use|a)\b|\bhref=|\son\w+=|url\(/);
    });
  }

  it('wrap long lines of a terminal between words', () => {
    const words = Array.from({ length: 40 }, (_, index) => `word${index}`);
    const svg = drawTerminal([[{ tone: 'bad', text: words.join(' ') }]], 'x');
    const lines = [...svg.matchAll(/>([^<>]*word[^<>]*)</g)].map(([, text = '']) => text);
    assert.ok(lines.length > 1 && lines.every((line) => line.length <= 100));
    assert.deepEqual(lines.join(' ').split(' '), words);
  });
});
