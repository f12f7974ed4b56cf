import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type AuditReport, BOUNDS, SECTION_IDS } from '#cli/audit/audit-report.ts';
import { makeReport } from '#cli/audit/make-report.ts';
import type { NodeFacts } from '#cli/audit/node-facts.ts';
import { reportAsText } from '#cli/audit/render/report-as-text.ts';
import { plain } from '#cli/paint.ts';
import { loadRepo } from '#reconciler/policy/config-repo/load-repo.ts';
import { FIELDS } from '#shared/contract/kubelet-config/fields/fields.ts';
import { fc } from '../../support/property.ts';
import { answering, sized } from './support/facts.ts';

const NAMES = [...FIELDS.keys()].filter((path) => !path.includes('.') && !path.includes('['));

/** What a kubelet may say that lies, or a file that a person wrote: any JSON under names that mean something. */
const configs = fc.dictionary(fc.constantFrom(...NAMES), fc.jsonValue({ maxDepth: 3 }), {
  maxKeys: 8,
  noNullPrototype: true,
});

const nodes = fc.array(
  fc.record({
    running: configs,
    origin: fc.constantFrom<NodeFacts['origin']>('configz', 'file'),
    kubeletVersion: fc.constantFrom('', 'v1.20.2', 'v1.33.1', 'v1.99.0', 'v1.34.1+k3s1', 'odd'),
    isSized: fc.boolean(),
  }),
  { minLength: 1, maxLength: 5 },
);

const REPO = loadRepo(
  new Map(
    Object.entries({
      'pools/a/pool.yaml':
        'apiVersion: kubelet-gitops.dev/v1alpha1\nkind: KubeletPool\nspec:\n  nodeSelector: {}\n  layers: [./kubelet.yaml]\n',
      'pools/a/kubelet.yaml': 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: 100\n',
    }).map(([path, text]) => [path, { path, oid: path, bytes: Buffer.from(text) }]),
  ),
  { cluster: 'default', gitFindings: [] },
);

function reportOf(facts: readonly NodeFacts[]): AuditReport {
  const source = { from: 'files', of: 'x', notes: [] } as const;
  const found = { source, nodes: facts, unseen: [], of: facts.length, strangers: [] };
  return makeReport(found, { now: 0, sections: SECTION_IDS, repo: REPO, overDays: new Map() });
}

describe('the report of an audit', () => {
  it('is made of whatever kubelets say, within its bounds, and is JSON', () => {
    fc.assert(
      fc.property(nodes, (all) => {
        const facts = all.map(({ isSized, ...rest }, index) => {
          const node = answering(rest.running, { ...rest, name: `n${index}` });
          return isSized ? sized(node) : node;
        });
        const report = reportOf(facts);
        assert.deepEqual(
          report.sections.map(({ id }) => id),
          SECTION_IDS,
        );
        assert.deepEqual(JSON.parse(JSON.stringify(report)), report);
        for (const { groups } of report.sections.flatMap(({ checks }) => checks))
          for (const { field, value } of groups.flatMap(({ evidence }) => evidence))
            assert.ok(field.length <= BOUNDS.value && value.length <= BOUNDS.value);
        assert.notEqual(reportAsText(report, plain), '');
      }),
      { numRuns: 50 },
    );
  });

  it('does not grow with what one kubelet says', () => {
    const long = 'x'.repeat(100_000);
    const odd = {
      maxPods: 1,
      evictionHard: { [long]: long, 'memory.available': long },
      featureGates: { [long]: true },
      kubeReserved: { [long]: long },
    };
    const facts = [answering({}, { name: 'a' }), answering({}, { name: 'b' }), answering(odd, { name: 'c' })];
    assert.ok(JSON.stringify(reportOf(facts.map((each) => sized(each)))).length < 60_000);
  });
});
