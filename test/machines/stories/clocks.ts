import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TrialSpec } from '#shared/contract/api/kubelet-node.ts';
import { TRIAL } from '../../node/support/assignments.ts';
import { say } from '../../node/support/say.ts';
import type { World } from '../support/world.ts';

const HOUR_S = 3600;
const MINUTE: TrialSpec = { ...TRIAL, duration: '1m' };
/** Of the minute, when the clock is set: the first words of healthy time come after a tenth of it. */
const BEFORE_MS = 40_000;

/** A clock that somebody sets in the middle of a trial. */
export function describeClocks(world: () => World): void {
  describe('with a clock that jumps', { concurrency: 1 }, () => {
    for (const [seconds, maxPods] of [
      [HOUR_S, 71],
      // To the right time again: certificates of today are not valid an hour ago.
      [-HOUR_S, 72],
    ] as const) {
      it(`counts healthy time as it passes when it jumps by ${seconds} s in mid-trial`, async (t) => {
        const { node, agentRanOn } = world();
        const starts = await node.starts();
        const assigned = performance.now();
        const name = await node.assignments.assign({ maxPods }, { trial: MINUTE });
        await node.reaches('healthy time of the trial', ({ trial }) => (trial?.healthySeconds ?? 0) > 0);
        await node.machine.run(`date -s @$(($(date +%s) + ${seconds}))`);
        say(t, 'assigned → clock set', assigned);
        const set = performance.now();
        await node.settlesOn(name);
        say(t, 'clock set → promoted (trial of a minute)', set);
        assert.ok(performance.now() - set > 60_000 - BEFORE_MS, 'no second of the hour was counted');
        assert.equal((await node.configz())['maxPods'], maxPods);
        assert.equal(await node.ready(), true);
        assert.equal(await node.starts(), starts + 1);
        await agentRanOn();
      });
    }
  });
}
