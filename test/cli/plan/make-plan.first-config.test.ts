import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { InventoryNode } from '#cli/inventory/inventory-node.ts';
import { makePlan } from '#cli/plan/make-plan.ts';
import type { MergePlan } from '#cli/plan/merge-plan.ts';
import { planAsMarkdown } from '#cli/plan/render/markdown.ts';
import { planAsText } from '#cli/plan/render/text.ts';
import type { KubeletPoolSpec } from '#shared/contract/api/kubelet-pool.ts';
import { DEFAULT_CLUSTER } from '#reconciler/policy/config-repo/read-cluster.ts';
import { validPool } from '../../support/fleet.ts';
import { inventoryNode } from '../support/inventory-node.ts';

const MINUTE = 60_000;
const PLAIN = (_: string, text: string): string => text;

const node = (name: string, running?: Readonly<Record<string, unknown>>): InventoryNode =>
  inventoryNode(name, running === undefined ? {} : { running });

/** What a first commit does to nodes that have no config of ours. */
function planOf(
  nodes: readonly InventoryNode[],
  spec: Partial<KubeletPoolSpec> = {},
  fields: Readonly<Record<string, unknown>> = {},
): MergePlan {
  const pool = validPool('workers', 100, spec, fields);
  const repo = { cluster: DEFAULT_CLUSTER, findings: [] };
  return makePlan({
    base: { name: 'nothing', commit: undefined, repo: { ...repo, pools: [] }, kept: new Map() },
    head: { name: 'HEAD', repo: { ...repo, pools: [pool] } },
    cluster: 'prod',
    nodes,
    inForce: undefined,
  });
}

/** Of each node, whether its kubelet is known to run the config already, or why that is not known. */
const known = ({ pools }: MergePlan): readonly string[] =>
  (pools[0]?.nodes ?? []).map(
    ({ name, runsAlready, unclear }) => `${name}: ${runsAlready ? 'no restart' : (unclear ?? 'restart')}`,
  );

const SAME = { maxPods: 100, serializeImagePulls: false };

describe('a plan for nodes without a config of ours', () => {
  it('has no restart where the kubelet runs all of it, and one where it does not', () => {
    const plan = planOf([node('a', SAME), node('b', { maxPods: 110 }), node('c')]);
    assert.deepEqual(known(plan), ['a: no restart', 'b: restart', 'c: not-asked']);
    const text = planAsText(plan, PLAIN);
    assert.match(text, /^ {2}a: already runs this: files are written, the kubelet is not restarted$/m);
    assert.match(text, /^ {2}c: what the kubelet runs is not known here; one that already runs this is not restarted/m);
    assert.doesNotMatch(text, /^ {2}b: /m);
    assert.match(planAsMarkdown(plan), /^- a: already runs this: /m);
  });

  it('cannot say so where it depends on what the node itself sets', () => {
    const nodes = [node('a', SAME), node('b', { maxPods: 110 })];
    assert.deepEqual(known(planOf(nodes, { apply: 'replace' })), ['a: own-config', 'b: restart']);
    assert.deepEqual(known(planOf(nodes, {}, { cpuCFSQuota: null })), ['a: own-config', 'b: restart']);
    const gates = { ...SAME, featureGates: { KubeletTracing: true, MemoryQoS: true } };
    assert.deepEqual(known(planOf([node('a', gates)], {}, { featureGates: { MemoryQoS: true } })), ['a: own-config']);
    const unset = { ...SAME, podPidsLimit: 4096 };
    assert.deepEqual(known(planOf([node('a', unset)], {}, { podPidsLimit: 4096 })), ['a: no restart']);
    const plain = { ...SAME, clusterDomain: 'cluster.local' };
    assert.deepEqual(known(planOf([node('a', plain)], {}, { clusterDomain: '' })), ['a: own-config']);
    const text = planAsText(planOf(nodes, { apply: 'replace' }), PLAIN);
    assert.match(
      text,
      /^ {2}a: the kubelet runs all that this sets; whether it restarts depends on the files of the node itself/m,
    );
  });

  it('gives no time to trials that nobody needs', () => {
    const nodes = ['a', 'b', 'c'];
    const timeOf = (plan: MergePlan): number => plan.pools[0]?.rollout?.expectedMs ?? 0;
    const rollout = {
      maxUnavailable: 1,
      probation: 'full',
      soak: '1h',
      onFailure: { threshold: 1, action: 'halt' },
    } as const;
    assert.ok(
      timeOf(
        planOf(
          nodes.map((name) => node(name, SAME)),
          { rollout },
        ),
      ) < MINUTE,
    );
    assert.ok(
      timeOf(
        planOf(
          nodes.map((name) => node(name)),
          { rollout },
        ),
      ) >
        150 * MINUTE,
    );
  });
});
