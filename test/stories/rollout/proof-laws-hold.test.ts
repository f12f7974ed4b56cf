import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../support/property.ts';
import { MovingWorld } from '../../support/proof/moving-world.ts';
import { checkReverted } from '../../support/proof/proof-claims.ts';
import { happenings, settings } from '../../support/proof/world-events.ts';
import { holds, replayFrom } from '../../support/replayable.ts';
import { EVERY_POINT, runsOf } from '../../support/sample.ts';

const STEPS = runsOf(200_000, 25);
const LENGTH = 150;
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
      fc.property(settings, fc.array(happenings, { minLength: LENGTH, maxLength: LENGTH }), (setting, story) => {
        const world = new MovingWorld(setting);
        for (const event of story) {
          world.happen(event);
          count(event.event);
        }
        const reverting = [...world.sim.fleet.pools.values()].filter(({ status }) => status?.halt?.action === 'revert');
        if (reverting.length > 0) {
          world.calm(10);
          checkReverted(world.ledger, world.sim.fleet);
          count('reverted');
        }
        for (const pool of world.ledger.pools.values()) {
          if (pool.proven.size > 1) count('proven');
          if (pool.done > 0 && !pool.proven.has(pool.version.id)) count('in a later wave');
        }
        steps += world.passes;
        worlds += 1;
      }),
      Math.ceil(STEPS / (LENGTH + 15)),
      replay,
    );
    t.diagnostic(
      `${steps} steps in ${worlds} worlds, seed ${replay.seed}: ${JSON.stringify(Object.fromEntries(seen))}`,
    );
    if (replay.seed !== USUAL && !EVERY_POINT) return;
    assert.ok(steps >= STEPS);
    for (const what of ['reverted', 'proven', 'in a later wave', 'takeover', 'clock', 'forget', 'reclass']) {
      assert.ok((seen.get(what) ?? 0) > 5, `${what} came across: ${seen.get(what)}`);
    }
  });
});
