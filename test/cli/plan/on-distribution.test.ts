import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { InventoryNode } from '#cli/inventory/inventory-node.ts';
import { onDistribution } from '#cli/plan/on-distribution.ts';
import { planNode } from '#cli/plan/plan-node.ts';
import type { KubeletPoolSpec } from '#shared/contract/api/kubelet-pool.ts';
import { validPool } from '../../support/fleet.ts';
import { inventoryNode } from '../support/inventory-node.ts';

const node = (kubeletVersion: string, more: Partial<InventoryNode> = {}): InventoryNode =>
  inventoryNode('n', { kubeletVersion, ...more });
const pool = (fields: Readonly<Record<string, unknown>>, spec: Partial<KubeletPoolSpec> = {}) =>
  validPool('workers', 60, spec, fields);

describe('a plan of a node whose distribution is known', () => {
  it('says that the node would refuse what a flag of its own wins over', () => {
    const after = pool({ syncFrequency: '10s', readOnlyPort: 0 });
    const text =
      '--sync-frequency=30s wins over syncFrequency: "10s", and RKE2 always passes it: the node would refuse it';
    assert.deepEqual(onDistribution(node('v1.34.1+rke2r1'), after), [{ text, refuses: true }]);
    assert.deepEqual(planNode(node('v1.34.1+rke2r1'), undefined, after).warnings, [{ text, refuses: true }]);
    assert.deepEqual(onDistribution(node('v1.34.1+k3s1'), after), []);
    assert.deepEqual(onDistribution(node('v1.34.1'), after), []);
  });

  it('goes by what the kubelet runs, if that was asked', () => {
    const running = { syncFrequency: '10s' };
    assert.deepEqual(onDistribution(node('v1.34.1+rke2r1', { running }), pool({ syncFrequency: '10s' })), []);
    const [warning] = onDistribution(node('v1.34.1+rke2r1', { running }), pool({ syncFrequency: '30s' }));
    assert.equal(warning?.refuses, true);
  });

  it('only warns of what depends on the node', () => {
    const warnings = onDistribution(node('v1.34.1+k0s.0'), pool({ logging: { verbosity: 4 } }));
    assert.deepEqual(
      warnings.map(({ refuses }) => refuses),
      [false],
    );
  });

  it('says of nodes without a config file which config never gets to their kubelet', () => {
    const old = onDistribution(node('v1.31.4+k3s1'), pool({ syncFrequency: '10s' }));
    assert.deepEqual(
      old.map(({ text }) => text),
      [
        'k3s has no kubelet config file, and before 1.32 no drop-in directory that an overlay can go to: the node would refuse it',
      ],
    );
    const running = { maxPods: 60, syncFrequency: '10s' };
    const { runsAlready, unclear } = planNode(
      node('v1.31.4+k3s1', { running }),
      undefined,
      pool({ syncFrequency: '10s' }),
    );
    assert.deepEqual([runsAlready, unclear], [false, undefined]);
    const [replaced] = onDistribution(node('v1.34.1+k3s1'), pool({}, { apply: 'replace' }));
    assert.match(replaced?.text ?? '', /^k3s has no kubelet config file, whose place apply: replace would take: /);
  });
});
