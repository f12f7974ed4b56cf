import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc, forAllOf, SEED } from '../../support/property.ts';
import { CONFIGS, type Event, type History, histories } from '../../support/agent/model/events.ts';
import { type Fate, type Happening, HAPPENINGS } from '../../support/agent/model/host.ts';
import { MISTAKES } from '../../support/agent/model/mutations.ts';
import { FOUND } from '../../support/agent/model/regression-histories.ts';
import { replay } from '../../support/agent/model/replay.ts';
import { MACHINE, type Machine } from '../../support/agent/model/world.ts';
import { runsOf } from '../../support/sample.ts';

/** `PROPERTY_SEED=$RANDOM MODEL_STEPS=5000000` tries many other lives. */
const STEPS = Number(process.env['MODEL_STEPS'] ?? runsOf(500_000, 15));
/** More than are needed for so many steps. */
const MOST_LIVES = Math.ceil(STEPS / 15);

/** The same life, in which nobody sets the wall clock. */
const withoutJumps = (history: History): History => ({
  ...history,
  events: history.events.filter(({ event }) => event !== 'clock'),
});

function clockJumpsChangeNothing(history: History, machine: () => Machine = () => MACHINE): void {
  const [jumping, steady] = [history, withoutJumps(history)].map((each) => replay(each, { machine: machine() }).story);
  assert.deepEqual(jumping, steady, 'clockJumpsChangeNothing');
}

describe('a node, whatever happens to it in whatever order', () => {
  it('keeps its invariants', (t) => {
    const counts = new Map<Happening, number>(HAPPENINGS.map((what) => [what, 0]));
    const count = (what: Happening): void => void counts.set(what, (counts.get(what) ?? 0) + 1);
    let [steps, lives] = [0, 0];
    t.diagnostic(`PROPERTY_SEED=${SEED}`);
    const live = (history: History): void => {
      if (steps >= STEPS) return;
      steps += replay(history, { count }).turns;
      lives += 1;
    };
    forAllOf(MOST_LIVES, histories, live);
    t.diagnostic(`${steps.toLocaleString('en')} steps in ${lives.toLocaleString('en')} lives`);
    t.diagnostic([...counts].map(([what, times]) => `${times} × ${what}`).join(', '));
    assert.ok(steps >= STEPS);
    for (const [what, times] of counts) assert.ok(times > 0, `it never happened: ${what}`);
  });

  for (const [what, history] of Object.entries(FOUND)) {
    it(`keeps them in the life in which ${what}`, () => void replay(history));
  }

  it('orders one restart for a good config, and two for one that has to be taken back', () => {
    const fates = fc.tuple(
      ...CONFIGS.map(() => fc.constantFrom<Fate[]>('good', 'dies', 'hangs', 'shadowed', 'refused')),
    );
    const costs = (fate: Fate = 'good'): number => (fate === 'good' ? 1 : 2);
    fc.assert(
      // One more than there are: local.
      fc.property(fates, fc.array(fc.nat(CONFIGS.length), { maxLength: 6 }), (fateOf, wishes) => {
        const events = wishes.flatMap((which): Event[] => [
          which < CONFIGS.length ? { event: 'assign', which, again: false, short: false } : { event: 'unassign' },
          { event: 'pass', ms: 400_000 },
        ]);
        const { story } = replay({ fates: fateOf, isGuarded: true, startLimit: Infinity, drift: 'repair', events });
        const ordered = story.join().split('restart-kubelet').length - 1;
        assert.ok(ordered <= wishes.reduce((sum, which) => sum + costs(fateOf[which]), 0), story.join('\n'));
      }),
      { numRuns: 200 },
    );
  });

  it('does the same whether or not somebody sets the wall clock', () => {
    fc.assert(
      fc.property(histories, (history) => clockJumpsChangeNothing(history)),
      { numRuns: runsOf(400, 8) },
    );
  });
});

describe('an invariant of the model', () => {
  for (const [name, [what, machine]] of Object.entries(MISTAKES)) {
    it(`finds an agent that ${what}: ${name}`, () => {
      const live = (history: History): void => {
        try {
          if (name === 'clockJumpsChangeNothing') clockJumpsChangeNothing(history, machine);
          else replay(history, { machine: machine() });
        } catch (error) {
          if (String(error).includes(name)) throw error;
        }
      };
      const { failed } = fc.check(fc.property(histories, live), { numRuns: 6_000, endOnFailure: true });
      assert.ok(failed, 'no life was found in which it does not hold');
    });
  }
});
