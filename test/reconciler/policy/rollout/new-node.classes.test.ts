import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeView } from '#reconciler/policy/fleet.ts';
import { targetsOf } from '#reconciler/policy/rollout/targets.ts';
import type { KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import { assignedNode, idleNode, NOW, settledNode } from '../../../support/fleet.ts';
import {
  classOf,
  given,
  groupOf,
  HUGE,
  LARGE,
  type Row,
  provenBy,
  sourceNameOf,
} from '../../../support/rollout/separate-classes.ts';
import { sizedNode } from '../../../support/rollout/sized-pool.ts';

const NEW: Partial<NodeView> = { createdAt: NOW };

describe('what a new node of a class is told, when the waves of the pool are done,', () => {
  const late = sizedNode('late', 16, 62.3, NEW);
  const aimOf = (rows: readonly Row[], before?: KubeletPoolStatus) => {
    const last = targetsOf(groupOf(rows, before), null, sourceNameOf, NOW).at(-1);
    return [last?.targetKind, last?.configName];
  };
  const idle = { view: late, is: idleNode(late) };

  const rows: readonly (readonly [string, 'config' | 'settled', () => Parameters<typeof aimOf>])[] = [
    ['nobody has proven it', 'config', () => [[idle]]],
    [
      'a node of another class has proven its own',
      'config',
      () => [[{ view: HUGE, is: settledNode(HUGE, given(HUGE)) }, idle]],
    ],
    ['a node of its class tries it', 'config', () => [[{ view: LARGE, is: assignedNode(LARGE, given(LARGE)) }, idle]]],
    [
      'a node of its class has proven it, and that is not written yet',
      'config',
      () => [[{ view: LARGE, is: settledNode(LARGE, given(LARGE)) }, idle]],
    ],
    ['another class of machines has proven it', 'config', () => [[idle], provenBy(classOf(late, 'other'))]],
    ['its class has proven it', 'settled', () => [[idle], provenBy(classOf(late))]],
  ];
  for (const [what, aim, told] of rows) {
    it(`is ${aim === 'settled' ? 'known to be good' : 'on trial'} where ${what}`, () =>
      assert.deepEqual(aimOf(...told()), [aim, given(late).configName]));
  }

  it('is nothing that is good where its class has no config, whoever leaves the pool', () => {
    const view = sizedNode('late', 2, 7.7, NEW);
    const leaver = { view: HUGE, is: idleNode(HUGE), leaves: true } as const;
    assert.deepEqual(aimOf([leaver, { view, is: idleNode(view) }])[0], 'config');
  });
});
