import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ChangedPool } from '#reconciler/policy/following/changed-pools.ts';
import {
  type ApprovedPool,
  awaitedIn,
  judgeApprovals,
  nextCounterparts,
  sayUnproved,
  type UnprovedPool,
  unprovedPools,
} from '#reconciler/policy/following/counterparts.ts';
import { type PayloadProof, type PayloadProofs, provenHere } from '#reconciler/policy/following/payload-proofs.ts';
import { COMMIT_A, NOW } from '../../../support/fleet.ts';

const sha = (letter: string): string => letter.repeat(64);
const payload = (letter: string): string => `overlay ${sha(letter)}`;
const changed = (pool: string, letter: string, ...classes: readonly string[]): ChangedPool => ({
  pool,
  configName: `${pool}-${letter}`,
  sha256: sha(letter),
  payload: payload(letter),
  classes: (classes.length === 0 ? [''] : classes).map((name) => ({ name, payloads: [payload(letter)] })),
});
const proves = (pool: string, letter: string, name = ''): PayloadProof => ({
  pool,
  class: name,
  payload: payload(letter),
});
const whole = (...proofs: readonly PayloadProof[]): PayloadProofs => ({ proofs, isWhole: true });
const SINCE = '2026-11-21T12:00:00Z';

describe('what followed clusters have no counterpart for', () => {
  const rows: readonly (readonly [string, ChangedPool, Record<string, PayloadProofs | null>, boolean])[] = [
    ['what nobody proved', changed('gpu', 'a'), { staging: whole() }, true],
    [
      'not what one of them proved',
      changed('gpu', 'a'),
      { staging: whole(), canary: whole(proves('gpu', 'a')) },
      false,
    ],
    ['not what was proven in a pool of another name', changed('gpu', 'a'), { staging: whole(proves('g', 'a')) }, false],
    ['another payload', changed('gpu', 'a'), { staging: whole(proves('gpu', 'b')) }, true],
    ['the same on another class', changed('gpu', 'a', 'cpu=4'), { staging: whole(proves('gpu', 'a', 'cpu=8')) }, true],
    ['one class of two', changed('gpu', 'a', 'cpu=4', 'cpu=8'), { staging: whole(proves('gpu', 'a', 'cpu=8')) }, true],
    [
      'not two classes in two clusters',
      changed('gpu', 'a', 'cpu=4', 'cpu=8'),
      { staging: whole(proves('gpu', 'a', 'cpu=8')), canary: whole(proves('gpu', 'a', 'cpu=4')) },
      false,
    ],
    [
      'what a list says that is not whole',
      changed('gpu', 'a'),
      { staging: { ...whole(proves('gpu', 'a')), isWhole: false } },
      true,
    ],
    ['everything where the list cannot be read', changed('gpu', 'a'), { staging: null }, true],
  ];
  for (const [title, pool, proven, isLacking] of rows) {
    it(`is ${title}`, () => {
      const found = unprovedPools([pool], new Map(Object.entries(proven)), new Set(), [], NOW);
      assert.equal(found.length === 1, isLacking);
    });
  }

  const lacking = (before: readonly UnprovedPool[] = [], letter = 'a', now = NOW): readonly UnprovedPool[] =>
    unprovedPools([changed('gpu', letter)], new Map([['staging', whole()]]), new Set(), before, now);

  it('is not what this cluster has proven itself, on this class', () => {
    const found = (name: string): number =>
      unprovedPools(
        [changed('gpu', 'a', name)],
        new Map(),
        new Set(provenHere([], [proves('x', 'a', 'cpu=4')])),
        [],
        NOW,
      ).length;
    assert.deepEqual([found('cpu=4'), found('cpu=8')], [0, 1]);
    const many = Array.from({ length: 600 }, (_, n) => proves('x', 'a', String(n)));
    assert.equal(provenHere(provenHere([], many), [proves('x', 'a', '0')]).length, 500);
    assert.deepEqual(provenHere(provenHere([], many), many.slice(-1)), provenHere([], many), 'again changes nothing');
  });

  it('waits since it was first found, each payload for itself', () => {
    assert.equal(lacking()[0]?.since, SINCE);
    assert.equal(lacking(lacking(), 'a', NOW + 60_000)[0]?.since, SINCE);
    assert.equal(lacking(lacking(), 'b', NOW + 60_000)[0]?.since, '2026-11-21T12:01:00Z');
  });

  it('goes on when a person approves this payload since it waits, and stays approved', () => {
    const approval = { sha256: sha('a'), since: SINCE, by: 'ada' };
    const judged = (of: object, letter = 'a', before: readonly ApprovedPool[] = []): number =>
      judgeApprovals(lacking([], letter), before, new Map([['gpu', { ...approval, ...of }]]), NOW).approved.length;
    assert.equal(judged({}), 1);
    assert.equal(judged({}, 'b'), 0);
    assert.equal(judged({ since: '2026-11-21T11:59:59Z' }), 0);
    assert.equal(judged({ wave: 'canary' }), 0);
    const { approved, waiting } = judgeApprovals(lacking(), [], new Map([['gpu', approval]]), NOW);
    assert.deepEqual(waiting, []);
    const ofWave = { sha256: sha('c'), wave: 'canary' };
    assert.equal(judged(ofWave, 'a', approved), 1, 'the annotation is needed for a wave meanwhile');
    assert.equal(judged(ofWave, 'b', approved), 0, 'another payload asks again');
  });

  it('is what people are asked for, where it has to be proven', () => {
    const held = nextCounterparts(COMMIT_A, lacking(), null, new Map(), true, NOW);
    assert.deepEqual([...awaitedIn(held)], [['gpu', { configName: 'gpu-a', sha256: sha('a'), since: SINCE }]]);
    assert.equal(awaitedIn({ ...held, isHeld: false }).size, 0);
    assert.equal(awaitedIn(nextCounterparts(COMMIT_A, null, null, new Map(), true, NOW)).size, 0);
    assert.equal(awaitedIn(null).size, 0);
  });

  it('is said in a sentence', () => {
    const [gpu] = lacking() as [UnprovedPool];
    const known = { ...gpu, pool: 'general', isKnown: true, classes: ['cpu=4', 'cpu=8'] };
    assert.equal(sayUnproved([], ['staging']), '');
    assert.equal(sayUnproved([gpu], ['staging']), 'staging proves nothing of gpu');
    assert.equal(
      sayUnproved([known, gpu, { ...gpu, pool: 'batch' }], ['staging', 'canary']),
      'staging and canary prove nothing of gpu, batch; staging and canary have not proven what general (cpu=4; cpu=8) would get',
    );
  });
});
