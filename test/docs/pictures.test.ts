import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { drawProfileCurves } from '../../scripts/pictures/draw-curves.ts';

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

  for (const [scheme, file] of [
    ['light', 'docs/pictures/profiles.svg'],
    ['dark', 'docs/pictures/profiles-dark.svg'],
  ] as const) {
    it(`${file} shows the formulas as they are: npm run pictures draws it`, () => {
      assert.equal(readFileSync(file, 'utf8'), drawProfileCurves(scheme));
    });
  }
});
