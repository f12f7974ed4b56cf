import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ChangedPool } from '#reconciler/policy/following/changed-pools.ts';
import { readFollowing } from '#reconciler/policy/following/record.ts';
import type { GivenApproval } from '#reconciler/policy/following/counterparts.ts';
import { startProduction } from '../support/following-production.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { fc } from '../support/property.ts';

const FOLLOWS = { clusters: ['staging'], settledFor: '2s', require: 'payloads' as const };
const POOLS = ['general', 'gpu'];
const oidOf = (n: number): string => n.toString(16).padStart(40, '0');
const shaOf = (payload: number): string => payload.toString(16).padStart(64, '0');

const payloads = fc.tuple(fc.nat(2), fc.nat(2));
const event = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('push' as const), payloads }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('prove' as const), pool: fc.nat(1), payload: fc.nat(2) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('approve' as const), pool: fc.nat(1) }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('wait' as const), seconds: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('break-list' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('hide-changes' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('take-over' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('overwrite' as const), pool: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('stay-unread' as const) }) },
);

it('nothing comes into force that followed clusters have not proven and nobody approved, and nothing stands still that may go', async () => {
  let held = 0;
  let went = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(event, { maxLength: 40, size: 'max' }), async (events) => {
      const clock = createManualClock();
      const branch: (readonly [number, number])[] = [[0, 0]];
      const seenAt = new Map<number, number>();
      const proven = new Set<string>();
      const here = new Set(['general 0', 'gpu 0']);
      const approved = new Set<string>();
      const annotations = new Map<string, GivenApproval>();
      let [at, isWhole, areHidden, isUnread, recorded] = [0, true, false, false, ''];
      const namesOf = (n: number): readonly string[] => POOLS.map((pool, index) => `${pool} ${branch[n]?.[index]}`);
      const changedIn = (n: number): readonly ChangedPool[] =>
        POOLS.flatMap((pool, index) => {
          const payload = branch[n]?.[index] ?? 0;
          const own = { pool, configName: pool, sha256: shaOf(payload), payload: shaOf(payload) };
          return here.has(`${pool} ${payload}`)
            ? []
            : [{ ...own, classes: [{ name: '', payloads: [`${pool} ${payload}`] }] }];
        });
      const start = () =>
        startProduction(clock, {
          line: () => branch.map((_, n) => oidOf(n)).slice(at),
          notes: () => {
            const proofs = [...proven].map((each) => ({ pool: each.split(' ')[0] ?? '', class: '', payload: each }));
            return { payloads: { isWhole, proofs } };
          },
          changes: (oid) => (areHidden ? null : changedIn(Number.parseInt(oid, 16))),
          approvals: annotations,
        });
      let following = start();
      for (const each of events) {
        if (each.do === 'push') branch.push(each.payloads);
        if (each.do === 'prove') proven.add(`${POOLS[each.pool]} ${each.payload}`);
        if (each.do === 'wait') await clock.advance(each.seconds * 1_000);
        if (each.do === 'break-list') isWhole = !isWhole;
        if (each.do === 'hide-changes') areHidden = !areHidden;
        if (each.do === 'take-over') following = start();
        if (each.do === 'overwrite') annotations.delete(POOLS[each.pool] ?? '');
        // What is chosen cannot be read for some time.
        if (each.do === 'stay-unread') isUnread = !isUnread;
        if (each.do === 'approve') {
          // As the command does it, of what the pool's status asks for.
          const pool = POOLS[each.pool] ?? '';
          const asked = readFollowing(recorded)?.counterparts?.pools?.find((one) => one.pool === pool);
          if (asked) {
            annotations.set(pool, { sha256: asked.sha256, since: asked.since, by: 'ada' });
            approved.add(`${pool} ${Number.parseInt(asked.sha256, 16)}`);
          }
        }
        for (let n = at + 1; n < branch.length; n += 1) if (!seenAt.has(n)) seenAt.set(n, clock.now());
        const oid = await following.choose(FOLLOWS, recorded);
        const last = readFollowing(recorded)?.counterparts;
        recorded = following.record();
        const asked = readFollowing(recorded)?.counterparts;
        if (asked && asked.commit === last?.commit)
          for (const { pool, payload } of asked.pools)
            assert.ok(!last.approved.some((one) => one.pool === pool && one.payload === payload), 'asked again');
        const chosen = Number.parseInt(oid, 16);
        const isRipe = (n: number): boolean => clock.now() - (seenAt.get(n) ?? Infinity) >= 2_000;
        const isKnown = (name: string): boolean => here.has(name) || (isWhole && proven.has(name));
        const mayGo = (n: number): boolean => namesOf(n).every((name) => isKnown(name) || approved.has(name));
        if (chosen === at) {
          for (let n = at + 1; n < branch.length; n += 1) {
            if (!isRipe(n)) continue;
            // What was approved once may have lost its place to another commit that asks.
            assert.ok(areHidden || !namesOf(n).every(isKnown), `${n} is ripe and stands still`);
            held += 1;
          }
          continue;
        }
        assert.ok(chosen > at && isRipe(chosen));
        assert.ok(!areHidden && mayGo(chosen), `${namesOf(chosen).join()} was not proven`);
        if (isUnread) continue;
        went += 1;
        at = chosen;
        for (const name of namesOf(at)) here.add(name);
      }
    }),
    { numRuns: 300 },
  );
  assert.ok(held > 100 && went > 100, `${held} held, ${went} went: the test sees both`);
});
