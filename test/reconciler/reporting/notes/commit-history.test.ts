import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../support/property.ts';
import { type PastCommit, readHistory, writeHistory } from '#reconciler/reporting/notes/commit-history.ts';

const past = (letter: string, outcome: PastCommit['outcome'], at = '2026-11-21T12:00:00Z'): PastCommit => ({
  oid: letter.repeat(40),
  subject: `subject ${letter}`,
  author: 'Ada',
  at,
  outcome,
});
const told = (...rounds: readonly (readonly PastCommit[])[]) =>
  readHistory(rounds.reduce((text, news) => writeHistory(text, news), '')).map(({ oid, outcome }) => [oid[0], outcome]);

describe('the record of the last commits', () => {
  it('has the newest first, each as it fared last', () => {
    assert.deepEqual(told([past('a', 'progressing')], [past('a', 'settled')], [past('b', 'progressing')]), [
      ['b', 'progressing'],
      ['a', 'settled'],
    ]);
  });

  it('calls superseded what another commit displaced before it was settled', () => {
    assert.deepEqual(told([past('a', 'halted')], [past('b', 'settled')]), [
      ['b', 'settled'],
      ['a', 'superseded'],
    ]);
  });

  it('keeps a refused commit above the one that stays in force, and displaces nothing by it', () => {
    const both = [past('a', 'progressing'), past('b', 'refused')];
    assert.deepEqual(told([past('a', 'progressing')], both, both), [
      ['b', 'refused'],
      ['a', 'progressing'],
    ]);
  });

  it('takes a commit that was refused and then let in for a new one', () => {
    assert.deepEqual(told([past('a', 'settled'), past('b', 'refused')], [past('b', 'progressing')]), [
      ['b', 'progressing'],
      ['a', 'settled'],
    ]);
  });

  it('keeps the time of the first word, so that the same news twice change nothing', () => {
    const once = writeHistory('', [past('a', 'refused')]);
    assert.equal(writeHistory(once, [past('a', 'refused', '2027-01-01T00:00:00Z')]), once);
  });

  it('stays short, whatever is told', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.integer({ min: 0, max: 40 }), fc.string({ maxLength: 500 }))), (commits) => {
        const text = commits.reduce(
          (known, [number, subject]) =>
            writeHistory(known, [{ ...past('a', 'settled'), oid: number.toString(16).padStart(40, '0'), subject }]),
          '',
        );
        assert.ok(readHistory(text).length <= 10);
        assert.ok(text.length < 16_384);
      }),
    );
  });

  it('keeps the ten newest, and two hundred characters of what others wrote', () => {
    const letters = '0123456789abcdef'.split('');
    const kept = told(...letters.map((letter) => [past(letter, 'settled')]));
    assert.deepEqual(
      kept.map(([letter]) => letter),
      letters.toReversed().slice(0, 10),
    );
    const long = { subject: 's'.repeat(201), author: 'a'.repeat(201) };
    const [entry] = readHistory(writeHistory('', [{ ...past('a', 'settled'), ...long }]));
    assert.deepEqual([entry?.subject, entry?.author], ['s'.repeat(200), 'a'.repeat(200)]);
  });

  it('leaves out what was damaged by hand', () => {
    assert.deepEqual(readHistory('{'), []);
    assert.deepEqual(readHistory('{"a":1}'), []);
    assert.deepEqual(readHistory(JSON.stringify([null, 1, { oid: 'x' }, past('a', 'settled')])), [
      past('a', 'settled'),
    ]);
  });
});
