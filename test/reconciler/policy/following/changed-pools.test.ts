import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { changedPools } from '#reconciler/policy/following/changed-pools.ts';
import { writeProof } from '#reconciler/policy/proof/record.ts';
import {
  fleetOf,
  idleNode,
  invalidPool,
  nodeView,
  poolInCluster,
  recordOf,
  validPool,
} from '../../../support/fleet.ts';

const W1 = nodeView('w1', 'workers');
const RUNS = validPool('workers', 110);
/** A cluster whose only node runs this. */
const fleet = fleetOf({
  nodes: [W1],
  kubeletNodes: [idleNode(W1)],
  pools: [poolInCluster(RUNS, { proof: writeProof([recordOf('', RUNS.sha256)]) })],
});

describe('what a commit changes', () => {
  const rows = [
    ['nothing where it says the same', [RUNS], []],
    ['the payload of a pool', [validPool('workers', 120)], ['workers']],
    ['how the same payload is applied', [validPool('workers', 110, { apply: 'replace' })], ['workers']],
    ['nothing of a pool without nodes', [RUNS, validPool('gpu', 50)], []],
    ['nothing of a pool that is invalid', [invalidPool('workers')], []],
    ['nothing where only rollouts differ', [validPool('workers', 110, { priority: 7, drift: 'report' })], []],
  ] as const;
  for (const [title, pools, expected] of rows) {
    it(`is ${title}`, () =>
      assert.deepEqual(
        changedPools(pools, fleet).map(({ pool }) => pool),
        expected,
      ));
  }

  it('has a name for the payload of a pool as it is applied', () => {
    const namesOf = (spec: Parameters<typeof validPool>[2]): string | undefined =>
      changedPools([validPool('workers', 120, spec)], fleet)[0]?.payload;
    const names = [
      namesOf({}),
      namesOf({ apply: 'replace' }),
      namesOf({ apply: 'replace', keepFields: ['clusterDNS'] }),
      namesOf({ apply: 'replace', keepFields: ['clusterDomain'] }),
    ];
    assert.equal(new Set(names).size, names.length);
    assert.equal(namesOf({}), namesOf({ priority: 7 }));
  });
});
