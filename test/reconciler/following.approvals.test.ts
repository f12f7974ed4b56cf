import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ChangedPool } from '#reconciler/policy/following/changed-pools.ts';
import { awaitedIn, type GivenApproval } from '#reconciler/policy/following/counterparts.ts';
import { followingStanding, waitsForPerson } from '#reconciler/policy/following/describe-following.ts';
import { newRecord, readFollowing, type ReleasedCommit } from '#reconciler/policy/following/record.ts';
import { COMMIT_A, COMMIT_B } from '../support/fleet.ts';
import { startProduction } from '../support/following-production.ts';
import { createManualClock } from '../support/manual-clock.ts';

const COMMIT_C = 'c'.repeat(40);
const FOLLOWS = { clusters: ['staging'], settledFor: '1s', require: 'payloads' as const };
const changed = (pool: string, apply = 'overlay'): ChangedPool => ({
  pool,
  configName: pool,
  sha256: 'f'.repeat(64),
  payload: `${apply} ${'f'.repeat(64)}`,
  classes: [{ name: '', payloads: [`${apply} ${'f'.repeat(64)}`] }],
});
const named = (count: number): readonly ChangedPool[] =>
  Array.from({ length: count }, (_, n) => changed(`pool-${n}`.padEnd(52, 'x')));

/** A cluster that follows one which settled a commit and proved nothing of it. */
function world(pools: readonly ChangedPool[] | null) {
  const clock = createManualClock();
  let [changes, recorded] = [pools, ''];
  /** Of another commit behind it. */
  let later: readonly ChangedPool[] | null = null;
  let released: ReleasedCommit | null = null;
  /** Why the notes of the followed cluster do not count. */
  let doubt: string | null = null;
  const annotations = new Map<string, GivenApproval>();
  const start = () =>
    startProduction(clock, {
      line: () => [COMMIT_A, COMMIT_B, ...(later === null ? [] : [COMMIT_C])],
      notes: () => ({ distrusted: doubt, payloads: { isWhole: true, proofs: [] } }),
      changes: (oid) => (oid === COMMIT_C ? later : changes),
      approvals: annotations,
    });
  let following = start();
  const asked = () => awaitedIn(readFollowing(recorded)?.counterparts ?? null);
  return {
    asked,
    /** A new leader takes each look: only what is on record counts. */
    async look(next: readonly ChangedPool[] | null = changes): Promise<boolean> {
      changes = next;
      following = start();
      await clock.advance(1_000);
      const oid = await following.choose(FOLLOWS, recorded, released);
      recorded = following.record();
      return oid === COMMIT_B;
    },
    release: (oid: string) => void (released = { oid, said: 'released by ada: staging is gone' }),
    said: () => readFollowing(recorded)?.released ?? null,
    standing: () => followingStanding(readFollowing(recorded) ?? newRecord({ clusters: [], settledFor: '' })).message,
    held: () => {
      const record = readFollowing(recorded);
      return [COMMIT_B, COMMIT_C].filter((oid) => record && waitsForPerson(record, oid));
    },
    doubt: (because: string | null) => void (doubt = because),
    push: (next: readonly ChangedPool[]) => void (later = next),
    /** As the command does it. */
    approve(...names: readonly string[]): void {
      for (const [pool, { sha256, since }] of asked())
        if (names.length === 0 || names.includes(pool))
          annotations.set(pool, { sha256, since, by: pool === 'gpu' ? '' : 'ada' });
    },
    /** A wave of the same pool was approved since. */
    forget: () => annotations.clear(),
    size: () => recorded.length,
  };
}

describe('approvals of what nobody has proven', () => {
  it('are kept however many pools wait', async () => {
    const here = world(named(1_000));
    const met = new Set<string>();
    let looks = 0;
    for (let isIn = await here.look(); !isIn; isIn = await here.look()) {
      for (const pool of here.asked().keys()) {
        assert.ok(!met.has(pool), `${pool} is asked for twice`);
        met.add(pool);
      }
      here.approve();
      looks += 1;
      assert.ok(looks < 60, 'ends');
      assert.ok(here.size() < 400 * 1024, `${here.size()} characters`);
    }
    assert.equal(met.size, 1_000);
  });

  it('are kept, and so is what waits, while the commit cannot be read', async () => {
    const pools = [changed('batch'), changed('gpu')];
    const here = world(pools);
    await here.look();
    await here.look();
    const before = here.asked();
    here.approve('gpu');
    await here.look();
    here.forget();
    assert.equal(await here.look(null), false);
    assert.equal(await here.look(null), false);
    assert.deepEqual([...here.asked().keys()], ['batch'], 'may be approved meanwhile');
    await here.look(pools);
    assert.deepEqual(here.asked(), new Map([...before].filter(([pool]) => pool === 'batch')), 'since the same time');
    here.approve('batch');
    assert.equal(await here.look(null), false, 'what cannot be read does not come into force');
    assert.equal(await here.look(pools), true);
  });

  it('are kept until the commit is in force, whatever has to be approved in a later one', async () => {
    const gpu = [changed('gpu')];
    const here = world(gpu);
    await here.look();
    await here.look();
    here.approve('gpu');
    assert.equal(await here.look(), true);
    here.forget();
    assert.equal(await here.look(), true, 'it could not be read, say');
    here.push([changed('batch')]);
    for (let looks = 0; looks < 3; looks += 1) assert.equal(await here.look(), true, 'the later one waits');
    assert.deepEqual([...here.asked().keys()], ['batch']);
  });

  it('are kept while the notes of the followed cluster do not count', async () => {
    const here = world([changed('gpu')]);
    await here.look();
    await here.look();
    here.approve('gpu');
    await here.look(null);
    here.forget();
    here.doubt('are not signed');
    assert.equal(await here.look([changed('gpu')]), false);
    here.doubt(null);
    assert.equal(await here.look(), false, 'the time begins again');
    assert.deepEqual([...here.asked().keys()], []);
    assert.equal(await here.look(), true);
  });

  it('are for the payload as it is applied', async () => {
    const here = world([changed('batch'), changed('gpu')]);
    await here.look();
    await here.look();
    here.approve('gpu');
    await here.look();
    assert.deepEqual([...here.asked().keys()], ['batch']);
    for (const again of ['replace', 'replace', 'overlay']) {
      await here.look([changed('batch'), changed('gpu', again)]);
      assert.deepEqual([...here.asked().keys()], ['batch', 'gpu'], again);
    }
    here.approve();
    assert.equal(await here.look([changed('batch'), changed('gpu', 'replace')]), false);
    assert.deepEqual([...here.asked().keys()], ['gpu']);
  });

  it('say who gave them while the commit waits for others, and when it comes into force', async () => {
    const here = world([changed('batch'), changed('gpu')]);
    await here.look();
    await here.look();
    here.approve('gpu');
    await here.look();
    assert.match(here.standing(), /approve batch, .*; approved: gpu by somebody at 2\S+Z$/);
    assert.equal(here.said(), null);
    here.approve('batch');
    assert.equal(await here.look(), true);
    const { oid, said = '', isApproved } = here.said() ?? {};
    assert.deepEqual([oid, isApproved], [COMMIT_B, true]);
    assert.match(said, /^approved, though nobody had proven it: batch by ada at 2\S+Z; gpu by somebody at 2\S+Z$/);
  });

  it('are not needed of what a person releases, which says what nobody had proven of it', async () => {
    const here = world([changed('batch'), changed('cpu'), changed('gpu')]);
    await here.look();
    await here.look();
    here.approve('gpu');
    here.release(COMMIT_B);
    assert.equal(await here.look(), true);
    const { said = '', ...rest } = here.said() ?? {};
    assert.deepEqual(rest, { oid: COMMIT_B });
    assert.match(
      said,
      /^released by ada: staging is gone; nobody had proven what batch, cpu get; approved, .*: gpu by somebody at 2\S+Z$/,
    );
  });

  it('leave no word on a commit that needs none, and a release stands also where what it changes cannot be read', async () => {
    const free = world([]);
    await free.look();
    assert.equal(await free.look(), true);
    assert.equal(free.said(), null);
    const unread = world(null);
    unread.release(COMMIT_B);
    assert.equal(await unread.look(), true);
    assert.deepEqual(unread.said(), { oid: COMMIT_B, said: 'released by ada: staging is gone' });
  });

  it('are waited for by several commits, of which none has a time', async () => {
    const here = world([changed('gpu')]);
    here.push([changed('gpu', 'replace')]);
    for (let looks = 0; looks < 3; looks += 1) assert.equal(await here.look(), false);
    assert.doesNotMatch(here.standing(), /comes into force/);
    assert.match(here.standing(), /of cccccccccccc, staging proves nothing of gpu\. It waits for a person: /);
    assert.deepEqual(here.held(), [COMMIT_B, COMMIT_C]);
  });

  it('hide no later commit that needs none and has a time', async () => {
    const here = world([changed('gpu')]);
    await here.look();
    await here.look();
    here.push([]);
    await here.look();
    assert.match(here.standing(), /; cccccccccccc comes into force at /);
    assert.deepEqual(here.held(), [COMMIT_B]);
  });

  it('are asked for first of who waits longest, whoever comes before them by name', async () => {
    const pools = named(30);
    const here = world(pools.slice(5));
    await here.look();
    await here.look();
    const before = [...here.asked().keys()];
    await here.look(pools);
    assert.deepEqual([...here.asked().keys()], before);
  });
});
