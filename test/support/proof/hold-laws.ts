import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { fc } from '../property.ts';
import { holds, type Replay } from '../replayable.ts';
import { MovingWorld } from './moving-world.ts';
import { happenings, settings } from './world-events.ts';

const LENGTH = 150;
/** Of a world, with what comes before and after the story. */
const STEPS_OF_A_WORLD = 140;

/**
 * Holds the laws of proof in so many steps of moving worlds, and says how often what came across.
 *
 * @param mustCome how often each of what is rare has to come across at least
 * @throws AssertionError or fast-check's report
 */
export function holdLaws(t: TestContext, atLeast: number, replay: Replay, mustCome: number): void {
  let [steps, worlds] = [0, 0];
  const seen = new Map<string, number>();
  const count = (what: string): void => void seen.set(what, (seen.get(what) ?? 0) + 1);
  const stories = fc.array(happenings, { maxLength: 2 * LENGTH, size: 'max' });
  holds(
    'what a fleet has proven is all that anything is decided by',
    fc.property(settings, stories, (setting, story) => {
      const world = new MovingWorld(setting);
      let hasReverted = false;
      for (const event of story) {
        const [proven, approved] = [provenIn(world), approvalsIn(world)];
        world.happen(event);
        if (approvalsIn(world) > approved) count('approved');
        count(event.event);
        for (const pool of provenIn(world)) {
          const members = world.ledger.membersOf(pool.split(' ')[0] ?? '');
          if (!proven.includes(pool) && members.some((each) => each.told !== each.proved)) count('left behind');
        }
        if (hasReverted || event.event !== 'time') continue;
        hasReverted = world.checkRevert('with a witness');
        if (hasReverted) count('reverted');
      }
      for (const pool of world.ledger.pools.values()) {
        if (pool.proven.size > 1) count('proven another');
        if (pool.done > 0 && !pool.proven.has(pool.version.id)) count('in a later wave');
      }
      steps += world.passes;
      worlds += 1;
    }),
    Math.ceil(atLeast / STEPS_OF_A_WORLD),
    replay,
  );
  t.diagnostic(`${steps} steps in ${worlds} worlds, seed ${replay.seed}: ${JSON.stringify(Object.fromEntries(seen))}`);
  if (mustCome === 0) return;
  assert.ok(steps >= atLeast, `${steps} steps`);
  for (const what of [
    'reverted',
    'proven another',
    'in a later wave',
    'approved',
    'takeover',
    'clock',
    'forget',
    'reclass',
  ]) {
    assert.ok((seen.get(what) ?? 0) >= mustCome, `${what} came across: ${seen.get(what)}`);
  }
}

/** How many waves of present versions people let go on. */
const approvalsIn = ({ ledger }: MovingWorld): number =>
  [...ledger.pools.values()].reduce((sum, { approved }) => sum + approved.size, 0);

/** What pools have proven by now. */
const provenIn = ({ ledger }: MovingWorld): readonly string[] =>
  [...ledger.pools.values()].flatMap(({ name, proven }) => [...proven.keys()].map((id) => `${name} ${id}`));
