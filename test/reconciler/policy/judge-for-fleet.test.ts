import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { desiredState } from '#reconciler/policy/desired.ts';
import type { JudgePool } from '#reconciler/policy/config-repo/judge-pool.ts';
import { judgeForFleet } from '#reconciler/policy/judge-for-fleet.ts';
import { commit, fleetOf, idleNode, invalidPool, nodeView, validPool } from '../../support/fleet.ts';
import { sizedNode, sizedPool } from '../../support/rollout/sized-pool.ts';

/** Which contents are judged, for which versions: each once. */
function recording() {
  const asked = new Set<string>();
  const judge: JudgePool = ({ sha256 }, minors) => {
    for (const minor of minors) asked.add(`${minor} ${sha256}`);
    return [];
  };
  return { asked, judge };
}

describe('judging a pool ahead of the pass', () => {
  const nodes = [
    ...['v1.28.3', 'v1.34.2'].map((kubeletVersion, at) => nodeView(`node-${at}`, 'a', { kubeletVersion })),
    sizedNode('small', 4, 16),
    sizedNode('large', 64, 256, { kubeletVersion: 'v1.33.0' }),
  ];
  const fleet = fleetOf({ nodes, kubeletNodes: nodes.map((node) => idleNode(node, { kubeletVersion: 'v1.31.0' })) });

  it('leaves the pass nothing to judge, with and without computed values', () => {
    for (const pool of [validPool('a', 110), sizedPool("computed: {systemReserved: {memory: 'memory * 0.1'}}\n")]) {
      const ahead = recording();
      const steps = [...judgeForFleet(pool, fleet, ahead.judge)];
      const later = recording();
      desiredState(commit('c'.repeat(40), pool), fleet, later.judge);
      assert.ok(later.asked.size > 2);
      assert.deepEqual(
        [...later.asked].filter((each) => !ahead.asked.has(each)),
        [],
      );
      assert.ok(steps.length >= ahead.asked.size, 'others have a turn after each verdict');
    }
  });

  it('says nothing of a pool with errors, or before the fleet was seen', () => {
    const { asked, judge } = recording();
    assert.deepEqual(
      [...judgeForFleet(invalidPool('a'), fleet, judge), ...judgeForFleet(validPool('a', 1), null, judge)],
      [],
    );
    assert.equal(asked.size, 0);
  });
});
