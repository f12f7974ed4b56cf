import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isSameEvidence, signersOf } from '#reconciler/policy/following/follows.ts';
import {
  judgeSerial,
  readSignedNotes,
  type SeenSerial,
  writeSignedNotes,
} from '#reconciler/policy/following/notes-serial.ts';
import { COMMIT_A, COMMIT_B, NOW } from '../../../support/fleet.ts';
import { fc } from '../../../support/property.ts';

const HOUR = 3_600_000;
const seen = (serial: number, tip = COMMIT_A, since = NOW): SeenSerial => ({ cluster: 'staging', serial, tip, since });

describe('signed notes', () => {
  const rows: readonly (readonly [
    string,
    number,
    string,
    SeenSerial | undefined,
    number,
    SeenSerial,
    RegExp | null,
  ])[] = [
    ['count when they are seen first', 1, COMMIT_A, undefined, NOW, seen(1), null],
    ['count when they are newer', 8, COMMIT_B, seen(7), NOW + 1, seen(8, COMMIT_B, NOW + 1), null],
    ['count for three hours', 7, COMMIT_A, seen(7), NOW + 3 * HOUR, seen(7), null],
    ['and no longer', 7, COMMIT_A, seen(7), NOW + 3 * HOUR + 1, seen(7), /^have not been signed anew since 20/],
    ['do not count when they are older than some that were seen', 6, COMMIT_B, seen(7), NOW, seen(7), /^are older/],
    ['do not count beside others of that serial', 7, COMMIT_B, seen(7), NOW, seen(7), /^are older/],
    ['are not from the future', 7, COMMIT_A, seen(7, COMMIT_A, NOW + 9), NOW, seen(7), null],
  ];
  for (const [title, serial, tip, before, now, expected, why] of rows) {
    it(title, () => {
      const { seen: after, because } = judgeSerial('staging', { serial, tip }, before, now);
      assert.deepEqual(after, expected);
      if (why === null) assert.equal(because, null);
      else assert.match(because ?? '', why);
    });
  }

  it('that were pushed again never count, whatever was pushed between', () => {
    const pushes = fc.array(fc.record({ at: fc.nat(12), again: fc.boolean() }), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(pushes, (all) => {
        let record: SeenSerial | undefined;
        let newest = -1;
        for (const { at } of all) {
          const tip = at.toString(16).padStart(40, '0');
          const { seen: after, because } = judgeSerial('staging', { serial: at + 1, tip }, record, NOW);
          assert.equal(because === null, at >= newest);
          newest = Math.max(newest, at);
          record = after;
        }
      }),
    );
  });

  it('are recorded as they were, and what was damaged is none', () => {
    assert.deepEqual(readSignedNotes(writeSignedNotes({ serial: 17, tip: COMMIT_A })), { serial: 17, tip: COMMIT_A });
    assert.equal(writeSignedNotes(null), '');
    for (const text of ['', '17', `0 ${COMMIT_A}`, `-1 ${COMMIT_A}`, `1e3 ${COMMIT_A}`, `17 ${COMMIT_A} `])
      assert.equal(readSignedNotes(text), null, text);
  });
});

describe('what was seen under other keys', () => {
  const follows = (signers?: Record<string, string[]>, clusters = ['a', 'b']) => ({
    clusters,
    settledFor: '1h',
    ...(signers && { signers }),
  });
  const rows = [
    ['counts while nothing changes', follows(), follows(), true],
    ['counts in another order', follows({ a: ['1'] }, ['a', 'b']), follows({ a: ['1'] }, ['b', 'a']), true],
    ['counts while one key takes the place of another', follows({ a: ['1'] }), follows({ a: ['1', '2'] }), true],
    ['counts once it has', follows({ a: ['1', '2'] }), follows({ a: ['2'] }), true],
    ['counts where signatures are no longer asked for', follows({ a: ['1'] }), follows(), true],
    ['does not count where they were not asked for', follows(), follows({ a: ['1'] }), false],
    ['does not count where every key is another', follows({ a: ['1'] }), follows({ a: ['2'] }), false],
    ['does not count of other clusters', follows(undefined, ['a']), follows(undefined, ['b']), false],
    ['does not count of more clusters', follows(undefined, ['a']), follows(undefined, ['a', 'b']), false],
  ] as const;
  for (const [title, before, now, expected] of rows)
    it(title, () => assert.equal(isSameEvidence(before, now), expected));

  it('has the keys of a cluster, whatever it is called', () => {
    assert.deepEqual(signersOf(follows({ a: ['1'] }), 'a'), ['1']);
    assert.deepEqual(signersOf(follows({ a: ['1'] }), 'constructor'), []);
    assert.deepEqual(signersOf(follows(), 'a'), []);
  });
});
