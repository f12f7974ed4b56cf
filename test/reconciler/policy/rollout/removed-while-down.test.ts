import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { haltOf } from '#reconciler/policy/rollout/halt.ts';
import { removedWhileDown } from '#reconciler/policy/rollout/removed-while-down.ts';
import { type Group, memberOf, targetOf } from '#reconciler/policy/rollout/membership.ts';
import type { KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import { desiredPool, fleetOf, nodeView, NOW, poolSpec, settledNode, validPool } from '../../../support/fleet.ts';

const [OLD, NEXT] = [validPool('workers', 110), validPool('workers', 120)];
const AT = '2026-11-21T12:00:00Z';

function groupOf(proven: typeof OLD, threshold = 1): Group {
  const rollout = { ...poolSpec().rollout, maxUnavailable: 9, onFailure: { threshold, action: 'halt' as const } };
  const pool = desiredPool(validPool('workers', 120, { rollout }));
  const node = nodeView('a', 'workers');
  return { pool, members: [memberOf(node, settledNode(node, proven), targetOf(pool), 0, NOW)] };
}

const recorded = (lost: readonly string[], { configName, sha256 } = NEXT): KubeletPoolStatus => ({
  rollout: { configName, sha256, startedAt: AT, waves: [], lost },
});
const fleetWithout = (...names: readonly string[]) => ({
  ...fleetOf({}),
  lost: new Map([
    ['workers', names.map((name) => ({ name, target: { sha256: NEXT.sha256, apply: NEXT.spec.apply } }))],
    ['others', [{ name: 'z', target: { sha256: NEXT.sha256, apply: NEXT.spec.apply } }]],
  ]),
});

describe('the machines that a payload may have killed', () => {
  it('are those that were seen and those that are recorded, once each, the first twenty', () => {
    assert.deepEqual(removedWhileDown(groupOf(OLD), recorded(['x']), fleetWithout('x', 'y')), ['x', 'y']);
    const many = Array.from({ length: 30 }, (_, index) => `n${index}`);
    assert.deepEqual(removedWhileDown(groupOf(OLD), undefined, fleetWithout(...many)), many.slice(0, 20));
  });

  it('are none once a node has proven it, of another payload, or of no pool', () => {
    assert.deepEqual(removedWhileDown(groupOf(NEXT), recorded(['x']), fleetWithout('y')), []);
    assert.deepEqual(removedWhileDown(groupOf(OLD), recorded(['x'], OLD), fleetOf({})), []);
    const other = { name: 'y', target: { sha256: OLD.sha256, apply: OLD.spec.apply } };
    assert.deepEqual(
      removedWhileDown(groupOf(OLD), undefined, { ...fleetOf({}), lost: new Map([['workers', [other]]]) }),
      [],
    );
    assert.deepEqual(removedWhileDown({ pool: null, members: [] }, recorded(['x']), fleetWithout('y')), []);
  });

  for (const [threshold, most] of [
    [1, 1],
    [2, 1],
    [3, 2],
    [5, 4],
  ] as const) {
    it(`stop the pool when they are more than ${most}, by a threshold of ${threshold}, unless it is released`, () => {
      const names = Array.from({ length: most + 1 }, (_, index) => `n${index}`);
      const group = groupOf(OLD, threshold);
      assert.equal(haltOf(group, undefined, null, AT, names.slice(1)), null);
      assert.match(
        haltOf(group, undefined, null, AT, names)?.message ?? '',
        new RegExp(`^${most + 1} machines went down`),
      );
      assert.equal(haltOf(group, undefined, { sha256: NEXT.sha256, haltedAt: AT, failures: [] }, AT, names), null);
    });
  }
});
