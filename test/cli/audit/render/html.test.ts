import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import type { AuditReport } from '#cli/audit/audit-report.ts';
import { asHtml } from '#cli/audit/render/html.ts';
import { fc } from '../../../support/property.ts';
import { anyReport, harmless, tagsOf } from './support/any-report.ts';
import { check, EXAMPLE } from './support/example-report.ts';

/** What a reader sees of a page, in one line. */
const textOf = (page: string): string =>
  page
    .replace(/<style>[\s\S]*?<\/style>/, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ');

const withChecks = (...checks: AuditReport['sections'][number]['checks']): AuditReport => ({
  ...EXAMPLE,
  sections: [{ id: 'safety', title: 'Safety', summary: '', result: 'fail', checks }],
});

describe('the page of an audit', () => {
  it('has the tags and attributes of the template alone, whatever nodes and files say', () => {
    fc.assert(
      fc.property(anyReport(), (report) => {
        const page = asHtml(report);
        assert.deepEqual(tagsOf(page), tagsOf(asHtml(harmless(report))));
        // oxlint-disable-next-line no-control-regex
        assert.doesNotMatch(page, /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]/);
      }),
    );
  });

  it('runs nothing, loads nothing, and leads nowhere', () => {
    const page = asHtml(EXAMPLE);
    assert.doesNotMatch(page, /<script|<iframe|<form|javascript:|@import|url\(|\bon\w+=|\bstyle=/);
    assert.deepEqual(
      [...page.matchAll(/\b(?:src|href|srcset|action)="([^"]*)"/g)]
        .map(([, to = '']) => to)
        .filter((to) => !/^#\w+$|^data:,$/.test(to)),
      [],
    );
  });

  it('allows no style but its own, by its hash', () => {
    const page = asHtml(EXAMPLE);
    const [, style = ''] = /<style>([\s\S]*?)<\/style>/.exec(page) ?? [];
    const hash = createHash('sha256').update(style).digest('base64');
    const [, policy] = /<meta http-equiv="Content-Security-Policy" content="([^"]*)">/.exec(page) ?? [];
    assert.equal(
      policy,
      `default-src 'none'; style-src 'sha256-${hash}'; img-src data:; base-uri 'none'; form-action 'none'`,
    );
    assert.ok(page.indexOf('Content-Security-Policy') < page.indexOf('<style>'), 'the policy holds for what follows');
  });

  it('names at most a hundred nodes in one place, and says how many more there are', () => {
    const nodes = Array.from({ length: 5_000 }, (_, index) => `node-${index}`);
    const page = asHtml(
      withChecks(check({ id: 'a', result: 'fail', groups: [{ result: 'fail', count: 5_000, nodes, evidence: [] }] })),
    );
    assert.equal(page.match(/<code>node-\d+<\/code>/g)?.length, 100);
    assert.match(textOf(page), /node-99 and 4900 more/);
  });

  it('draws bars whose parts are to scale and never longer than the bar', () => {
    fc.assert(
      fc.property(anyReport(fc.constant('x')), (report) => {
        for (const [, svg = ''] of asHtml(report).matchAll(/<svg([\s\S]*?)<\/svg>/g)) {
          let end = 0;
          for (const [, x = '', width = ''] of svg.matchAll(/x="([\d.-]+)"\s+y="0"\s+width="([\d.-]+)"/g)) {
            assert.ok(Math.abs(Number(x) - end) < 0.02 && Number(width) >= 0, svg);
            end = Number(x) + Number(width);
          }
          assert.ok(end <= 100.02, svg);
        }
      }),
    );
    const [, of = ''] = /general<\/th>[\s\S]*?<svg([\s\S]*?)<\/svg>/.exec(asHtml(EXAMPLE)) ?? [];
    assert.deepEqual(
      [...of.matchAll(/class="(\w+)"\s+x="([\d.]+)"\s+y="0"\s+width="([\d.]+)"/g)].map((found) => found.slice(1)),
      [
        ['good', '0.00', '92.50'],
        ['busy', '92.50', '7.50'],
      ],
    );
  });

  for (const [what, said] of [
    ['who was seen', /57 of 60 nodes said what they run \(through the API server\)/],
    [
      'who was not, why, and by which right',
      /2 nodes not seen: the API server refused to ask the kubelets Missing right: get nodes\/proxy vault-1 , vault-2/,
    ],
    ['what the way in can do', /also lets its holder run commands/],
    ['sections with result and summary', /Safety ✕ failed 2 of 5 checks fail, 1 cannot be seen/],
    ['what is new', /New Check Severity Nodes The read-only port is open ✕ high edge-01 , edge-02/],
    ['groups by size', /general 40 nodes, 37 the same; 2 configs 1\.33 \(8\), 1\.34 \(32\)/],
    ['what a config differs in', /maxPods: 250 others: 110/],
    ['value and source', /readOnlyPort: 10255 \(flag --read-only-port\)/],
    ['who passes the same check', /passed on 43 nodes/],
    ['the fix', /Fix : take the flag --read-only-port out of the unit first, because flags win readOnlyPort: 0/],
    ['references', /See CIS 4\.2\.4, NSA\/CISA kubelet authentication/],
    [
      'what could not be seen, and why',
      /Others may read the kubelet’s kubeconfig safety\/kubeconfig-mode : files of the host/,
    ],
    ['reserved', /Kept back: 868Mi kubeReserved 512Mi \+ systemReserved 256Mi \+ hard eviction 100Mi/],
    ['used', /at most: 310m 99th percentile over 7 days, 40 nodes, 28 Nov 2026, 09:00:00 UTC/],
    ['what profiles would reserve', /Profile openshift would keep back: 2\.6Gi/],
  ] as const) {
    it(`says ${what}`, () => assert.match(textOf(asHtml(EXAMPLE)), said));
  }
});
