import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { it } from 'node:test';
import { asMarkdown } from '#cli/audit/render/markdown.ts';
import { anyReport } from '../cli/audit/render/support/any-report.ts';
import { EXAMPLE } from '../cli/audit/render/support/example-report.ts';
import { describeOrSkip } from '../support/describe-or-skip.ts';
import { fc } from '../support/property.ts';
import { without } from '../support/required-tools.ts';

const WITHOUT_CMARK = without(
  'cmark-gfm',
  ['--version'],
  'nothing proves what GitHub’s Markdown makes of our comments',
);

/** The HTML that GitHub's own renderer makes of it, before GitHub takes out what it does not allow. */
function rendered(markdown: string): string {
  const extensions = ['table', 'autolink', 'strikethrough', 'tasklist'].flatMap((name) => ['-e', name]);
  const { stdout, stderr, status } = spawnSync('cmark-gfm', ['--unsafe', ...extensions], {
    input: markdown,
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  return stdout;
}

const elementsOf = (html: string): readonly string[] => [...html.matchAll(/<([^>]*)>/g)].map(([, tag = '']) => tag);
describeOrSkip('GitHub’s Markdown', { skip: WITHOUT_CMARK }, () => {
  it('makes of an audit no element that is not ours, no link, and no mention outside of code', () => {
    const ours = new Set(elementsOf(rendered(asMarkdown(EXAMPLE))));
    assert.ok(ours.has('details') && ours.has('table') && ours.has('code class="language-yaml"'));
    fc.assert(
      fc.property(anyReport(), (report) => {
        const html = rendered(asMarkdown(report));
        assert.deepEqual(
          elementsOf(html).filter((tag) => !ours.has(tag)),
          [],
        );
        const prose = html.replaceAll(/<(code|pre)[^>]*>[\s\S]*?<\/\1>/g, '');
        // What GitHub makes references of when the Markdown is rendered.
        assert.doesNotMatch(prose, /@\w|#\d|\bGH-\d/i);
      }),
      { numRuns: 200 },
    );
  });
});
