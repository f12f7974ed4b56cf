import assert from 'node:assert/strict';
import { it } from 'node:test';
import { membershipOf } from '#reconciler/policy/rollout/membership.ts';
import { desiredState } from '#reconciler/policy/desired.ts';
import { commit, COMMIT_B, fleetOf, idleNode, nodeView, NOW, settledNode, validPool } from '../../../support/fleet.ts';

it('a node whose kubelet would refuse the config of its pool is not to be told, and stays what it is where it was', () => {
  const pool = validPool('workers', 110);
  const [was, is, new_] = ['was', 'is', 'new'].map((name) =>
    nodeView(name, 'workers', { kubeletVersion: name === 'new' ? 'v1.34.0' : 'v1.21.0' }),
  );
  assert.ok(was !== undefined && is !== undefined && new_ !== undefined);
  const kubeletNodes = [settledNode(was, pool), idleNode(is, { kubeletVersion: 'v1.34.0' }), idleNode(new_)];
  const fleet = fleetOf({ nodes: [was, is, new_], kubeletNodes });
  const desired = desiredState(commit(COMMIT_B, pool), fleet, (_, minors) =>
    minors.includes('1.21') ? [{ code: 'odd', severity: 'error', message: 'no' }] : [],
  );
  const [group] = membershipOf(desired, fleet, NOW).groups;
  assert.deepEqual(
    group?.members.map(({ node, unrendered, target }) => [node.name, unrendered !== undefined, target?.sha256]),
    [
      ['was', false, pool.sha256],
      ['is', true, pool.sha256],
      ['new', false, pool.sha256],
    ],
  );
});
