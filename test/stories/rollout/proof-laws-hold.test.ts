import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../support/property.ts';
import { MovingWorld } from '../../support/proof/moving-world.ts';
import { happenings, settings } from '../../support/proof/world-events.ts';
import { holds, replayFrom } from '../../support/replayable.ts';
import { EVERY_POINT, runsOf } from '../../support/sample.ts';

const STEPS = runsOf(200_000, 25);
const LENGTH = 150;
const stories = fc.array(happenings, { maxLength: 2 * LENGTH, size: 'max' });
/** A seed with which everything that has to come across does so in the few steps of `npm test`. */
const USUAL = 30_30_30;
const replay = replayFrom(process.env, USUAL);

describe('what a fleet has proven', () => {
  it(`is all that anything is decided by, in ${STEPS} steps of several pools and kinds of machines`, (t) => {
    let [steps, worlds] = [0, 0];
    const seen = new Map<string, number>();
    const count = (what: string): void => void seen.set(what, (seen.get(what) ?? 0) + 1);
    holds(
      'what a fleet has proven is all that anything is decided by',
      fc.property(settings, stories, (setting, story) => {
        const world = new MovingWorld(setting);
        let hasReverted = false;
        for (const event of story) {
          // A pool with classes of machines that loses its record gives the bytes of one class to all.
          if (event.event === 'forget' && world.isComputed(event.pool)) continue;
          world.happen(event);
          count(event.event);
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
      Math.ceil(STEPS / (LENGTH - 20)),
      replay,
    );
    t.diagnostic(
      `${steps} steps in ${worlds} worlds, seed ${replay.seed}: ${JSON.stringify(Object.fromEntries(seen))}`,
    );
    if (replay.seed !== USUAL && !EVERY_POINT) return;
    assert.ok(steps >= STEPS);
    for (const what of ['reverted', 'proven another', 'in a later wave', 'takeover', 'clock', 'forget', 'reclass']) {
      assert.ok((seen.get(what) ?? 0) > 5, `${what} came across: ${seen.get(what)}`);
    }
  });
});
