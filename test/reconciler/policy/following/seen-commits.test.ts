import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chooseCommit, type FollowingLook, type SeenNotes } from '#reconciler/policy/following/choose-commit.ts';
import { MOST_SEEN, type SeenCommit, seenCommits } from '#reconciler/policy/following/seen-commits.ts';
import { fc } from '../../../support/property.ts';

const commit = (name: string) => ({ oid: name, tree: `tree-${name}`, subject: `Commit ${name}` });
const LINE = ['a', 'b', 'c', 'd'].map(commit);
const said = (notes: Readonly<Record<string, string>>): SeenNotes => new Map(Object.entries(notes));

const look = (notes: Readonly<Record<string, SeenNotes>>, now = 1_000, line = LINE): FollowingLook => ({
  inForce: commit('0'),
  line,
  clusters: Object.keys(notes),
  settledForMs: 60_000,
  notes: new Map(Object.entries(notes)),
  candidates: [],
  distrusted: new Map(),
  held: new Set(),
  settledHere: new Set(),
  released: null,
  refused: new Set(),
  now,
});
const seen = (of: FollowingLook, before: readonly SeenCommit[] = []): readonly SeenCommit[] =>
  seenCommits(of, chooseCommit(of).waiting, before);

describe('the commits that a person asks for', () => {
  it('are the tip, what comes next, the newest that each cluster speaks of, and the one in force; the newest first', () => {
    const rows = seen(look({ staging: said({ b: 'settled', c: 'halted', 0: 'settled' }), canary: said({}) }));
    assert.deepEqual(
      rows.map(({ oid, subject, said: words }) => [oid, subject, ...words.map(({ note }) => note)]),
      [
        ['d', 'Commit d'],
        ['c', 'Commit c', 'halted'],
        ['0', 'Commit 0', 'settled'],
      ],
    );
    const next = look({ staging: said({ a: 'settled', c: 'halted' }) });
    assert.deepEqual(
      seen(next).map(({ oid }) => oid),
      ['d', 'c', 'a', '0'],
    );
  });

  it('are dated from when this cluster first saw that word, and keep it while notes cannot be read', () => {
    const first = seen(look({ staging: said({ d: 'progressing' }) }, 1_000));
    const same = seen(look({ staging: said({ d: 'progressing' }) }, 2_000), first);
    const blind = seen(look({ staging: null }, 3_000), same);
    const changed = seen(look({ staging: said({ d: 'settled' }) }, 4_000), blind);
    const sinces = [first, same, blind, changed].map(([tip]) => tip?.said[0]?.since);
    assert.deepEqual(sinces, [1_000, 1_000, 1_000, 4_000]);
    assert.deepEqual(seen(look({ staging: said({}) }, 5_000), changed)[0]?.said, [], 'a note that is gone');
  });

  it('are few, whatever the branch and the clusters do, with the tip and the one in force among them', () => {
    const names = Array.from({ length: 40 }, (_, index) => `n${index}`);
    const notes = fc.dictionary(fc.constantFrom(...names), fc.constantFrom('settled', 'halted'));
    const all = fc.array(notes, { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(all, (clusters) => {
        const of = Object.fromEntries(clusters.map((each, index) => [`c${index}`, said(each)]));
        const rows = seen(look(of, 1_000, names.map(commit))).map(({ oid }) => oid);
        assert.ok(rows.length <= MOST_SEEN);
        assert.deepEqual([rows[0], rows.at(-1)], ['n39', '0']);
      }),
    );
  });
});
