import assert from 'node:assert/strict';
import { decide } from '#agent/decide/decide.ts';
import { IDLE, type State, type Target } from '#agent/decide/state.ts';
import { A, AT, B, judging, onTrial, seen, TERMS, wanting } from '../support/agent/states.ts';
import { see, table } from './scenario.ts';

const healthyFor = (healthyMs: number, over: Target): State => onTrial(judging({ healthyMs }), {}, over);

export const scenarios = see('a config that has proven itself', [
  ...table(
    1,
    [
      ['a node that ran local before', null],
      ['a node that had a last known good config before', A],
    ] as const,
    ([who]) => `becomes the last known good one, without an error, on ${who}`,
    ([, before]) => {
      const look = seen({ ...wanting(B), elapsedMs: 5_000 });
      const { next, actions } = decide(healthyFor(TERMS.durationMs - 5_000, before), look);
      assert.deepEqual([next.lastKnownGood, next.assigned, next.doing], [B, B, IDLE]);
      assert.deepEqual([next.error, next.rejected, next.promotedAt], [null, [], AT]);
      assert.deepEqual(actions, [{ do: 'collect-garbage' }]);
      const early = decide(healthyFor(TERMS.durationMs - 5_001, before), look).next;
      assert.deepEqual([early.doing.phase, early.lastKnownGood], ['trial', before], 'a millisecond before');
    },
  ),
]);
