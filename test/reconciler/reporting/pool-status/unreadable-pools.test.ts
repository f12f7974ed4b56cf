import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { UnreadableObject } from '#reconciler/policy/fleet.ts';
import { createUnreadablePools, describeUnreadable } from '#reconciler/reporting/pool-status/unreadable-pools.ts';
import { toTimestamp } from '#shared/runtime/clock.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { columns } from '../../../support/columns.ts';

const held = (name: string, of: UnreadableObject['of'] = 'pool'): UnreadableObject => ({
  of,
  name,
  uid: 'u',
  error: new RangeError('poison'),
});

describe('a pool that cannot be read', () => {
  it('is said to be held until that is written, and again every ten minutes since then', () => {
    const clock = createManualClock();
    const pools = createUnreadablePools(clock);
    const since = toTimestamp(clock.now());
    const due = () => pools.due([held('web'), held('n1', 'node')]);
    const [step, ...more] = due();
    assert.ok(step?.step === 'hold-pool' && more.length === 0);
    assert.deepEqual(columns(step.conditions, 'type', 'status', 'lastTransitionTime'), [
      ['Ready', 'False', since],
      ['Reconciling', 'False', since],
      ['Stalled', 'True', since],
    ]);
    clock.skip(60_000);
    assert.equal(due().length, 1, 'the write failed');
    pools.answered(step);
    clock.skip(10 * 60_000 - 1);
    assert.deepEqual(due(), []);
    clock.skip(1);
    const [again] = due();
    assert.ok(again?.step === 'hold-pool' && again.conditions[0]?.lastTransitionTime === since);
  });

  it('is held from another time on where it could be read meanwhile', () => {
    const clock = createManualClock();
    const pools = createUnreadablePools(clock);
    const [step] = pools.due([held('web')]);
    assert.ok(step !== undefined);
    pools.answered(step);
    assert.deepEqual(pools.due([held('web')]), []);
    pools.due([]);
    pools.answered(step);
    clock.skip(1_000);
    const [again] = pools.due([held('web')]);
    assert.ok(again?.step === 'hold-pool' && again.conditions[0]?.lastTransitionTime === toTimestamp(clock.now()));
  });

  it('is described in a thousand characters at most, without a credential', () => {
    const long = { of: 'pool', error: new Error(`https://user:secret@host/${'x'.repeat(2_000)}`) } as const;
    assert.equal(describeUnreadable(long).length, 1_000);
    assert.doesNotMatch(describeUnreadable(long), /secret/);
  });
});
