import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { desiredState } from '#reconciler/policy/desired.ts';
import { statusesOf } from '#reconciler/reporting/forge/commit-status.ts';
import { type CommitNote, nextNote, noteInForce } from '#reconciler/reporting/notes/commit-note.ts';
import { EVERY_POINT } from '../../../support/sample.ts';
import { HOUR, LivingWorld, MINUTE } from '../../../support/liveness/living-world.ts';
import { poolSpec } from '../../../support/fleet.ts';

/** `npm test` has time for some hours only. */
const HOURS = EVERY_POINT ? 24 : 4;
const A_DAY = 2;

/** What is said of a commit that is done, by one process, while nodes join and live for an hour each. */
function said(joinsEveryMs: number) {
  const { rollout } = poolSpec();
  const world = new LivingWorld([{ name: 'blue', nodes: 12, joinsEveryMs, spec: { rollout } }]);
  const { sim } = world;
  assert.notEqual(world.settlesWithin(24 * HOUR), null);
  const [notes, statuses]: [string[], Map<string, string[]>] = [[], new Map()];
  const outcomes = new Set<string>();
  let last: CommitNote | null = null;
  world.run(HOURS * HOUR, () => {
    const desired = desiredState(sim.inForce, sim.fleet, () => []);
    const now = noteInForce('prod', desired.commit ?? '', desired, sim.reconcile().pools);
    outcomes.add(now.outcome);
    last = nextNote(last, now, true);
    if (last === null) return;
    if (notes.at(-1) !== JSON.stringify(last)) notes.push(JSON.stringify(last));
    for (const status of statusesOf(last)) {
      const before = statuses.get(status.context) ?? [];
      if (before.at(-1) !== status.description) statuses.set(status.context, [...before, status.description]);
    }
  });
  return { notes, statuses, outcomes };
}

describe('what is said of a commit that is done, in a day in which nodes come and go', () => {
  for (const minutes of [5, 20]) {
    it(`is said no more than twice where one joins every ${minutes} minutes`, (t) => {
      const { notes, statuses, outcomes } = said(minutes * MINUTE);
      t.diagnostic(
        `${notes.length} notes, ${Math.max(...[...statuses.values()].map(({ length }) => length))} statuses`,
      );
      assert.ok(notes.length >= 1 && notes.length <= A_DAY, notes.join('\n'));
      assert.equal(statuses.size, 2, 'the cluster and its pool');
      for (const [context, words] of statuses) assert.ok(words.length <= A_DAY, `${context}: ${words.join('; ')}`);
      assert.ok(outcomes.has('settled'));
    });
  }
});
