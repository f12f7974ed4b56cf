import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../../support/property.ts';
import { buildModel } from '#reconciler/reporting/status-page/build-model.ts';
import { toText } from '#reconciler/reporting/status-page/html.ts';
import type { PageModel, WorkingModel } from '#reconciler/reporting/status-page/model.ts';
import { ALL_NODES, type PageRequest } from '#reconciler/reporting/status-page/page-request.ts';
import { renderPage } from '#reconciler/reporting/status-page/render/render-page.ts';
import { NOW } from '../../../../support/fleet.ts';
import { largePassResult, rollingFleet, passResultIn } from '../pass-results.ts';

const ABOUT = { cluster: 'prod', version: '1.2.3', forge: undefined } as const;
const QUESTIONS: readonly PageRequest[] = [
  { page: 'overview' },
  { page: 'nodes', filter: ALL_NODES },
  { page: 'pool', pool: 'workers', filter: ALL_NODES },
];
const HISTORY = [{ oid: 'a'.repeat(40), subject: 'x', author: 'y', at: '2026-11-21T11:00:00Z', outcome: 'settled' }];
const MODEL = buildModel(
  passResultIn(rollingFleet(), {
    history: JSON.stringify(HISTORY),
    refusedCommit: 'b'.repeat(40),
    refusedBecause: 'z',
    findings: 'one\nother',
  }),
  ABOUT,
  NOW,
  'reconciler-a',
);

/** Text that others wrote. What is one of few words, or a time, or made by us, stays. */
const FOREIGN = new Set(
  'because progress error assigned active kubelet says target settledOn subject author url branch title text configName message reason cluster leader'.split(
    ' ',
  ),
);

function withForeign(value: unknown, text: string, key = ''): unknown {
  if (typeof value === 'string') return FOREIGN.has(key) && value !== '' ? text : value;
  if (Array.isArray(value)) return value.map((each) => withForeign(each, text, key));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withForeign(each, text, name)]));
}

const draw = (model: PageModel, question: PageRequest): string => {
  const page = renderPage(model, question);
  assert.ok(page !== null);
  return toText(page);
};
/** The elements of a page and their attributes' names, as a parser takes them. */
const structure = (text: string): readonly string[] =>
  [...text.matchAll(/<(?:!--|\/?[a-zA-Z][^\s/>]*)(?:\s+[\w:-]+(?:="[^"]*")?)*\s*\/?>/g)].map(([tag]) =>
    tag.replaceAll(/="[^"]*"/g, ''),
  );

describe('a page', () => {
  it('is made of the same elements, whatever strangers write', () => {
    const marks = fc.constantFrom(
      '<',
      '>',
      '"',
      "'",
      '&',
      '`',
      '</td>',
      '<script>',
      '<!--',
      ' onload=',
      '\u202e',
      '\u0000',
    );
    const hostile = fc.array(fc.oneof(marks, fc.string({ maxLength: 5 })), { minLength: 1, maxLength: 6 });
    for (const question of QUESTIONS) {
      const expected = structure(draw(withForeign(MODEL, 'x') as WorkingModel, question));
      fc.assert(
        fc.property(hostile, (parts) => {
          // Lines make paragraphs, and backquotes commands, where we ourselves write them.
          const text = `x${parts.join('').replaceAll(/[\n`]/g, '')}`;
          assert.deepEqual(structure(draw(withForeign(MODEL, text) as WorkingModel, question)), expected);
        }),
        { numRuns: 50 },
      );
    }
  });

  it('is a function of the model alone', () => {
    for (const question of QUESTIONS) assert.equal(draw(MODEL, question), draw(MODEL, question));
  });

  it('stays small, however many nodes there are', () => {
    const model = buildModel(largePassResult(5_000), ABOUT, NOW);
    assert.ok(draw(model, { page: 'overview' }).length < 100_000);
    assert.ok(draw(model, { page: 'nodes', filter: ALL_NODES }).length < 200_000);
  });

  it('has a caption and headings in every table, and a name for every part', () => {
    for (const question of QUESTIONS) {
      const text = draw(MODEL, question);
      const count = (what: RegExp): number => text.match(what)?.length ?? 0;
      assert.equal(count(/<caption>/g), count(/<table\b/g));
      assert.equal(count(/<section\b/g), count(/<section\b[^>]*aria-labelledby="/g));
      for (const [, id = ''] of text.matchAll(/aria-labelledby="([^"]+)"/g)) assert.ok(text.includes(`id="${id}"`), id);
    }
  });
});
