import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DEFAULT_CLUSTER } from '#reconciler/policy/config-repo/read-cluster.ts';
import { followingStanding } from '#reconciler/policy/following/describe-following.ts';
import { followsInForce, settledForMs } from '#reconciler/policy/following/follows.ts';
import {
  type FollowingRecord,
  newRecord,
  readFollowing,
  shiftRecord,
  silencesAfter,
  withSettled,
  writeFollowing,
} from '#reconciler/policy/following/record.ts';
import { COMMIT_A, COMMIT_B, NOW } from '../../../support/fleet.ts';
import { fc } from '../../../support/property.ts';

const KEY = 'ssh-ed25519 AAAA';
const FOLLOWS = {
  clusters: ['staging', 'canary'],
  settledFor: '24h',
  signers: { staging: [KEY] },
  require: 'payloads' as const,
};
const says = (cluster: string, oid: string | null, note = 'settled') => ({
  cluster,
  newest: oid === null ? null : { oid, note },
  unreadable: false,
});
const LACKING = {
  commit: COMMIT_A,
  isHeld: true,
  pools: [
    {
      pool: 'gpu',
      configName: 'gpu-x',
      sha256: 'f'.repeat(64),
      payload: 'd'.repeat(32),
      since: '2026-11-21T12:00:00Z',
      isKnown: false,
      classes: ['cpu=4'],
    },
  ],
  more: 2,
  approved: [{ pool: 'batch', payload: 'e'.repeat(32), by: 'ada', at: '2026-11-21T12:00:00Z' }],
  isRead: true,
};
const RECORD: FollowingRecord = {
  follows: FOLLOWS,
  candidates: [{ oid: COMMIT_A, since: NOW }],
  settledHere: ['t1', 't2'],
  layersIn: ['pools', 'shared'],
  inForce: COMMIT_B,
  refused: [COMMIT_A],
  released: { oid: COMMIT_A, said: 'released by ada' },
  waiting: { commits: 2, next: { oid: COMMIT_A, at: NOW + 1_000 }, clusters: [says('staging', COMMIT_A)] },
  silent: [{ cluster: 'canary', after: '', since: NOW }],
  seen: [{ oid: COMMIT_A, subject: 'Raise', said: [{ cluster: 'staging', note: 'settled', since: NOW }] }],
  counterparts: LACKING,
  provenHere: ['a'.repeat(32)],
  serials: [{ cluster: 'staging', key: KEY, serial: 17, tip: COMMIT_B, since: NOW }],
};

describe('the record of a cluster that follows others', () => {
  it('is read as it was written', () => assert.deepEqual(readFollowing(writeFollowing(RECORD)), RECORD));

  it('is small, whatever the branch and the clusters do', () => {
    const many = <T>(count: number, make: (index: number) => T): readonly T[] =>
      Array.from({ length: count }, (_, index) => make(index));
    const clusters = many(8, (index) => `${index}`.padEnd(63, 'c'));
    const name = (index: number): string => `${index}`.padEnd(40, 'f');
    const note = 'n'.repeat(64);
    const full: FollowingRecord = {
      ...RECORD,
      follows: { clusters, settledFor: '24h' },
      candidates: many(64, (index) => ({ oid: name(index), since: NOW })),
      settledHere: many(70, (index) => ({ oid: '', tree: name(index), here: name(index + 100) })).reduce<
        readonly string[]
      >(withSettled, []),
      refused: many(64, name),
      silent: clusters.map((cluster) => ({ cluster, after: name(1), since: NOW })),
      seen: many(8, (index) => ({
        oid: name(index),
        subject: 's'.repeat(200),
        said: clusters.map((cluster) => ({ cluster, note, since: NOW })),
      })),
    };
    const text = writeFollowing(full);
    assert.ok(text.length < 48 * 1024, `${text.length} characters`);
    assert.deepEqual(readFollowing(text), full);
  });

  it('gives no part of a second away', () => {
    const late = { ...RECORD, candidates: [{ oid: COMMIT_A, since: NOW + 1 }] };
    assert.equal(readFollowing(writeFollowing(late))?.candidates[0]?.since, NOW + 1_000);
  });

  it('is none without a text, and unknown where it no longer says whom', () => {
    assert.equal(readFollowing(''), null);
    for (const text of ['{', '[]', 'null', '{}', '{"follows":{"clusters":[],"settledFor":"1h"}}'])
      assert.equal(readFollowing(text), undefined, text);
  });

  it('has nothing of what is damaged in it', () => {
    const text = JSON.stringify({
      follows: FOLLOWS,
      candidates: [7, { oid: COMMIT_A, since: 'soon' }, null],
      waiting: 1,
    });
    assert.deepEqual(readFollowing(text)?.candidates, []);
    fc.assert(
      fc.property(fc.json(), (json) => {
        const whole: unknown = JSON.parse(json);
        readFollowing(
          JSON.stringify({
            ...RECORD,
            candidates: whole,
            silent: whole,
            waiting: whole,
            released: whole,
            serials: whole,
            counterparts: whole,
            seen: whole,
          }),
        );
        readFollowing(json);
      }),
    );
  });

  it('lasts as long on a clock that was set', () => {
    const { candidates, silent, seen } = shiftRecord(RECORD, 5_000);
    const sinces = [candidates[0]?.since, silent[0]?.since, seen[0]?.said[0]?.since];
    assert.deepEqual(new Set(sinces), new Set([NOW + 5_000]));
  });

  it('has both names of the newest 64 that settled here', () => {
    const commits = Array.from({ length: 70 }, (_, index) => ({
      oid: `${index}`,
      tree: `t${index}`,
      here: `h${index}`,
    }));
    const all = commits.reduce<readonly string[]>(withSettled, []);
    assert.deepEqual([all.length, all[0], all.at(-1)], [128, 'h6', 't69']);
    assert.deepEqual(withSettled(['a', 'b', 'h'], { oid: '', tree: 'a', here: 'h' }), ['b', 'h', 'a']);
    assert.deepEqual(withSettled(['a', 'b'], { oid: '', tree: 'a' }), ['b', 'a'], 'where it is unknown what is read');
  });

  it('knows since when a cluster says nothing of newer commits', () => {
    const { waiting, silent } = RECORD;
    const next = (tip: string | undefined, clusters: typeof waiting.clusters, now = NOW + 9_000) =>
      silencesAfter(silent, tip, { ...waiting, clusters }, now);
    assert.deepEqual(next(COMMIT_B, [says('canary', null)]), silent);
    assert.deepEqual(next(COMMIT_B, [says('canary', COMMIT_A)])[0]?.since, NOW + 9_000, 'it said something new');
    assert.deepEqual(next(COMMIT_A, [says('canary', COMMIT_A)]), [], 'of the tip');
    assert.deepEqual(next(undefined, [says('canary', null)]), [], 'nothing waits');
    const spoke = [{ cluster: 'canary', after: COMMIT_A, since: NOW }];
    const unseen = silencesAfter(spoke, COMMIT_B, { ...waiting, clusters: [says('canary', null)] }, NOW + 9_000);
    assert.deepEqual(unseen, spoke, 'nobody can read what it says, or what it spoke of is in force');
  });
});

describe('whom a cluster follows', () => {
  it('is what the commit in force says, and what it said last where its file is gone or broken', () => {
    assert.equal(followsInForce({ ...DEFAULT_CLUSTER, follows: FOLLOWS }, null), FOLLOWS);
    assert.equal(followsInForce(DEFAULT_CLUSTER, FOLLOWS), null);
    assert.equal(followsInForce({ ...DEFAULT_CLUSTER, missing: true }, FOLLOWS), FOLLOWS);
    assert.equal(followsInForce({ ...DEFAULT_CLUSTER, unreadable: 'x' }, FOLLOWS), FOLLOWS);
    assert.deepEqual([settledForMs(FOLLOWS), settledForMs({ ...FOLLOWS, settledFor: 'x' })], [86_400_000, Infinity]);
  });
});

describe('what is said of it', () => {
  const [a, b] = [COMMIT_A.slice(0, 12), COMMIT_B.slice(0, 12)];
  const rows: readonly (readonly [string, Partial<FollowingRecord>, string, string])[] = [
    [
      'nothing waits',
      { waiting: { commits: 0, next: null, clusters: [] } },
      'Current',
      'no commit waits for staging and canary',
    ],
    [
      'one ripens',
      { silent: [] },
      'Waiting',
      `2 commits wait: staging says of ${a}: settled; ${a} comes into force at 2026-11-21T12:00:01Z if staging and canary still call it settled`,
    ],
    [
      'none is common',
      {
        waiting: { commits: 1, next: null, clusters: [says('staging', COMMIT_A), says('canary', COMMIT_B)] },
        silent: [],
      },
      'Waiting',
      `1 commit waits: staging says of ${a}: settled; canary says of ${b}: settled; no commit is settled in all of them`,
    ],
    [
      'one is silent',
      { waiting: { commits: 1, next: null, clusters: [says('staging', COMMIT_A, 'halted'), says('canary', null)] } },
      'Waiting',
      `1 commit waits: staging says of ${a}: halted; canary says nothing of any of them since 2026-11-21T12:00:00Z`,
    ],
    [
      'a note is none, or cannot be read',
      {
        waiting: {
          commits: 1,
          next: null,
          clusters: [says('staging', COMMIT_A, 'not-a-note'), says('canary', COMMIT_B, 'unreadable')],
        },
        silent: [],
      },
      'Waiting',
      `1 commit waits: the entry of staging for ${a} is no note of this version; the note of canary on ${b} cannot be read`,
    ],
    [
      'one cannot be read',
      { waiting: { commits: 1, next: null, clusters: [{ ...says('staging', null), unreadable: true }] } },
      'NotesUnreadable',
      'the notes of staging cannot be read: until they can, only what settled here before comes into force',
    ],
    [
      'they prove nothing of a pool',
      { silent: [], counterparts: { ...LACKING, more: 0, isHeld: false } },
      'Waiting',
      `2 commits wait: staging says of ${a}: settled; ${a} comes into force at 2026-11-21T12:00:01Z if staging and canary still call it settled; of ${a}, staging and canary prove nothing of gpu (cpu=4)`,
    ],
    [
      'that has to be approved',
      { silent: [], counterparts: { ...LACKING, more: 0, approved: [] } },
      'Waiting',
      `2 commits wait: staging says of ${a}: settled; of ${a}, staging and canary prove nothing of gpu (cpu=4). It waits for a person: kubelet-gitops approve gpu, or kubelet-gitops release --commit ${COMMIT_A} --because TEXT for a pool that is new`,
    ],
    [
      'more pools have to be approved than are named',
      { silent: [], counterparts: LACKING },
      'Waiting',
      `2 commits wait: staging says of ${a}: settled; of ${a}, staging and canary prove nothing of gpu (cpu=4), and of 2 more pools. It waits for a person: kubelet-gitops approve gpu, then the others, which are named after that, or kubelet-gitops release --commit ${COMMIT_A} --because TEXT for a pool that is new; approved: batch by ada at 2026-11-21T12:00:00Z`,
    ],
    [
      'that was approved',
      { silent: [], counterparts: { ...LACKING, pools: [], more: 0 } },
      'Waiting',
      `2 commits wait: staging says of ${a}: settled; ${a} comes into force at 2026-11-21T12:00:01Z if staging and canary still call it settled; approved: batch by ada at 2026-11-21T12:00:00Z`,
    ],
    [
      'what it changes cannot be read',
      { silent: [], counterparts: { ...LACKING, isRead: false } },
      'Waiting',
      `2 commits wait: staging says of ${a}: settled; what ${a} changes here cannot be read, so that it waits`,
    ],
    [
      'one is not signed',
      {
        waiting: {
          commits: 1,
          next: null,
          clusters: [{ ...says('staging', null), distrusted: 'are not signed. Give it its key' }],
        },
      },
      'NotesUntrusted',
      'the notes of staging are not signed. Give it its key. Nothing that it says counts until then: only what settled here before comes into force',
    ],
  ];
  for (const [title, over, reason, message] of rows) {
    it(`where ${title}`, () =>
      assert.deepEqual(followingStanding({ ...RECORD, counterparts: null, ...over }), { reason, message }));
  }
  it('where nothing was looked at yet', () => assert.equal(followingStanding(newRecord(FOLLOWS)).reason, 'Current'));
});
