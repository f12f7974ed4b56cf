import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Snapshot } from '#reconciler/policy/commit-snapshot.ts';
import type { LoadedRepo } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { createCommitReadings } from '#reconciler/reading/commit-readings.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { commit, validPool } from '../../support/fleet.ts';

const never = new AbortController().signal;
const [X, Y] = ['1', '2'].map((digit) => digit.repeat(40)) as [string, string];
const { repo } = commit(X, validPool('a', 1), validPool('b', 2));

function snapshotOf(oid: string): Snapshot {
  const author = { name: '', email: '', at: '' };
  const about = { oid, parents: [], author, subject: '', raw: new Uint8Array() };
  return { commit: about, lineage: 'first', files: new Map(), findings: [] };
}

function setUp() {
  const begun: { readonly oid: string; readonly signal: AbortSignal; end: PromiseWithResolvers<LoadedRepo> }[] = [];
  const judged: string[] = [];
  let news = 0;
  const readings = createCommitReadings({
    read: ({ commit: { oid } }, signal) => {
      const end = Promise.withResolvers<LoadedRepo>();
      begun.push({ oid, signal, end });
      return end.promise;
    },
    judge: function* ({ name }) {
      judged.push(name);
      yield;
      judged.push(name);
    },
    onRead: () => (news += 1),
    log: silentLog,
  });
  return { readings, begun, judged, news: () => news };
}

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn += 1) await nextTurn();
};

describe('the newest commit', () => {
  it('is read once it may be, once, and judged before anybody hears of it', async () => {
    const { readings, begun, judged, news } = setUp();
    assert.equal(readings.load(snapshotOf(X)), null);
    assert.equal(begun.length, 0);
    for (let pass = 0; pass < 3; pass += 1) readings.start(never);
    assert.equal(begun.length, 1);
    begun[0]?.end.resolve(repo);
    await turns();
    assert.deepEqual([judged, news()], [['a', 'a', 'b', 'b'], 1]);
    assert.equal(readings.load(snapshotOf(X)), repo);
  });

  it('takes the place of one that is being read, of which nothing is heard any more', async () => {
    const { readings, begun, news } = setUp();
    for (const oid of [X, Y]) {
      readings.load(snapshotOf(oid));
      readings.start(never);
    }
    assert.deepEqual(
      begun.map(({ oid, signal }) => [oid, signal.aborted]),
      [
        [X, true],
        [Y, false],
      ],
    );
    begun[0]?.end.resolve(repo);
    await turns();
    assert.deepEqual([news(), readings.load(snapshotOf(Y))], [0, null]);
  });

  it('is read again where other fields may be set than before', async () => {
    const { readings, begun } = setUp();
    readings.load(snapshotOf(X));
    readings.start(never);
    begun[0]?.end.resolve(repo);
    await turns();
    assert.equal(readings.load(snapshotOf(X), { fields: { allow: [], deny: ['maxPods'] } }), null);
    readings.start(never);
    assert.equal(begun.length, 2);
  });

  it('that cannot be read says why; one that is given up at the end of the process says nothing', async () => {
    const { readings, begun, news } = setUp();
    const stop = new AbortController();
    readings.load(snapshotOf(X));
    readings.start(stop.signal);
    begun[0]?.end.reject(new Error('it took too long'));
    await turns();
    assert.deepEqual([readings.load(snapshotOf(X)), news()], [{ unread: 'it took too long' }, 1]);
    readings.load(snapshotOf(Y));
    readings.start(stop.signal);
    stop.abort();
    begun[1]?.end.reject(new Error('shutting down'));
    await turns();
    assert.deepEqual([readings.load(snapshotOf(Y)), news()], [null, 1]);
  });
});
