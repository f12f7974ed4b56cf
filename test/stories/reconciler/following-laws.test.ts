import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { LoadedPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { readHistory } from '#reconciler/reporting/notes/commit-history.ts';
import { readSourceState, type SourceState } from '#reconciler/reporting/notes/source-state.ts';
import { type KubeletSource, SOURCE_NAME } from '#shared/contract/api/kubelet-source.ts';
import { KUBELET_SOURCES } from '#shared/kube/kube.ts';
import type { Clock, Millis } from '#shared/runtime/clock.ts';
import { fc, forAllAsyncOf } from '../../support/property.ts';
import { AFTER, BEFORE, beginStory, LATER, NODES, type Process, settledOnce } from '../../support/takeover/story.ts';

const SECOND = 1_000;
const SETTLED_FOR = 60 * SECOND;
const CLUSTERS = ['staging', 'canary'];
const CONTENTS: readonly (readonly LoadedPool[])[] = [BEFORE, AFTER, LATER];
/** A poll, a pass, and the seconds that a takeover may cost. */
const SLACK = 20 * SECOND;
const PER_TAKEOVER = 6 * SECOND;

type Event =
  | { readonly do: 'push'; readonly content: number }
  | { readonly do: 'note'; readonly clusters: readonly string[]; readonly back: number; readonly note: string }
  | { readonly do: 'gone'; readonly cluster: number }
  | { readonly do: 'wait'; readonly seconds: number }
  | { readonly do: 'takeover'; readonly hours: number };

const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ do: fc.constant('push' as const), content: fc.nat(2) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('note' as const),
      clusters: fc.constantFrom(CLUSTERS, CLUSTERS, CLUSTERS.slice(0, 1), CLUSTERS.slice(1)),
      back: fc.nat(1),
      note: fc.constantFrom('settled', 'settled', 'settled', 'settled', 'settled', 'settled', 'halted', ''),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('gone' as const), cluster: fc.nat(1) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('wait' as const), seconds: fc.integer({ min: 20, max: 75 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('takeover' as const), hours: fc.integer({ min: -9, max: 9 }) }) },
);

/** What makes one ripe most of the time: settled in both, half of the time, another leader, the other half. */
const ripen = fc.tuple(fc.nat(2), fc.integer({ min: -9, max: 9 })).map(([content, hours]): readonly Event[] => [
  { do: 'push', content },
  { do: 'note', clusters: CLUSTERS, back: 0, note: 'settled' },
  { do: 'wait', seconds: 25 },
  { do: 'takeover', hours },
  { do: 'wait', seconds: 40 },
]);
const life = fc
  .array(
    fc.oneof({ weight: 5, arbitrary: event.map((each): readonly Event[] => [each]) }, { weight: 1, arbitrary: ripen }),
    {
      minLength: 8,
      maxLength: 16,
      size: 'max',
    },
  )
  .map((all) => all.flat());

const off = (clock: Clock, by: Millis): Clock => ({ ...clock, now: () => clock.now() + by });

it('a whole reconciler takes nothing that was not settled for the time, over takeovers with clocks hours apart, and never stands still', async () => {
  const chapter = await settledOnce();
  let matured = 0;
  await forAllAsyncOf(12, life, async (events) => {
    const story = await beginStory(NODES, chapter);
    const { clock, repository, cluster } = story;
    repository.follows = { clusters: CLUSTERS, settledFor: '60s' };
    const contents = new Map<string, number>();
    const branch: string[] = [];
    const push = (content: number): void => {
      const oid = repository.commit(...(CONTENTS[content] ?? BEFORE));
      contents.set(oid, content);
      branch.push(oid);
    };
    push(0);
    let look = (): void => undefined;
    const { notes } = repository.followed;
    Object.assign(repository.followed, {
      notes: (...question: Parameters<typeof notes>) => {
        if (question[0] === CLUSTERS.at(-1)) look();
        return notes(...question);
      },
    });
    let takeovers = 0;
    let leader: Process = story.start('0');
    const source = (): SourceState =>
      readSourceState((cluster.objects.get(KUBELET_SOURCES, SOURCE_NAME) as KubeletSource | undefined) ?? null);
    await story.until('the first in force', () => source().commit === branch[0]);
    for (const name of CLUSTERS) repository.others.set(name, new Map());

    /** By content, since when every look saw all clusters call its newest commit that they note settled, and takeovers until then. */
    const streaks = new Map<number, { readonly since: Millis; readonly takeovers: number }>();
    const settledHere = new Set<number | undefined>();
    let inForce = branch[0] ?? '';
    const judgeChange = (): void => {
      const { commit, history } = source();
      for (const past of readHistory(history)) if (past.outcome === 'settled') settledHere.add(contents.get(past.oid));
      if (commit === inForce) return;
      const [before, content] = [contents.get(inForce), contents.get(commit)];
      assert.ok(branch.indexOf(commit) > branch.indexOf(inForce), 'only forward');
      const since = streaks.get(content ?? -1)?.since ?? Infinity;
      const isRipe = clock.now() - since >= SETTLED_FOR;
      assert.ok(isRipe || settledHere.has(content) || content === before, `${commit} was not settled for the time`);
      if (isRipe) matured += 1;
      inForce = commit;
    };
    look = (): void => {
      judgeChange();
      const ahead = branch.slice(branch.indexOf(source().commit) + 1);
      for (const content of CONTENTS.keys()) {
        const equal = ahead.filter((oid) => contents.get(oid) === content).toReversed();
        const isSettled = CLUSTERS.every((name) => {
          const notes = repository.others.get(name) ?? new Map<string, string>();
          return notes.get(equal.find((oid) => notes.has(oid)) ?? '') === 'settled';
        });
        if (!isSettled) streaks.delete(content);
        else if (!streaks.has(content)) streaks.set(content, { since: clock.now(), takeovers });
      }
    };
    story.onTick(() => {
      judgeChange();
      const newest = branch.slice(branch.indexOf(inForce) + 1);
      for (const [ripe, streak] of streaks) {
        const most = SETTLED_FOR + SLACK + (takeovers - streak.takeovers) * PER_TAKEOVER;
        const waits = newest.some((oid) => contents.get(oid) === ripe) && clock.now() - streak.since > most;
        assert.ok(!waits, `content ${ripe} is ripe, and nothing happens`);
      }
    });

    const pass = async (seconds: number): Promise<void> => {
      const until = clock.now() + seconds * SECOND;
      while (clock.now() < until) await story.tick();
    };
    for (const each of events) {
      const target = branch.at(-1 - ('back' in each ? each.back : 0));
      if (each.do === 'push') push(each.content);
      if (each.do === 'gone') repository.others.set(CLUSTERS[each.cluster] ?? '', new Map());
      if (each.do === 'note' && target !== undefined) {
        for (const name of each.clusters) {
          if (each.note === '') repository.others.get(name)?.delete(target);
          else repository.others.get(name)?.set(target, each.note);
        }
      }
      if (each.do === 'takeover') {
        leader.mortality.die();
        takeovers += 1;
        leader = story.start(String(takeovers), { clock: off(clock, each.hours * 3_600 * SECOND) });
      }
      // So that a look sees it.
      await pass(each.do === 'wait' ? each.seconds : 8);
    }
    await pass((SETTLED_FOR + SLACK) / SECOND);
    leader.replica.stop();
    await story.tick();
    await leader.replica.ended;
  });
  assert.ok(matured >= 5, `only ${matured} commits came into force by having waited`);
});
