import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { desiredState } from '#reconciler/policy/desired.ts';
import { withoutClockSkew } from '#reconciler/policy/first-seen/clock-skew.ts';
import { type FirstSeenTimes, firstSeenTimes } from '#reconciler/policy/first-seen/first-seen-times.ts';
import type { Fleet, NodeView } from '#reconciler/policy/fleet.ts';
import { assignedNode, commit, COMMIT_A, COMMIT_B, fleetOf, nodeView, NOW, validPool } from '../../../support/fleet.ts';

const POOL = validPool('workers', 110);
const TARGET = { sha256: POOL.sha256, apply: POOL.spec.apply };
const IN_FORCE = commit(COMMIT_B, POOL);

const seenWith = (before: FirstSeenTimes | null, fleet: Fleet, inForce = IN_FORCE): FirstSeenTimes =>
  firstSeenTimes(
    before,
    desiredState(inForce, fleet, () => []),
    fleet,
    NOW,
  );
const fleetWith = (...nodes: readonly NodeView[]): Fleet =>
  fleetOf({ nodes, kubeletNodes: nodes.map((node) => assignedNode(node, POOL)) });
const down = (name: string): NodeView => nodeView(name, 'workers', { ready: false });

describe('a node that is gone', () => {
  const before = seenWith(null, fleetWith(down('a'), nodeView('b', 'workers'), down('c')));

  it('is lost where it was down with what it was told, and stays so', () => {
    const after = seenWith(before, fleetWith(down('c')));
    assert.deepEqual([...(after.lost ?? [])], [['workers', [{ name: 'a', target: TARGET }]]]);
    const later = seenWith(after, fleetWith());
    assert.deepEqual(
      later.lost?.get('workers')?.map(({ name }) => name),
      ['a', 'c'],
    );
    assert.equal(withoutClockSkew(fleetWith(), later).lost, later.lost);
  });

  it('is lost where another one of its name came', () => {
    const after = seenWith(before, fleetWith({ ...down('a'), uid: 'another' }, down('c')));
    assert.deepEqual(after.lost?.get('workers')?.length, 1);
  });

  it('is not while it is there, or only cannot be read', () => {
    assert.equal(seenWith(before, fleetWith(down('a'), down('c'))).lost, undefined);
    const unreadable = ['a', 'c'].map((name) => ({ of: 'node' as const, name, uid: '', error: '' }));
    assert.equal(seenWith(before, { ...fleetWith(), unreadable }).lost, undefined);
  });

  it('is forgotten when its pool gets another config: the same one may be committed again', () => {
    const after = seenWith(before, fleetWith());
    const other = commit(COMMIT_A, validPool('workers', 120));
    assert.deepEqual([...(seenWith(after, fleetWith(), other).lost?.values() ?? [])].flat(), []);
    assert.deepEqual([...(seenWith(before, fleetWith(), other).lost?.values() ?? [])].flat(), []);
  });

  it('is remembered with the last hundred of its pool', () => {
    const names = Array.from({ length: 120 }, (_, index) => `n${index}`);
    const after = seenWith(seenWith(null, fleetWith(...names.map(down))), fleetWith());
    assert.deepEqual([after.lost?.get('workers')?.length, after.lost?.get('workers')?.at(-1)?.name], [100, 'n119']);
  });
});
