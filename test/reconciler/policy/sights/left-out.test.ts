import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeSight } from '#reconciler/policy/sights/node-sight.ts';
import { type Sights, withLeftOut } from '#reconciler/policy/sights/sights.ts';
import { fleetOf, nodeView } from '../../../support/fleet.ts';

const sight = (uid: string): NodeSight => ({ uid, firstSeen: 1, readiness: { stamp: 'true 0', at: 1 } });
const sights = (...nodes: readonly (readonly [name: string, uid: string])[]): Sights => ({
  nodes: new Map(nodes.map(([name, uid]) => [name, sight(uid)])),
  sources: new Map(),
});
const seen = (found: Sights): Readonly<Record<string, string>> =>
  Object.fromEntries([...found.nodes].map(([name, { uid }]) => [name, uid]));

describe('what was seen of a node', () => {
  const there = fleetOf({ nodes: [nodeView('a', 'x'), nodeView('b', 'x')] });
  const now = sights(['a', 'now']);
  const rows: readonly (readonly [string, Sights | null, Readonly<Record<string, string>>])[] = [
    ['is kept while it is there and left out of a look', sights(['b', 'before']), { a: 'now', b: 'before' }],
    ['is what was seen last', sights(['a', 'before'], ['b', 'before']), { a: 'now', b: 'before' }],
    ['goes with its Node', sights(['gone', 'before']), { a: 'now' }],
    ['is what was seen at the first look', null, { a: 'now' }],
  ];
  for (const [name, before, expected] of rows) {
    it(name, () => assert.deepEqual(seen(withLeftOut(now, before, there)), expected));
  }

  it('is the very same where nobody was left out', () => {
    assert.equal(withLeftOut(now, sights(['a', 'before']), there), now);
  });
});
