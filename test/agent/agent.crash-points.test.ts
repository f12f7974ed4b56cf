import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { after, describe, it } from 'node:test';
import { MODES } from '../support/agent/fault-every-point.ts';
import { createFaultPool } from '../support/agent/fault-pool.ts';
import { EVERY_POINT } from '../support/sample.ts';
import { TRANSITIONS } from '../support/agent/transitions.ts';

const all = { points: 0, strikes: 0, runs: 0 };
// A sample is done before a second worker is worth its start.
const pool = createFaultPool(EVERY_POINT ? availableParallelism() : 1);

after(() => pool.end());

for (const transition of TRANSITIONS) {
  describe(`${transition.name} comes to its end, and no kubelet is lost on the way`, () => {
    for (const mode of MODES) {
      // All are begun at once, and each test waits for its own.
      const struck = pool.strike({ transition: transition.name, mode });
      struck.catch(() => undefined);
      it(`when ${mode}`, async (t) => {
        const { points, strikes, runs, failures } = await struck;
        t.diagnostic(`${points} points, ${strikes} strikes, ${runs} different runs`);
        if (mode === MODES[0] || mode === MODES[3]) all.points += points;
        all.strikes += strikes;
        all.runs += runs;
        assert.equal(failures.join('\n'), '');
      });
    }
  });
}

describe('all transitions together', () => {
  it('were struck at each of their points', (t) => {
    const [points, strikes, runs] = [all.points, all.strikes, all.runs].map((count) => count.toLocaleString('en'));
    t.diagnostic(`${points} points, ${strikes} strikes, ${runs} different runs`);
    assert.ok(all.points > (EVERY_POINT ? 1_000 : 100));
  });
});
