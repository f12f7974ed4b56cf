import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { annotatedSuspension, momentOf, suspendedUntil, suspensionAt } from '#reconciler/policy/suspension.ts';
import { SUSPEND_ANNOTATION } from '#shared/contract/api/group.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { fc } from '../../support/property.ts';

const END = Date.parse('2026-11-22T10:00:00Z');
const by = (says: string) => ({ metadata: { name: 'a', annotations: { [SUSPEND_ANNOTATION]: says } } });

describe('a suspension', () => {
  const ends: readonly (readonly [how: string, says: string, until: Millis | null])[] = [
    ['with a time ends then', 'until 2026-11-22T10:00:00Z: storage', END],
    ['with a time and no reason ends then', 'until 2026-11-22T10:00:00Z', END],
    ['with an offset ends then', 'until 2026-11-22T11:00:00+01:00: storage', END],
    ['without a time ends by a person', 'storage is moved', null],
    ['without a reason ends by a person', '', null],
    ['with a time elsewhere in its reason ends by a person', 'wait until 2026-11-22T10:00:00Z', null],
    ['with a time of no zone ends by a person', 'until 2026-11-22T10:00:00: storage', null],
    ['with a day ends by a person', 'until 2026-11-22: storage', null],
    ['with a time that no day has ends by a person', 'until 2026-11-22T25:00:00Z: storage', null],
  ];
  for (const [how, says, until] of ends) {
    it(how, () => assert.deepEqual(annotatedSuspension(by(says)), { says, until }));
  }

  it('is none without an annotation', () => {
    assert.equal(annotatedSuspension({ metadata: { name: 'a' } }), null);
    assert.equal(suspensionAt({ metadata: { name: 'a' } }, END), null);
  });

  it('lasts to the second before its time, whatever the reason says', () => {
    const seconds = fc.integer({ min: 0, max: 4_000_000_000 }).map((each) => each * 1_000);
    fc.assert(
      fc.property(seconds, fc.string(), (until, because) => {
        const pool = by(suspendedUntil(until, because));
        assert.equal(suspensionAt(pool, until - 1)?.until, until);
        assert.equal(suspensionAt(pool, until), null);
      }),
    );
  });

  it('has no time that only some machines read in the same way', () => {
    assert.equal(momentOf('2026-11-22T10:00'), undefined);
    assert.equal(momentOf('2026-11-22T10:00:00.5Z'), END + 500);
  });
});
