import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cell, code, escapeMarkdown, fenced } from '#cli/markdown-text.ts';

describe('text of others in Markdown', () => {
  for (const [what, made, wanted] of [
    [
      'markup',
      escapeMarkdown('<b> [a](b) *c* _d_ `e` ~f~ | \\'),
      '\\<b\\> \\[a\\](b) \\*c\\* \\_d\\_ \\`e\\` \\~f\\~ \\| \\\\',
    ],
    ['entities and formulas', escapeMarkdown('&lt; $x$'), '\\&lt; \\$x\\$'],
    ['addresses', escapeMarkdown('http://a www.b'), 'http:\u200B//a www\u200B.b'],
    ['mentions and mail', escapeMarkdown('@ada a@-b.example'), '@\u200Bada a@\u200B-b.example'],
    ['references', escapeMarkdown('#1 GH-2 !3'), '\\#\u200B1 GH-\u200B2 !\u200B3'],
    ['sentences as they are', escapeMarkdown('Is 100 %: yes! (of 5 GiB) # 2'), 'Is 100 %: yes! (of 5 GiB) # 2'],
    ['a heading at the start', escapeMarkdown('# a'), '\\# a'],
    ['an item at the start', escapeMarkdown('- a'), '\\- a'],
    ['a number at the start', escapeMarkdown('12. a'), '12\\. a'],
    ['lines as one', escapeMarkdown('a\r\n# b'), 'a # b'],
    ['backticks in code', code('a ``b'), '``` a ``b ```'],
    ['nothing as code', code(''), '` `'],
    ['a bar in a cell', cell('a|b\\|c\\\\|d'), '`a\\|b\\|c\\\\\\|d`'],
    ['a block that would end its fence', fenced('a\n```\n<b>\n', 'yaml'), '````yaml\na\n```\n<b>\n````'],
  ] as const) {
    it(`is kept: ${what}`, () => assert.equal(made, wanted));
  }
});
