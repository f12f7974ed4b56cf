import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../support/property.ts';
import { displacedNotes, formatDisplacedNotes } from '#reconciler/reporting/notes/displaced-notes.ts';
import type { CommitNote } from '#reconciler/reporting/notes/commit-note.ts';
import { noteContent } from '#reconciler/reporting/notes/note-content.ts';
import { NO_STATE } from '#reconciler/reporting/notes/source-state.ts';
import { noteProblems } from '../../../support/note-schema.ts';
import { fleetOf } from '../../../support/fleet.ts';
import { note, pool } from '../forge/notes.ts';

const COMMITS = Array.from({ length: 8 }, (_, n) => String(n).repeat(40));
const UNWRITTEN = { stands: () => false };

/** What the record holds after these commits displaced each other, while no note could be written. */
function heap(last: (commit: string) => CommitNote): string {
  return COMMITS.slice(1).reduce((displaced, commit, n) => {
    const before = COMMITS[n] ?? '';
    const recorded = { ...NO_STATE, commit: before, displaced };
    const facts = { recorded, last: last(before), commit, cluster: 'demo', fleet: fleetOf({}) };
    return formatDisplacedNotes(displacedNotes(facts), UNWRITTEN);
  }, '');
}

const read = (text: string): readonly CommitNote[] => JSON.parse(text) as readonly CommitNote[];

describe('the last words on displaced commits', () => {
  it('are kept for the last few, until they stand on their commits', () => {
    const text = heap((commit) => note('progressing', [pool('gpu', 'Progressing', 1)], { commit }));
    assert.deepEqual(
      read(text).map(({ commit, outcome }) => [commit.slice(0, 1), outcome]),
      ['2', '3', '4', '5', '6'].map((commit) => [commit, 'superseded']),
    );
    assert.equal(formatDisplacedNotes(read(text), { stands: () => true }), '');
    assert.equal(formatDisplacedNotes(read(text), null), '');
  });

  it('leave room in the record, however many pools there are: otherwise no commit could come into force', () => {
    const pools = Array.from({ length: 2_000 }, (_, n) =>
      pool(`pool-${n}`, n === 1_999 ? 'Halted' : n % 2 === 0 ? 'Settled' : 'Progressing', 4),
    );
    const text = heap((commit) => note('halted', pools, { commit }));
    assert.ok(Buffer.byteLength(text) < 400_000, `${Buffer.byteLength(text)} bytes`);
    for (const one of read(text)) {
      assert.ok(one.pools.some(({ name }) => name === 'pool-1999'));
      assert.equal(one.pools.length + (one.omittedPools ?? 0), 2_000);
      const { text: rendered, data } = noteContent(one);
      assert.deepEqual(noteProblems(data), []);
      const said = Number(/and (\d+) more pools/.exec(rendered)?.[1]);
      assert.equal(said + (rendered.match(/^pool-\d+ +(?:Settled|Progressing|Halted) /gm)?.length ?? 0), 2_000);
    }
  });
});

describe('a record that somebody damaged', () => {
  const good = note('progressing', [pool('gpu', 'Progressing', 1)], { commit: COMMITS[0] ?? '' });
  const facts = { last: null, commit: 'f'.repeat(40), cluster: 'demo', fleet: fleetOf({}) };
  const readBack = (displaced: unknown): readonly string[] => {
    const recorded = { ...NO_STATE, displaced: typeof displaced === 'string' ? displaced : JSON.stringify(displaced) };
    const notes = displacedNotes({ ...facts, recorded });
    for (const each of notes) noteContent(each);
    assert.equal(typeof formatDisplacedNotes(notes, UNWRITTEN), 'string');
    return notes.map(({ commit }) => commit);
  };

  const odd = (parts: object): object => ({ ...good, commit: 'e'.repeat(40), ...parts });
  const rows: readonly (readonly [string, unknown])[] = [
    ['no pool', odd({ pools: [null] })],
    ['a pool without anything', odd({ pools: [{}] })],
    ['failures that are none', odd({ pools: [{ ...good.pools[0], failures: [null] }] })],
    ['waves that are none', odd({ pools: [{ ...good.pools[0], waves: 7, phase: 'Progressing' }] })],
    ['a halt that is a number', odd({ pools: [{ ...good.pools[0], halt: 7 }] })],
    ['limits that are none', odd({ limits: { maxChange: null, maxUnassign: [] } })],
    ['a cluster that is none', odd({ cluster: { a: 1 }, outcome: 7, message: null })],
  ];
  for (const [what, bad] of rows) {
    it(`with ${what} in a note costs nothing but that note`, () => {
      assert.ok(readBack([bad, good]).includes(good.commit));
    });
  }

  it('in any other way is no record', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        readBack(text);
      }),
    );
  });
});
