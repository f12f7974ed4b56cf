import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withWitnesses, witnessed } from '#reconciler/policy/rollout/heritage.ts';
import { idleNode, nodeView, settledNode, validPool } from '../../../support/fleet.ts';

const [GIVEN, OTHER] = [validPool('workers', 110), validPool('workers', 120)];
const node = nodeView('a', 'workers');
const settledOn = ({ configName, sha256 }: typeof GIVEN, apply: 'overlay' | 'replace' = 'overlay') => ({
  settled: { configName, sha256, apply, at: '2026-11-21T12:00:00Z' },
  message: 'more',
});

describe('what a pool’s status says that the pool settled on', () => {
  it('counts where a node was told it', () => {
    const told = { ...settledNode(node, GIVEN), status: {} };
    assert.deepEqual(withWitnesses(settledOn(GIVEN), witnessed([told])), settledOn(GIVEN));
  });

  it('counts where a node has proved it', () => {
    const proved = idleNode(node, { lastKnownGood: { name: GIVEN.configName, sha256: GIVEN.sha256 } });
    assert.deepEqual(withWitnesses(settledOn(GIVEN), witnessed([proved])), settledOn(GIVEN));
  });

  it('does not count where no node has it, or not in this way; the rest stays', () => {
    for (const [settled, nodes] of [
      [settledOn(OTHER), [settledNode(node, GIVEN)]],
      [settledOn(GIVEN, 'replace'), [settledNode(node, GIVEN)]],
      [settledOn(GIVEN), [idleNode(node)]],
      [settledOn(GIVEN), []],
    ] as const) {
      assert.deepEqual(withWitnesses(settled, witnessed(nodes)), { message: 'more' });
    }
    assert.equal(withWitnesses(undefined, witnessed([])), undefined);
  });
});
