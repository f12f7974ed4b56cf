import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { desiredState } from '#reconciler/policy/desired.ts';
import { targetOf } from '#reconciler/policy/rollout/membership.ts';
import { withSettledKeep } from '#reconciler/policy/settled-keep.ts';
import {
  assignedNode,
  COMMIT_A,
  commit,
  fleetOf,
  nodeView,
  poolInCluster,
  settledNode,
  validPool,
} from '../../support/fleet.ts';

const pool = (keepFields: readonly string[], maxPods = 100): ValidPool =>
  validPool('workers', maxPods, { apply: 'replace', keepFields });
const [OLD, NEW] = [pool(['port']), pool(['address', 'port'])];
const NODE = nodeView('a', 'workers');
const keptOf = ({ spec }: Pick<ValidPool, 'spec'>): readonly string[] | undefined => spec.keepFields;

const wanted = (given: ValidPool, fleet: Parameters<typeof desiredState>[1], ...known: readonly ValidPool[]) => {
  const before = known.map((each) => desiredState(commit(COMMIT_A, each), fleetOf({}), () => []).pools.get('workers'));
  const pools = new Map(before.flatMap((each) => (each === undefined ? [] : [[each.name, each] as const])));
  return desiredState(commit(COMMIT_A, given), fleet, () => [], undefined, pools).pools.get('workers');
};

describe('the fields that a pool’s nodes keep', () => {
  const running = fleetOf({ nodes: [NODE], pools: [poolInCluster(OLD)], kubeletNodes: [settledNode(NODE, OLD)] });

  it('stay those that they keep, with the config that is in force: after a restart a node has to show it', () => {
    assert.deepEqual(targetOf(wanted(NEW, running)), targetOf(wanted(OLD, running)));
    assert.deepEqual(targetOf(wanted(NEW, fleetOf({}), OLD))?.keepFields, ['port']);
    const told = [poolInCluster(OLD)];
    for (const kubeletNodes of [[], [assignedNode(NODE, OLD)], [settledNode(NODE, pool(['address']))]])
      assert.deepEqual(targetOf(wanted(NEW, fleetOf({ nodes: [NODE], pools: told, kubeletNodes })))?.keepFields, [
        'address',
        'port',
      ]);
  });

  it('are those of the lists with another config, and with the first one of a pool', () => {
    const next = pool(['address', 'port'], 120);
    assert.deepEqual(targetOf(wanted(next, running, OLD))?.keepFields, ['address', 'port']);
    assert.deepEqual(targetOf(wanted(NEW, fleetOf({ nodes: [NODE] })))?.keepFields, ['address', 'port']);
    const overlay = validPool('workers', 100);
    assert.deepEqual(targetOf(wanted(NEW, fleetOf({ pools: [poolInCluster(overlay)] }), overlay))?.keepFields, [
      'address',
      'port',
    ]);
  });

  it('are one value from pass to pass', () => {
    const known = desiredState(commit(COMMIT_A, OLD), fleetOf({}), () => []).pools.get('workers')?.spec;
    const first = withSettledKeep(NEW, known, undefined, fleetOf({}));
    assert.deepEqual(keptOf(first), ['port']);
    assert.equal(withSettledKeep(NEW, known, undefined, fleetOf({})), first);
    assert.equal(withSettledKeep(OLD, known, undefined, fleetOf({})), OLD);
  });
});
