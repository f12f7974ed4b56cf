import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { PROFILE_NAMES } from '#reconciler/policy/templates/profiles.ts';
import { drawProfileCurves } from '../../scripts/pictures/draw-curves.ts';
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

  for (const [scheme, file] of [
    ['light', 'docs/pictures/profiles.svg'],
    ['dark', 'docs/pictures/profiles-dark.svg'],
  ] as const) {
    it(`${file} shows the formulas as they are: npm run pictures draws it`, () => {
      assert.equal(readFileSync(file, 'utf8'), drawProfileCurves(scheme));
    });
  }

  it('have a curve of each profile for memory and for CPUs, within the picture', () => {
    const lines = [...drawProfileCurves('light').matchAll(/<polyline\s+points="([^"]+)"/g)].map(
      ([, points = '']) => points,
    );
    assert.equal(lines.length, 2 * PROFILE_NAMES.length);
    for (const line of lines) {
      const places = line.split(' ').map((point) => point.split(',').map(Number));
      assert.ok(places.length > 100);
      assert.ok(
        places.every(([x = 0, y = 0]) => x >= 80 && x <= 980 && y >= 90 && y <= 364),
        line,
      );
    }
  });

  it('wrap long lines of a terminal between words', () => {
    const words = Array.from({ length: 40 }, (_, index) => `word${index}`);
    const svg = drawTerminal([[{ tone: 'bad', text: words.join(' ') }]], 'x');
    const lines = [...svg.matchAll(/>([^<>]*word[^<>]*)</g)].map(([, text = '']) => text);
    assert.ok(lines.length > 1 && lines.every((line) => line.length <= 100));
    assert.deepEqual(lines.join(' ').split(' '), words);
  });
});
