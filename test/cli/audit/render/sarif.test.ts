import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AuditReport, CheckedNodes } from '#cli/audit/audit-report.ts';
import { asSarif } from '#cli/audit/render/sarif.ts';
import { fc } from '../../../support/property.ts';
import { anyReport } from './support/any-report.ts';
import { check, EXAMPLE } from './support/example-report.ts';
import { sarifFaults } from '../../../support/sarif-schema.ts';

interface Result {
  readonly ruleId: string;
  readonly level: string;
  readonly message: { readonly text: string };
  readonly locations: readonly {
    readonly physicalLocation: { readonly artifactLocation: { readonly uri: string }; readonly region?: object };
    readonly logicalLocations?: readonly { readonly fullyQualifiedName: string }[];
  }[];
  readonly partialFingerprints: Readonly<Record<string, string>>;
}
interface Run {
  readonly tool: {
    readonly driver: { readonly rules: readonly { readonly id: string; readonly properties: object }[] };
  };
  readonly automationDetails: { readonly id: string };
  readonly invocations: readonly {
    readonly executionSuccessful: boolean;
    readonly toolExecutionNotifications: readonly { readonly message: { readonly text: string } }[];
  }[];
  readonly results: readonly Result[];
}

function runOf(report: AuditReport): Run {
  const [run] = (JSON.parse(asSarif(report)) as { readonly runs: readonly Run[] }).runs;
  assert.ok(run !== undefined);
  return run;
}

const failed = (count: number, nodes: readonly string[], ...evidence: CheckedNodes['evidence']): CheckedNodes => ({
  result: 'fail',
  count,
  nodes,
  evidence,
});
const withGroups = (...groups: readonly CheckedNodes[]): AuditReport => ({
  ...EXAMPLE,
  sections: [
    {
      id: 'safety',
      title: '',
      summary: '',
      result: 'fail',
      checks: [check({ id: 'safety/a', result: 'fail', groups })],
    },
  ],
});
const fingerprints = (...groups: readonly CheckedNodes[]): readonly (string | undefined)[] =>
  runOf(withGroups(...groups)).results.map((result) => result.partialFingerprints['primaryLocationLineHash']);

const port = { field: 'readOnlyPort', value: '10255', by: 'config' } as const;

describe('SARIF of an audit', () => {
  it('keeps to its schema, whatever nodes and files say', () => {
    assert.deepEqual(sarifFaults(JSON.parse(asSarif(EXAMPLE))), []);
    fc.assert(fc.property(anyReport(), (report) => assert.deepEqual(sarifFaults(JSON.parse(asSarif(report))), [])));
  });

  it('has a rule for every check, a result for none that did not fail, and a fingerprint of its own for each', () => {
    fc.assert(
      fc.property(anyReport(), (report) => {
        const { tool, results } = runOf(report);
        const checks = report.sections.flatMap((section) => section.checks);
        assert.deepEqual(
          tool.driver.rules.map(({ id }) => id),
          checks.map(({ id }) => id),
        );
        const faulty = checks.filter(({ groups }) => groups.some(({ result }) => result === 'fail'));
        assert.deepEqual(
          [...new Set(results.map(({ ruleId }) => ruleId))],
          faulty.map(({ id }) => id),
        );
        assert.equal(new Set(results.map((each) => JSON.stringify(each.partialFingerprints))).size, results.length);
      }),
    );
  });

  it('holds no link and no placeholder in any message', () => {
    fc.assert(
      fc.property(anyReport(), (report) => {
        const texts: string[] = [];
        JSON.parse(asSarif(report), (key, value: unknown) => (key === 'text' ? texts.push(String(value)) : value));
        assert.deepEqual(
          texts.filter((text) => /\[[^\]]*\]\(|\{\d+\}/.test(text)),
          [],
        );
      }),
    );
  });

  for (const [what, before, after, isSame] of [
    ['one more node', [failed(1, ['a'], port)], [failed(2, ['a', 'b'], port)], true],
    ['another node', [failed(1, ['a'], port)], [failed(1, ['b'], port)], true],
    [
      'another file of the same setting',
      [failed(1, ['a'], port)],
      [failed(1, ['a'], { ...port, place: '/etc/x' })],
      true,
    ],
    ['another setting', [failed(1, ['a'], port)], [failed(1, ['a'], { ...port, value: '1' })], false],
    ['a flag instead of the file', [failed(1, ['a'], port)], [failed(1, ['a'], { ...port, by: 'flag' })], false],
    [
      'another measurement',
      [failed(1, ['a'], { field: 'memory.used', value: '1Gi', by: 'kubelet' })],
      [failed(1, ['a'], { field: 'memory.used', value: '2Gi', by: 'kubelet' })],
      true,
    ],
    [
      'measurements that part or meet',
      [failed(2, ['a', 'b'], { field: 'memory.used', value: '1Gi', by: 'prometheus' })],
      [
        failed(1, ['a'], { field: 'memory.used', value: '1Gi', by: 'prometheus' }),
        failed(1, ['b'], { field: 'memory.used', value: '2Gi', by: 'prometheus' }),
      ],
      true,
    ],
  ] as const) {
    it(`${isSame ? 'is the same fault to a forge' : 'is another fault to a forge'} with ${what}`, () => {
      const [one, other] = [fingerprints(...before), fingerprints(...after)];
      assert.equal(one.length, 1);
      if (isSame) assert.deepEqual(other, one);
      else assert.notDeepEqual(other, one);
    });
  }

  it('places a fault in the line of the repository that sets it, then on its nodes', () => {
    const [result] = runOf(
      withGroups(failed(2, ['n 1', 'n/2'], { ...port, by: 'repository', place: 'pools/a:b/kubelet.yaml:12' })),
    ).results;
    assert.deepEqual(
      result?.locations.map(({ physicalLocation, logicalLocations }) => [
        physicalLocation.artifactLocation.uri,
        physicalLocation.region,
        logicalLocations?.[0]?.fullyQualifiedName,
      ]),
      [
        ['pools/a%3Ab/kubelet.yaml', { startLine: 12 }, undefined],
        ['nodes/n%201', undefined, 'nodes/n 1'],
        ['nodes/n/2', undefined, 'nodes/n/2'],
      ],
    );
  });

  it('has no more places for a result than GitHub keeps', () => {
    const nodes = Array.from({ length: 5_000 }, (_, index) => `node-${index}`);
    const log: unknown = JSON.parse(asSarif(withGroups(failed(5_000, nodes, port))));
    assert.deepEqual(sarifFaults(log), []);
  });

  it('ranks what bears on security, and nothing else', () => {
    const { rules } = runOf(EXAMPLE).tool.driver;
    const rank = (id: string) => rules.find((rule) => rule.id === id)?.properties;
    assert.deepEqual(rank('safety/readOnlyPort'), { tags: ['kubelet', 'security'], 'security-severity': '8.0' });
    assert.deepEqual(rank('room/memory-under-reserved'), { tags: ['kubelet'] });
  });

  it('tells of nodes and checks that could not be seen, which are no faults', () => {
    const { invocations, results } = runOf(EXAMPLE);
    assert.deepEqual(
      invocations[0]?.toolExecutionNotifications.map(({ message }) => message.text),
      [
        '2 nodes (vault-1, vault-2): the API server refused to ask the kubelets; missing right: get nodes/proxy',
        '1 node (general-41): the Node is not Ready',
        'cannot be seen: Others may read the kubelet’s kubeconfig: files of the host are seen by agents alone',
      ],
    );
    assert.equal(results.length, 5);
  });

  it('succeeded only where every node that is Ready was seen', () => {
    const succeeded = (unseen: AuditReport['unseen']) =>
      runOf({ ...EXAMPLE, unseen }).invocations[0]?.executionSuccessful;
    assert.deepEqual(
      [succeeded([]), succeeded(EXAMPLE.unseen), succeeded(EXAMPLE.unseen.slice(1))],
      [true, false, true],
    );
  });

  it('keeps clusters apart', () => {
    const idOf = (of: string) => runOf({ ...EXAMPLE, source: { ...EXAMPLE.source, of } }).automationDetails.id;
    assert.equal(idOf('https://a/b'), 'kubelet-gitops-audit/https%3A%2F%2Fa%2Fb/');
    assert.notEqual(idOf('a'), idOf('b'));
  });
});
