import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventsOfUnreadable } from '#reconciler/reporting/events/unreadable-events.ts';
import type { UnreadableObject } from '#reconciler/policy/fleet.ts';

const AT = '2026-11-21T12:00:00Z';
const told = (over: Partial<UnreadableObject>): readonly string[] =>
  eventsOfUnreadable({ of: 'node', name: 'x', uid: 'u', error: new RangeError('poison'), ...over }, AT).map(
    ({ about, reason, type, pool, at }) => [about.kind, about.name, about.uid, reason, type, pool, at].join(' '),
  );

describe('that an object cannot be read', () => {
  it('is told on the Node or the pool that it is about', () => {
    assert.deepEqual(told({}), [`Node x u CannotBeRead Warning  ${AT}`]);
    assert.deepEqual(told({ of: 'pool' }), [`KubeletPool x u CannotBeRead Warning x ${AT}`]);
  });

  it('is told on none where the object is not known, or nobody describes it', () => {
    assert.deepEqual([told({ uid: '' }), told({ of: 'config-source' })], [[], []]);
  });
});
