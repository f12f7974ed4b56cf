import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeFirstSeen } from '#reconciler/policy/first-seen/node-first-seen.ts';
import { type FirstSeenTimes, withUnreadableNodes } from '#reconciler/policy/first-seen/first-seen-times.ts';
import { fleetOf, nodeView } from '../../../support/fleet.ts';

const sight = (uid: string): NodeFirstSeen => ({ uid, firstSeen: 1, readiness: { stamp: 'true 0', at: 1 } });
const sights = (...nodes: readonly (readonly [name: string, uid: string])[]): FirstSeenTimes => ({
  nodes: new Map(nodes.map(([name, uid]) => [name, sight(uid)])),
  sources: new Map(),
});
const seen = (found: FirstSeenTimes): Readonly<Record<string, string>> =>
  Object.fromEntries([...found.nodes].map(([name, { uid }]) => [name, uid]));

describe('what was seen of a node', () => {
  const there = fleetOf({ nodes: [nodeView('a', 'x'), nodeView('b', 'x')] });
  const now = sights(['a', 'now']);
  const rows: readonly (readonly [string, FirstSeenTimes | null, Readonly<Record<string, string>>])[] = [
    ['is kept while it is there and left out of a look', sights(['b', 'before']), { a: 'now', b: 'before' }],
    ['is what was seen last', sights(['a', 'before'], ['b', 'before']), { a: 'now', b: 'before' }],
    ['goes with its Node', sights(['gone', 'before']), { a: 'now' }],
    ['is what was seen at the first look', null, { a: 'now' }],
  ];
  for (const [name, before, expected] of rows) {
    it(name, () => assert.deepEqual(seen(withUnreadableNodes(now, before, there)), expected));
  }

  it('is the very same where nobody was left out', () => {
    assert.equal(withUnreadableNodes(now, sights(['a', 'before']), there), now);
  });
});
