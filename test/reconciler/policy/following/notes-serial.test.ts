import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isSameEvidence, signersOf } from '#reconciler/policy/following/follows.ts';
import {
  judgeSerial,
  MOST_SERIALS,
  newestSeen,
  readSignedNotes,
  type SeenSerial,
  withSeen,
  writeSignedNotes,
} from '#reconciler/policy/following/notes-serial.ts';
import { COMMIT_A, COMMIT_B, NOW } from '../../../support/fleet.ts';
import { fc } from '../../../support/property.ts';

const HOUR = 3_600_000;
const OURS = { cluster: 'staging', key: 'ssh-ed25519 A' };
const seen = (serial: number, tip = COMMIT_A, since = NOW): SeenSerial => ({ ...OURS, serial, tip, since });

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
    ['and no longer', 7, COMMIT_A, seen(7), NOW + 3 * HOUR + 1, seen(7), /^have had no new signature since 20/],
    ['do not count when they are older than some that were seen', 6, COMMIT_B, seen(7), NOW, seen(7), /^are older/],
    ['do not count beside others of that serial', 7, COMMIT_B, seen(7), NOW, seen(7), /^are older/],
    ['are not from the future', 7, COMMIT_A, seen(7, COMMIT_A, NOW + 9), NOW, seen(7), null],
  ];
  for (const [title, serial, tip, before, now, expected, why] of rows) {
    it(title, () => {
      const { seen: after, because } = judgeSerial({ ...OURS, serial, tip }, before, now);
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
          const { seen: after, because } = judgeSerial({ ...OURS, serial: at + 1, tip }, record, NOW);
          assert.equal(because === null, at >= newest);
          newest = Math.max(newest, at);
          record = after;
        }
      }),
    );
  });

  it('of a key that is named no more bar nobody, and are as old as they were once it is named again', () => {
    const follows = (...keys: readonly string[]) => ({
      clusters: ['staging'],
      settledFor: '1h',
      signers: { staging: keys },
    });
    const event = fc.record({ key: fc.nat(2), named: fc.nat(6), serial: fc.nat(30) });
    fc.assert(
      fc.property(fc.array(event, { minLength: 1, maxLength: 40 }), (events) => {
        let record: readonly SeenSerial[] = [];
        const counted: { readonly key: string; readonly serial: number }[] = [];
        for (const { key: by, named, serial } of events) {
          const keys = ['a', 'b', 'c'].filter((_, at) => ((named + 1) & (1 << at)) !== 0);
          const key = 'abc'[by] ?? '';
          // Without a key that is named, nothing is judged.
          if (!keys.includes(key)) continue;
          const tip = `${by + 1}${serial}`.padEnd(40, 'f');
          const known = newestSeen(record, 'staging', keys);
          const { seen: after, because } = judgeSerial({ cluster: 'staging', key, serial, tip }, known, NOW);
          record = withSeen(record, after, follows(...keys));
          const others = counted.filter((each) => keys.includes(each.key) && each.serial >= serial);
          const isNewest = others.every((each) => each.key === key && each.serial === serial);
          // Of two keys that gave one serial, either one's may count.
          const isTie = !isNewest && others.every((each) => each.serial === serial);
          if (!isTie) assert.equal(because === null, isNewest);
          if (because === null) counted.push({ key, serial });
        }
      }),
    );
  });

  it('of other clusters and keys are remembered as far as there is room, those of named keys always', () => {
    const of = (cluster: string, key: string): SeenSerial => ({ ...seen(1), cluster, key });
    const keys = Array.from({ length: 8 }, (_, n) => `named ${n}`);
    const clusters = Array.from({ length: 8 }, (_, n) => `cluster ${n}`);
    const follows = {
      clusters,
      settledFor: '1h',
      signers: Object.fromEntries(clusters.map((each) => [each, keys])),
    };
    const named = clusters.flatMap((cluster) => keys.map((key) => of(cluster, key)));
    let record: readonly SeenSerial[] = [];
    for (const each of named) record = withSeen(record, each, follows);
    for (let n = 0; n < 9; n += 1) record = withSeen(record, of('staging', `other ${n}`), follows);
    assert.deepEqual(new Set(record), new Set(named));
    assert.equal(record.length, MOST_SERIALS);
    const few = withSeen([of('gone', 'x')], of('cluster 0', 'named 0'), follows);
    assert.deepEqual(few, [of('cluster 0', 'named 0'), of('gone', 'x')]);
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
