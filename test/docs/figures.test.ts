import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

const linesOf = (page: string): readonly string[] => readFileSync(page, 'utf8').split('\n');
const numbersIn = (text: string): readonly string[] => text.match(/\d+(?:,\d{3})*(?:\.\d+)?/g) ?? [];

/** Rows of the table below a heading, as cells. */
function tableBelow(heading: string, lines: readonly string[]): readonly (readonly string[])[] {
  const below = lines.slice(lines.indexOf(heading) + 1);
  const first = below.findIndex((line) => line.startsWith('| --- '));
  const rows = below.slice(first + 1);
  return rows
    .slice(
      0,
      rows.findIndex((line) => !line.startsWith('|')),
    )
    .map((line) => line.split('|').slice(1, -1));
}

describe('what the README says that it costs', () => {
  const rows = tableBelow('## What it costs', linesOf('README.md'));
  const measured = linesOf('docs/benchmarks.md').map((line) => new Set(numbersIn(line)));

  it('is a table', () => assert.ok(rows.length > 5));

  for (const [what = '', figure = '', against = ''] of rows) {
    it(`stands in a row of docs/benchmarks.md:${what}`, () => {
      const figures = [...numbersIn(figure), ...numbersIn(against)];
      assert.ok(figures.length >= 2);
      assert.ok(
        measured.some((numbers) => figures.every((each) => numbers.has(each))),
        `no row has ${figures.join(', ')}`,
      );
    });
  }
});
