import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { targetsOf } from '#reconciler/policy/rollout/targets.ts';
import { isRevertOfPayload } from '#reconciler/policy/rollout/revert.ts';
import { HALT, NODE, question, REVERT } from './support/hold-question.ts';
import { validPool } from '../../../support/fleet.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { Halt, KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import { assignedNode, idleNode, NOW, settledNode } from '../../../support/fleet.ts';
import {
  AT,
  classOf,
  given,
  groupOf,
  HUGE,
  LARGE,
  nameOf,
  computedPool,
  provenBy,
  sourceNameOf,
} from '../../../support/rollout/separate-classes.ts';

describe('what a node of a class gets back, where its pool reverts,', () => {
  const backTo = (is: KubeletNode, before?: KubeletPoolStatus) => {
    const { configName, sha256 } = computedPool();
    const halt: Halt = { config: configName, sha256, at: AT, message: '', action: 'revert' };
    const [aimed] = targetsOf(groupOf([{ view: HUGE, is }], before), halt, sourceNameOf, NOW);
    return [aimed?.targetKind, aimed?.configName];
  };
  const proved = () => settledNode(HUGE, given(HUGE));
  const tries = () => assignedNode(HUGE, given(HUGE), { phase: 'Trial' });

  it('is what its class had before, whether or not it has proven what failed elsewhere', () => {
    const former = provenBy({ ...classOf(LARGE), name: nameOf(HUGE) });
    for (const is of [proved(), tries()]) assert.deepEqual(backTo(is, former), ['settled', given(LARGE).configName]);
  });

  it('is what it has proven where nothing is known of its class, and its local config where it has not', () => {
    assert.deepEqual(backTo(proved(), provenBy(classOf(LARGE))), ['config', given(HUGE).configName]);
    assert.deepEqual(backTo(tries(), provenBy(classOf(LARGE))), ['local', null]);
  });

  it('is its local config where the pool settled on nothing at all', () => {
    assert.deepEqual(backTo(proved()), ['local', null]);
  });

  it('is what it ran before, where it knows that', () => {
    const lastKnownGood = { name: 'workers-1', sha256: 'e'.repeat(64), apply: 'overlay' } as const;
    const had = assignedNode(HUGE, given(HUGE), { phase: 'Trial', lastKnownGood });
    assert.deepEqual(backTo(had, provenBy(classOf(LARGE))), ['settled', 'workers-1']);
  });
});

describe('what waits for nothing but a person', () => {
  it('is a node from which a payload is taken back, and no other', () => {
    const ends = (action: 'halt' | 'revert' | undefined, aim: 'config' | 'settled' | 'local'): boolean =>
      isRevertOfPayload(
        question({ facts: { halt: action === undefined ? null : { ...HALT, action } }, aimed: { targetKind: aim } }),
      );
    assert.deepEqual(
      [ends('revert', 'settled'), ends('revert', 'local'), ends('revert', 'config')],
      [true, true, false],
    );
    assert.deepEqual([ends('halt', 'settled'), ends(undefined, 'settled')], [false, false]);
    const [idle, runs] = [idleNode(NODE), settledNode(NODE, validPool('workers', 110))];
    const ofNode = (kubeletNode: KubeletNode): boolean =>
      isRevertOfPayload(question({ facts: { halt: REVERT }, aimed: { targetKind: 'local' }, member: { kubeletNode } }));
    assert.deepEqual(
      [idle, { ...runs, spec: {} }].map(ofNode),
      [false, true],
      'who neither was told it nor runs it waits',
    );
    const left = question({ facts: { halt: REVERT }, aimed: { targetKind: 'local' }, leaving: true });
    assert.equal(isRevertOfPayload(left), false, 'nobody knows what failed in a pool that is gone');
  });
});
