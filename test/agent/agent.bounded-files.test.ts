import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createChurningNode } from '../support/churn/churning-node.ts';
import { change } from '../support/churn/change-sequence.ts';
import { EVERY_POINT } from '../support/sample.ts';

const CHANGES = EVERY_POINT ? 300 : 100;
/** One round of the story has met everything that a node meets. */
const ROUND = 10;

describe(`a node whose assignment changes ${CHANGES} times`, () => {
  it('keeps assigned, active, lastKnownGood and local at every second, and no more files than after a few changes', async () => {
    const node = createChurningNode();
    for (let number = 0; number < ROUND; number += 1) await change(node, number);
    const early = node.most();
    for (let number = ROUND; number < CHANGES; number += 1) await change(node, number);
    const most = node.most();
    assert.ok(most.checkpoints <= 3, `${most.checkpoints} checkpoints: more than assigned, active and lastKnownGood`);
    assert.equal(most.files, early.files);
    // The story of what was rejected goes on to its twentieth entry.
    assert.ok(most.bytes < 32 * 1024, `${most.bytes} bytes`);
    await node.stop();
  });
});
