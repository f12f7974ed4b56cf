import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { asJunit } from '#cli/audit/render/junit.ts';
import { fc } from '../../../support/property.ts';
import { anyReport, harmless, tagsOf } from './support/any-report.ts';
import { EXAMPLE } from './support/example-report.ts';

const count = (xml: string, pattern: RegExp): number => xml.match(pattern)?.length ?? 0;

describe('JUnit of an audit', () => {
  it('is well-formed, whatever nodes and files say', () => {
    fc.assert(
      fc.property(anyReport(), (report) => {
        const xml = asJunit(report);
        assert.deepEqual(tagsOf(xml), tagsOf(asJunit(harmless(report))));
        assert.doesNotMatch(xml, /&(?!amp;|lt;|gt;|quot;)/);
        // What XML 1.0 allows, section 2.2.
        // oxlint-disable-next-line no-control-regex
        assert.match(xml, /^[\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]*$/u);
      }),
    );
  });

  it('counts what it holds', () => {
    fc.assert(
      fc.property(anyReport(), (report) => {
        const xml = asJunit(report);
        for (const [whole, head = '', cases = ''] of xml.matchAll(/<testsuite ([^>]*)>([\s\S]*?)<\/testsuite>/g)) {
          const said = ['tests', 'failures', 'errors', 'skipped'].map((name) =>
            Number(new RegExp(`${name}="(\\d+)"`).exec(head)?.[1]),
          );
          assert.deepEqual(
            said,
            [/<testcase /g, /<failure /g, /<error /g, /<skipped /g].map((each) => count(cases, each)),
            whole,
          );
        }
        assert.equal(
          count(xml, /<testcase /g),
          report.unseen.length + report.sections.flatMap(({ checks }) => checks).length,
        );
      }),
    );
  });

  const xml = asJunit(EXAMPLE);
  const caseOf = (name: string): string =>
    new RegExp(`<testcase [^>]*name="[^"]*${name}[^"]*"(?:/>|[\\s\\S]*?</testcase>)`).exec(xml)?.[0] ?? '';
  for (const [what, name, said] of [
    ['a failed check by its severity', 'safety/readOnlyPort', /<failure message="high: whoever reaches the node/],
    [
      'nodes and evidence of a failed check',
      'safety/readOnlyPort',
      /2 nodes: edge-01, edge-02\n {2}readOnlyPort: 10255 \(config file/,
    ],
    ['the fix', 'safety/readOnlyPort', /fix:\nreadOnlyPort: 0/],
    ['what cannot be seen as skipped', 'safety/kubeconfig-mode', /<skipped message="files of the host/],
    ['what is worth knowing without a failure', 'safety/tlsCertFile', /<system-out>1 node: edge-03/],
    ['what passed', 'safety/anonymous', /"\/>$/],
    [
      'nodes that nobody saw as an error',
      'forbidden',
      /<error message="[^"]*">[^<]*\nmissing right: get nodes\/proxy\n2 nodes: vault-1/,
    ],
    ['nodes that are not ready as skipped', 'not-ready', /<skipped /],
  ] as const) {
    it(`says ${what}`, () => assert.match(caseOf(name), said));
  }

  it('has a suite for each section', () => {
    assert.deepEqual(
      [...xml.matchAll(/<testsuite name="(\w+)"/g)].map(([, name]) => name),
      ['Nodes', 'Sameness', 'Safety', 'Upgrades', 'Room', 'Drift'],
    );
  });
});
