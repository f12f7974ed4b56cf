import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { IDENTITY, shareConfigs } from '#cli/audit/alike.ts';
import { SECTION_IDS } from '#cli/audit/audit-report.ts';
import { makeReport } from '#cli/audit/make-report.ts';
import type { NodeFacts } from '#cli/audit/node-facts.ts';
import { FIELDS } from '#shared/contract/kubelet-config/fields/fields.ts';
import { fc } from '../../support/property.ts';
import { answering, sized } from './support/facts.ts';

const NAMES = [...FIELDS.keys()].filter((path) => !path.includes('.') && !path.includes('['));

/** Whatever kubelets say: values that mean something, and any JSON. */
const configs = fc.dictionary(
  fc.constantFrom(...NAMES),
  fc.oneof(fc.constantFrom<unknown>(true, 0, 10_255, '1m', '60s', null), fc.jsonValue({ maxDepth: 2 })),
  { maxKeys: 8, noNullPrototype: true },
);

/** A few configs, and who runs which, under which version and identity. */
const fleets = fc.array(configs, { minLength: 1, maxLength: 3 }).chain((all) =>
  fc.array(
    fc.record({
      config: fc.constantFrom(...all),
      identity: fc.dictionary(fc.constantFrom(...IDENTITY), fc.string({ maxLength: 4 }), { noNullPrototype: true }),
      kubeletVersion: fc.constantFrom('', 'v1.25.1', 'v1.33.1', 'v1.34.2'),
      removedFlags: fc.subarray(['pod-infra-container-image']),
      cpu: fc.constantFrom('2', '4'),
      pool: fc.constantFrom('a', 'b'),
    }),
    { minLength: 2, maxLength: 8 },
  ),
);

const reportOf = (nodes: readonly NodeFacts[]): string => {
  const found = { source: { from: 'cluster', of: '', notes: [] }, nodes, unseen: [], of: nodes.length, strangers: [] };
  return JSON.stringify(makeReport(found as never, { now: 0, sections: SECTION_IDS, overDays: new Map() }));
};

describe('configs that nodes share', () => {
  it('make the same report, byte for byte, as if each node had its own', () => {
    fc.assert(
      fc.property(fleets, (fleet) => {
        const nodes = fleet.map(({ config, identity, cpu, pool, ...rest }, index) =>
          sized(
            answering(structuredClone({ ...config, ...identity }), { ...rest, name: `n${index}`, labels: { pool } }),
            { capacity: { cpu, memory: '16Gi', pods: '110' } },
          ),
        );
        const share = shareConfigs();
        const shared = nodes.map((node) => ({ ...node, ...share(node.running) }));
        assert.deepEqual(
          shared.map(({ running }) => Object.entries(running)),
          nodes.map(({ running }) => Object.entries(running)),
        );
        assert.equal(reportOf(shared), reportOf(nodes));
      }),
    );
  });

  it('are one object where only the identity differs, and another for any other value', () => {
    const share = shareConfigs();
    const of = (maxPods: number | null, providerID: string) => share({ maxPods, clusterDNS: ['10.0.0.1'], providerID });
    const [one, other] = [of(null, 'a'), of(null, 'b')];
    const more = of(Infinity, 'a');
    assert.equal(one.alike, other.alike);
    assert.equal(one.running['clusterDNS'], other.running['clusterDNS']);
    assert.equal(other.running['providerID'], 'b');
    assert.notEqual(one.alike, more.alike);
    assert.equal(more.running['maxPods'], Infinity);
  });
});
