import assert from 'node:assert/strict';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { EVERY_POINT } from '../support/sample.ts';
import { BUILT_LATER, EXCUSED } from './support/foreign-text.ts';
import { builtIn, isLinear, regexpsIn } from './support/regexps.ts';

/**
 * Those that were proven once, so that only new ones are: a proof takes its time. `npm run test:faults` proves all of
 * them, `UPDATE_PROVEN=1` writes them down.
 */
const PROVEN = join(import.meta.dirname, 'support/proven-regexps.txt');
const proven = new Set(readFileSync(PROVEN, 'utf8').split('\n'));

const files = globSync('{agent,cli,reconciler,shared}/**/*.{ts,js}').filter((file) => !/\.generated\./.test(file));
const builders = files.filter((file) => readFileSync(file, 'utf8').includes('new RegExp(') && !BUILT_LATER.has(file));

describe('a regular expression of the programs', () => {
  const literals = files.flatMap(regexpsIn);

  it('is found wherever one is written out or put together', async () => {
    assert.ok(literals.length > 300, `${literals.length}`);
    for (const { source, flags } of literals) assert.doesNotThrow(() => new RegExp(source, flags), source);
    for (const file of builders)
      assert.ok((await builtIn(file)).length > 0, `${file} builds it later: is its text foreign?`);
  });

  it('takes time in proportion to the text, or its text is short or of no stranger', async () => {
    const wrong: string[] = [];
    const shown = new Set<string>();
    for (const { file, line, source, flags } of [...literals, ...(await Promise.all(builders.map(builtIn))).flat()]) {
      const written = `/${source}/${flags}`;
      if (EXCUSED.has(source) || shown.has(written)) continue;
      if ((!EVERY_POINT && proven.has(written)) || (await isLinear(source, flags))) shown.add(written);
      else wrong.push(`${file}:${line} ${written}`);
    }
    if (process.env['UPDATE_PROVEN'] === '1') writeFileSync(PROVEN, `${[...shown].sort().join('\n')}\n`);
    assert.deepEqual(wrong, []);
  });

  it('is not excused without need', () => {
    const sources = new Set(literals.map(({ source }) => source));
    assert.deepEqual(
      [...EXCUSED.keys()].filter((source) => !sources.has(source)),
      [],
    );
  });

  it('that takes longer is found out', async () => {
    const slow = [String.raw`^(.*?) ?<([^>]*)> \d`, String.raw`\s+$`, '^(a+)+$', String.raw`(?:^|\n)\s*kind`];
    for (const source of slow) assert.equal(await isLinear(source, ''), false, source);
    assert.equal(await isLinear(String.raw`(\d+\.?\d*|\.\d+)(ns|us|ms|s|m|h)`, 'y'), false);
  });
});
