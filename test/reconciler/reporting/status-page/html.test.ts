import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../support/property.ts';
import { html, toText } from '#reconciler/reporting/status-page/html.ts';

/** What a browser makes of text in which nothing but entities is special. */
const unescape = (text: string): string =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');

const HOSTILE = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    '<script>alert(1)</script>',
    '" onload="x',
    "' autofocus '",
    '&lt;',
    '</title>',
    '<!--',
    '\u202Eevil',
    '\u0000',
  ),
);

describe('html', () => {
  it('lets no text become markup, wherever it stands', () => {
    fc.assert(
      fc.property(HOSTILE, HOSTILE, (one, other) => {
        const text = toText(html`<a href="${one}">${other}</a>`);
        const found = /^<a href="([^"<>]*)">([^<>]*)<\/a>$/s.exec(text);
        assert.ok(found !== null, text);
        assert.doesNotMatch(text.replaceAll('\n', ''), /[\p{Cc}\p{Cf}]/u);
      }),
    );
  });

  it('shows text that has nothing unseen in it as it is', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        assert.equal(unescape(toText(html`${text}`)), text);
      }),
    );
  });

  it('does not escape markup twice, and makes lists one after the other', () => {
    const items = ['a', '<b>'].map((text) => html`<b>${text}</b>`);
    assert.equal(toText(html`${items}${null}${7}`), '<b>a</b><b>&lt;b&gt;</b>7');
  });

  it('takes nothing that only looks like its own markup', () => {
    const forged = { markup: '<script>' } as never;
    assert.throws(() => toText(html`${forged}`));
  });
});
