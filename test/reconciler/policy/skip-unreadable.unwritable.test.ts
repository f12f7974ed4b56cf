import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { UnreadableObject } from '#reconciler/policy/fleet.ts';
import { withUnwritable } from '#reconciler/policy/skip-unreadable.ts';
import { fleetOf, nodeView, poolInCluster, validPool } from '../../support/fleet.ts';

const left = (of: UnreadableObject['of'], name: string, uid = ''): UnreadableObject => ({
  of,
  name,
  uid,
  error: 'why',
});

describe('what could be read and not written', () => {
  const fleet = fleetOf({ nodes: [nodeView('a', 'x')], pools: [poolInCluster(validPool('a', 1))] });

  it('is left out with its uid, beside what is left out already, and once', () => {
    const found = withUnwritable(
      [left('node', 'a', 'u')],
      [left('node', 'a'), left('pool', 'a'), left('node', 'b')],
      fleet,
    );
    assert.deepEqual(found, [left('node', 'a', 'u'), left('pool', 'a', 'p-a'), left('node', 'b')]);
    assert.deepEqual(withUnwritable([], [left('node', 'a')], fleet), [left('node', 'a', 'uid-a')]);
  });
});
