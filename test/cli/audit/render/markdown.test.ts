import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AuditReport } from '#cli/audit/audit-report.ts';
import { asMarkdown } from '#cli/audit/render/markdown.ts';
import { proseOf } from '../../../support/markdown-prose.ts';
import { fc } from '../../../support/property.ts';
import { anyReport, tagsOf } from './support/any-report.ts';
import { check, EXAMPLE } from './support/example-report.ts';

const TAGS = ['<details>', '<summary>', '</summary>', '</details>'];
/** GitHub's longest comment. */
const LONGEST = 65_536;

describe('Markdown of an audit', () => {
  it('has no HTML but its folds, no link, no mention and no reference, whatever nodes and files say', () => {
    fc.assert(
      fc.property(anyReport(), (report) => {
        const prose = proseOf(asMarkdown(report));
        const tags = tagsOf(prose);
        assert.deepEqual(
          tags.filter((tag) => !TAGS.includes(tag)),
          [],
        );
        assert.equal(
          tags.filter((tag) => tag === '<details>').length,
          tags.filter((tag) => tag === '</details>').length,
        );
        assert.doesNotMatch(prose.replaceAll('[!WARNING]', ''), /[[\]]|@(?!\u200B)|:\/\/|www\.|#\w|!\w|\bGH-\d|&\w/i);
      }),
    );
  });

  it('fits into a comment, however much there is, with folds that end', () => {
    const long = fc.integer({ min: 1, max: 20_000 }).map((length) => '`*<@|'.repeat(length / 5 + 1));
    fc.assert(
      fc.property(anyReport(long), (report) => {
        const text = asMarkdown(report);
        assert.ok(text.length < LONGEST, `${text.length}`);
        assert.equal(text.match(/^<details>/gm)?.length, text.match(/^<\/details>$/gm)?.length);
      }),
      { numRuns: 30 },
    );
  });

  it('leaves out the least where there is no room, and says so', () => {
    const nodes = Array.from({ length: 5_000 }, (_, index) => `node-${index}`);
    const many = Array.from({ length: 400 }, (_, index) =>
      check({
        id: `safety/${index}`,
        title: `Fault ${index} ${'x'.repeat(300)}`,
        result: 'fail',
        groups: [{ result: 'fail', count: 5_000, nodes, evidence: [] }],
      }),
    );
    const [sameness, , ...others] = EXAMPLE.sections;
    assert.ok(sameness !== undefined);
    const safety = { id: 'safety', title: 'Safety', summary: '', result: 'fail', checks: many } as const;
    const text = asMarkdown({ ...EXAMPLE, sections: [sameness, safety, ...others] });
    assert.ok(text.length < LONGEST);
    assert.match(text, /Fault 0 /);
    assert.match(text, /^_\d+ more left out: `-o html` has them\._$/m);
    assert.match(text, /Less memory is reserved than the system uses/);
  });

  it('names three nodes of a group, and says how many more there are', () => {
    const said = asMarkdown(EXAMPLE);
    assert.match(
      said,
      /^- 12 nodes \(`gpu-01`, `gpu-02`, `gpu-03` and 9 more\): `readOnlyPort: 10255` \(`flag --read-only-port`\)$/m,
    );
  });

  const text = asMarkdown(EXAMPLE);
  for (const [what, said] of [
    ['whom it is about', /^### kubelet-gitops: audit of `https:\/\/prod\.example\.com:6443`$/m],
    [
      'who was seen, and when',
      /^57 of 60 nodes said what they run \(through the API server\), as of `2026-11-29T12:03:10Z`\.$/m,
    ],
    ['who was not', /^> 2 nodes not seen \(`vault-1`, `vault-2`\): .*; missing right: `get nodes\/proxy`$/m],
    ['each section in a line', /^\| ❌ \| Safety \| 2 of 5 checks fail, 1 cannot be seen \|$/m],
    [
      'what is new',
      /^\*\*New since `2026-11-22T12:00:00Z`: 1 check\*\*\n- The read-only port is open \(high, `edge-01`, `edge-02`\)$/m,
    ],
    [
      'a failed check',
      /^❌ \*\*The read-only port is open\*\*: whoever reaches .* \(high, 14 nodes, `safety\/readOnlyPort`\)$/m,
    ],
    ['the fix', /^Fix: take the flag .*\.\n\n```yaml\nreadOnlyPort: 0\n```$/m],
    ['what is worth knowing', /^ℹ️ \*\*The serving certificate ends soon\*\* \(worth knowing, 1 node, /m],
    ['what is not visible', /^- not visible: Others may read/m],
    ['groups', /^\| `general` \| 40 \| `1\.33`, `1\.34` \| 2 \|$/m],
    ['room', /^\| `4 cores, 15\.6Gi` \| 40 \| memory \| 15\.6Gi \| 768Mi \| at most 1\.9Gi \|$/m],
  ] as const) {
    it(`says ${what}`, () => assert.match(text, said));
  }

  it('says of a section where all is well no more than its line', () => {
    assert.doesNotMatch(text, /^#### Upgrades$/m);
  });

  it('says what was not seen before all else', () => {
    const report: AuditReport = { ...EXAMPLE, nodes: { seen: 0, of: 60 }, sections: [] };
    assert.ok(asMarkdown(report).includes('0 of 60 nodes'));
  });
});
