import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { desiredState } from '#reconciler/policy/desired.ts';
import type { NodeView } from '#reconciler/policy/fleet.ts';
import { poolOfNode } from '#reconciler/policy/config-repo/pool-of-class.ts';
import { rememberClasses } from '#reconciler/policy/remember-classes.ts';
import { CLASS_LABELS_ANNOTATION } from '#shared/contract/api/group.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import { assignedNode, commit, COMMIT_A, fleetOf, idleNode, validPool } from '../../support/fleet.ts';
import { sizedNode, sizedPool } from '../../support/rollout/sized-pool.ts';

const TIER = 'example.com/tier';
const BY_TIER = `labels["${TIER}"] == "gold" ? memory * 0.2 : memory * 0.1`;
const of = (tier: string): NodeView => sizedNode('a', 2, 7.7, { labels: { pool: 'x', [TIER]: tier } });

/** What is kept of the labels of a golden node. */
function kept(is: (computed: ReturnType<typeof sizedPool>) => KubeletNode, expression = BY_TIER): readonly unknown[] {
  const computed = sizedPool(`computed: {systemReserved: {memory: '${expression}'}}\n`);
  const fleet = fleetOf({ nodes: [of('gold')], kubeletNodes: [is(computed)] });
  const desired = desiredState(commit(COMMIT_A, computed), fleet, () => []);
  return rememberClasses(desired, fleet).flatMap((step) =>
    step.step === 'remember' && CLASS_LABELS_ANNOTATION in step.annotations
      ? [step.annotations[CLASS_LABELS_ANNOTATION]]
      : [],
  );
}

/** A node that was told what a node of this tier gets, with what was kept of its labels then. */
const told =
  (tier: string, then?: string) =>
  (computed: ReturnType<typeof sizedPool>): KubeletNode => {
    const given = poolOfNode(computed, of(tier)).class.pool ?? assert.fail();
    const node = assignedNode(of('gold'), given);
    const annotations = then === undefined ? {} : { annotations: { [CLASS_LABELS_ANNOTATION]: `${TIER}=${then}` } };
    return { ...node, metadata: { ...node.metadata, ...annotations } };
  };

describe('the labels that a node was told its config with', () => {
  const now = `${TIER}=gold`;
  const rows: readonly (readonly [string, readonly unknown[], ...Parameters<typeof kept>])[] = [
    ['are kept once it was told what they ask for', [now], told('gold')],
    ['are not written twice', [], told('gold', 'gold')],
    ['are kept again once it was told what they ask for now', [now], told('gold', 'silver')],
    ['stay as they were until then', [], told('silver', 'silver')],
    ['are those of now where nobody kept any', [now], told('silver')],
    ['are nothing where the pool names no labels', [], told('gold'), 'memory * 0.1'],
    ['are nothing where it was told no config', [], () => idleNode(of('gold'))],
    ['are nothing where nobody has told it anything', [], () => ({ metadata: idleNode(of('gold')).metadata })],
    ['are nothing where its pool has yet to tell it one', [], () => ({ ...idleNode(of('gold')), spec: { pool: 'x' } })],
    ['are nothing where another pool told it', [], () => assignedNode(of('gold'), validPool('other', 110))],
    [
      'are nothing where an earlier node of its name was told',
      [],
      (computed) => ({ ...told('gold')(computed), metadata: { name: 'a', ownerReferences: [] } }),
    ],
  ];
  for (const [name, expected, ...given] of rows) it(name, () => assert.deepEqual(kept(...given), expected));
});
