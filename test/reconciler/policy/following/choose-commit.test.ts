import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type Candidate,
  chooseCommit,
  type FollowingLook,
  type LineCommit,
  MOST_CANDIDATES,
  type SeenNotes,
  UNREADABLE,
} from '#reconciler/policy/following/choose-commit.ts';
import { fc } from '../../../support/property.ts';

const HOUR = 3_600_000;
const NOW = 1_000 * HOUR;
const oid = (name: string): string => name.padEnd(40, '0');
const commit = (name: string, tree = `tree-${name}`): LineCommit => ({ oid: oid(name), tree });
const said = (notes: Readonly<Record<string, string>>): SeenNotes =>
  new Map(Object.entries(notes).map(([name, note]) => [oid(name), note]));
const [A, B, C] = [commit('a'), commit('b'), commit('c')];
const since = (name: string, hours: number): Candidate => ({ oid: oid(name), since: NOW - hours * HOUR });

function look(
  of: Partial<Omit<FollowingLook, 'notes'>> & { readonly notes?: Record<string, SeenNotes> },
): FollowingLook {
  const { notes = {}, ...rest } = of;
  return {
    inForce: commit('0'),
    line: [A, B, C],
    clusters: ['staging'],
    settledForMs: 24 * HOUR,
    candidates: [],
    settledHere: new Set(),
    distrusted: new Map(),
    released: null,
    refused: new Set(),
    held: new Set(),
    now: NOW,
    ...rest,
    notes: new Map(Object.entries(notes)),
  };
}

const SETTLED = { staging: said({ a: 'settled', b: 'settled' }) };
const TWO = ['staging', 'canary-eu'];

describe('which commit comes into force', () => {
  const rows: readonly (readonly [string, Parameters<typeof look>[0], string | null])[] = [
    ['none before staging settled any', {}, null],
    ['none at the first look that sees it settled', { notes: SETTLED }, null],
    ['none a millisecond early', { notes: SETTLED, candidates: [{ oid: A.oid, since: NOW - 24 * HOUR + 1 }] }, null],
    ['the one whose time is over', { notes: SETTLED, candidates: [since('a', 24), since('b', 1)] }, 'a'],
    ['the newest of those whose time is over', { notes: SETTLED, candidates: [since('a', 30), since('b', 24)] }, 'b'],
    [
      'none that is halted there now',
      { notes: { staging: said({ a: 'halted' }) }, candidates: [since('a', 30)] },
      null,
    ],
    [
      'none that is partly refused there',
      { notes: { staging: said({ a: 'partly-refused' }) }, candidates: [since('a', 30)] },
      null,
    ],
    ['none whose note is gone', { notes: { staging: said({}) }, candidates: [since('a', 30)] }, null],
    ['none while the notes cannot be read', { notes: { staging: null }, candidates: [since('a', 30)] }, null],
    [
      'none whose note cannot be read',
      { notes: { staging: said({ a: UNREADABLE }) }, candidates: [since('a', 30)] },
      null,
    ],
    [
      'none that one of two clusters has not settled',
      { clusters: TWO, notes: { ...SETTLED, 'canary-eu': said({ c: 'settled' }) }, candidates: [since('a', 30)] },
      null,
    ],
    [
      'one that both settled',
      { clusters: TWO, notes: { ...SETTLED, 'canary-eu': said({ a: 'settled' }) }, candidates: [since('a', 30)] },
      'a',
    ],
    [
      'one that each settled under another name of the same tree',
      {
        clusters: TWO,
        line: [A, commit('b', A.tree)],
        notes: { staging: said({ a: 'settled' }), 'canary-eu': said({ b: 'settled' }) },
        candidates: [since('a', 30)],
      },
      'b',
    ],
    [
      'none whose equal newer one is halted',
      {
        line: [A, commit('b', A.tree)],
        notes: { staging: said({ a: 'settled', b: 'halted' }) },
        candidates: [since('a', 30)],
      },
      null,
    ],
    ['at once what settled here before', { settledHere: new Set([C.tree]) }, 'c'],
    [
      'at once what this cluster reads as one that settled',
      { line: [{ ...C, here: 'own' }], settledHere: new Set(['own']) },
      'c',
    ],
    ['none of which it is unknown what this cluster reads', { line: [C], settledHere: new Set(['own', '']) }, null],
    ['at once what changes nothing', { line: [commit('a', commit('0').tree)] }, 'a'],
    ['what a person released', { released: B.oid }, 'b'],
    ['not what was released and is behind', { released: oid('0') }, null],
    [
      'where the newest is refused, the older ones in order',
      { notes: SETTLED, line: [A, B], settledHere: new Set([A.tree, B.tree]), refused: new Set([B.oid]) },
      'a',
    ],
    [
      'where both are refused, the newest again, so that its refusal stays',
      { settledHere: new Set([A.tree, B.tree]), refused: new Set([A.oid, B.oid]) },
      'b',
    ],
  ];
  for (const [title, of, expected] of rows) {
    it(title, () => assert.equal(chooseCommit(look(of)).commit, expected === null ? null : oid(expected)));
  }
});

describe('what is recorded', () => {
  const recorded = (of: Parameters<typeof look>[0]): readonly Candidate[] => chooseCommit(look(of)).candidates;

  it('is first seen now, and then stays as it was first seen', () => {
    assert.deepEqual(recorded({ notes: SETTLED }), [
      { oid: A.oid, since: NOW },
      { oid: B.oid, since: NOW },
    ]);
    assert.deepEqual(recorded({ notes: { staging: said({ a: 'settled' }) }, candidates: [since('a', 3)] }), [
      since('a', 3),
    ]);
  });

  it('begins again after another outcome or notes that do not count, and not while nothing can be seen', () => {
    const candidates = [since('a', 3)];
    assert.deepEqual(recorded({ notes: { staging: said({ a: 'progressing' }) }, candidates }), []);
    assert.deepEqual(recorded({ notes: { staging: null }, candidates }), candidates);
    assert.deepEqual(recorded({ notes: { staging: said({ a: UNREADABLE }) }, candidates }), candidates);
    const distrusted = new Map([['staging', 'are not signed']]);
    assert.deepEqual(recorded({ notes: { staging: null }, distrusted, candidates }), []);
  });

  it('is never from the future', () => {
    assert.deepEqual(recorded({ notes: SETTLED, line: [A], candidates: [since('a', -5)] }), [
      { oid: A.oid, since: NOW },
    ]);
  });

  it('holds 64 at most; newer ones wait until one has left', () => {
    const line = Array.from({ length: 70 }, (_, index) => commit(index.toString(16).padStart(4, '0')));
    const notes = { staging: new Map(line.map((each) => [each.oid, 'settled'])) };
    const first = recorded({ line, notes });
    assert.equal(first.length, MOST_CANDIDATES);
    assert.equal(first.at(-1)?.oid, line.at(-1)?.oid, 'the newest of those seen at once');
    const full = recorded({ line: line.slice(0, 64), notes });
    assert.deepEqual(recorded({ line, notes, candidates: full }), full);
    assert.equal(recorded({ line: line.slice(1), notes, candidates: full }).at(-1)?.oid, line.at(-1)?.oid);
  });
});

it('has room for a newer commit where all that are recorded wait for a person', () => {
  const line = Array.from({ length: 70 }, (_, index) => commit(index.toString(16).padStart(4, '0')));
  const upTo = (count: number) =>
    new Map(line.slice(0, count).map((each) => [each.oid, 'settled'] as const)) satisfies SeenNotes;
  const old = line.slice(0, 64).map((each) => ({ oid: each.oid, since: NOW - 30 * HOUR }));
  const held = new Set(old.map((each) => each.oid));
  const at = (count: number, candidates: readonly Candidate[], now = NOW) =>
    chooseCommit(look({ line, held, candidates, now, notes: { staging: upTo(count) } }));
  const first = at(65, old).candidates;
  assert.deepEqual(first, [...old.slice(1), { oid: line[64]?.oid, since: NOW }]);
  assert.deepEqual(at(65, first).candidates, first, 'the one that left does not come back');
  const later = NOW + 24 * HOUR;
  assert.equal(at(65, first, later).commit, line[64]?.oid);
  const most = at(70, first).candidates;
  assert.deepEqual([most.length, most[0]?.oid, most.at(-1)?.oid], [64, line[6]?.oid, line[69]?.oid]);
  const few = chooseCommit(look({ line, held: new Set(), candidates: old, notes: { staging: upTo(70) } })).candidates;
  assert.deepEqual(few, old, 'who waits for nothing but time stays');
});

it('says for whom it waits, and what comes next', () => {
  const { waiting } = chooseCommit(
    look({ clusters: TWO, notes: { staging: said({ b: 'progressing', a: 'settled' }), 'canary-eu': null } }),
  );
  assert.deepEqual(waiting.clusters, [
    { cluster: 'staging', newest: { oid: B.oid, note: 'progressing' }, unreadable: false },
    { cluster: 'canary-eu', newest: null, unreadable: true },
  ]);
  assert.deepEqual([waiting.commits, waiting.next], [3, null]);
  const { waiting: later } = chooseCommit(look({ notes: SETTLED, candidates: [since('a', 20), since('b', 3)] }));
  assert.deepEqual(later.next, { oid: A.oid, at: NOW + 4 * HOUR });
});

it('4,800 commits a day, of which staging settles one every twenty minutes: production stays less than two days behind', () => {
  const MINUTE = 60_000;
  const DAY = 24 * HOUR;
  const perMinute = 4_800 / (24 * 60);
  const branch: LineCommit[] = [];
  const staging = new Map<string, string>();
  const bornAt = new Map<string, number>();
  let [at, candidates, most]: [number, readonly Candidate[], number] = [0, [], 0];
  for (let now = 0; now <= 3 * DAY; now += 20 * MINUTE) {
    const born = Math.floor((now / MINUTE) * perMinute);
    while (branch.length <= born) {
      const each = commit(branch.length.toString(16).padStart(6, '0'));
      branch.push(each);
      bornAt.set(each.oid, now);
      staging.set(each.oid, 'superseded');
    }
    staging.set(branch.at(-1)?.oid ?? '', 'settled');
    const inForce = branch[at] as LineCommit;
    const choice = chooseCommit(look({ inForce, line: branch.slice(at + 1), notes: { staging }, candidates, now }));
    ({ candidates } = choice);
    most = Math.max(most, candidates.length);
    const chosen = branch.findIndex(({ oid: name }) => name === choice.commit);
    if (chosen > at) at = chosen;
    if (now > DAY + HOUR) assert.ok(now - (bornAt.get(branch[at]?.oid ?? '') ?? 0) < 2 * DAY);
  }
  assert.equal(most, MOST_CANDIDATES);
});

/** What can happen, in steps of half an hour. */
const event = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('push' as const), own: fc.nat(2), other: fc.nat(1) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('note' as const),
      cluster: fc.nat(1),
      back: fc.nat(1),
      note: fc.constantFrom(
        'settled',
        'settled',
        'settled',
        'halted',
        'progressing',
        'superseded',
        'partly-refused',
        '',
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('blind' as const), cluster: fc.nat(1) }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('wait' as const), steps: fc.integer({ min: 1, max: 6 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('release' as const), back: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('limit' as const), back: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('settle-here' as const) }) },
);

it('never goes back or takes what was not settled for the time, and never stands still while one is ripe', () => {
  const FOR = 3;
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2 }), fc.array(event, { maxLength: 80, size: 'max' }), (many, events) => {
      const branch: LineCommit[] = [{ oid: '0', tree: '0', here: 'here 0' }];
      const notes = [new Map<string, string>(), new Map<string, string>()].slice(0, many);
      const clusters = ['one', 'two'].slice(0, many);
      const blind = new Set<number>();
      const settledHere = new Set<string>();
      const refusedBy = new Set<string>();
      let [at, now, released, candidates]: [number, number, string | null, readonly Candidate[]] = [0, 100, null, []];
      let refused = new Set<string>();
      /** By tree, since when every look that saw anything saw both clusters call it settled; written apart from the code under test. */
      const streaks = new Map<string, number>();

      const observe = (): void => {
        const ahead = branch.slice(at + 1);
        for (const tree of new Set(branch.map((each) => each.tree))) {
          const equal = ahead.filter((each) => each.tree === tree).toReversed();
          const seen = notes.filter((_, index) => !blind.has(index));
          const areSettled = seen.map((of) => of.get(equal.find((each) => of.has(each.oid))?.oid ?? '') === 'settled');
          if (areSettled.includes(false)) streaks.delete(tree);
          else if (blind.size === 0 && !streaks.has(tree)) streaks.set(tree, now);
        }
      };
      const isRipe = (tree: string): boolean => blind.size === 0 && now - (streaks.get(tree) ?? Infinity) >= FOR;

      for (const each of events) {
        const target = branch[branch.length - 1 - ('back' in each ? each.back : 0)];
        if (each.do === 'push')
          branch.push({ oid: String(branch.length), tree: `${each.own} ${each.other}`, here: `here ${each.own}` });
        if (each.do === 'wait') now += each.steps;
        if (each.do === 'note' && target !== undefined) {
          if (each.note === '') notes[each.cluster % many]?.delete(target.oid);
          else notes[each.cluster % many]?.set(target.oid, each.note);
        }
        if (each.do === 'blind' && !blind.delete(each.cluster % many)) blind.add(each.cluster % many);
        if (each.do === 'release') released = target?.oid ?? null;
        if (each.do === 'limit' && target !== undefined && !refusedBy.delete(target.oid)) refusedBy.add(target.oid);
        if (each.do === 'settle-here') settledHere.add(branch[at]?.here ?? '');

        observe();
        const inForce = branch[at] as LineCommit;
        const line = branch.slice(at + 1);
        const seen = new Map(
          clusters.map((name, index) => [name, blind.has(index) ? null : (notes[index] as SeenNotes)]),
        );
        const choice = chooseCommit({
          inForce,
          line,
          clusters,
          settledForMs: FOR,
          notes: seen,
          distrusted: new Map(),
          candidates,
          settledHere,
          released,
          refused,
          held: new Set(),
          now,
        });
        // As a record in the cluster: another process reads it back.
        candidates = structuredClone(choice.candidates);
        const chosen = branch.findIndex((commit) => commit.oid === choice.commit);
        const mayAtOnce = ({ tree, here = '' }: LineCommit): boolean => tree === inForce.tree || settledHere.has(here);
        const newestOf = (tree: string): string | undefined => line.findLast((commit) => commit.tree === tree)?.oid;
        const ripe = line.filter(
          (commit) => (isRipe(commit.tree) || mayAtOnce(commit)) && newestOf(commit.tree) === commit.oid,
        );
        const free = ripe.filter(({ oid: name }) => !refused.has(name));
        if (chosen < 0) {
          assert.deepEqual(ripe, [], 'it stands still while one is ripe');
          continue;
        }
        if (refused.size === 0) assert.ok(branch.findIndex((c) => c.oid === ripe.at(-1)?.oid) <= chosen, 'the newest');
        const taken = branch[chosen] as LineCommit;
        const { tree } = taken;
        assert.ok(chosen > at, 'only forward');
        const isReleased = line.some((commit) => commit.oid === released && commit.tree === tree);
        assert.ok(isRipe(tree) || mayAtOnce(taken) || isReleased, `${choice.grounds} without grounds`);
        if (refusedBy.has(choice.commit ?? '')) {
          if (refused.has(choice.commit ?? ''))
            assert.deepEqual(free, [], 'one that is refused before one that is not');
          refused.add(choice.commit ?? '');
        } else {
          at = chosen;
          refused = new Set();
        }
      }
    }),
    { numRuns: 1_000 },
  );
});
