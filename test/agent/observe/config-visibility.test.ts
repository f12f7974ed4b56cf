import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createVisibilityTracker } from '#agent/observe/config-visibility.ts';
import type { RunningConfig } from '#agent/ports/kubelet-probe.ts';

const SEEN: RunningConfig = { seen: true, config: {} };
const no = (why: 'down' | 'forbidden' | 'untrusted' | 'off' | 'error'): RunningConfig => ({
  seen: false,
  why,
  reason: `${why}!`,
});
const MINUTE = 60_000;

describe('what the agent knows of the running config', () => {
  it('is nothing before the first look', () => {
    assert.deepEqual(createVisibilityTracker().visibility('1', true, 0), {
      sight: 'not-yet',
      why: 'nobody has looked yet',
    });
  });

  for (const why of ['forbidden', 'untrusted', 'off'] as const) {
    it(`is nothing for good where it is ${why}, with the reason`, () => {
      const sights = createVisibilityTracker();
      sights.update(no(why), '1', 0);
      assert.deepEqual(sights.visibility('1', true, 60 * MINUTE), { sight: why, why: `${why}!` });
    });
  }

  it('stays what it was for two minutes in which the kubelet does not answer, at rest', () => {
    const sights = createVisibilityTracker();
    sights.update(SEEN, '1', 0);
    sights.update(no('down'), '2', MINUTE);
    assert.deepEqual(sights.visibility('2', true, 3 * MINUTE - 1), { sight: 'seen' });
    sights.update(no('error'), '2', 3 * MINUTE);
    assert.deepEqual(sights.visibility('2', true, 3 * MINUTE), { sight: 'unreachable', why: 'error!' });
    sights.update(SEEN, '2', 4 * MINUTE);
    assert.deepEqual(sights.visibility('2', true, 4 * MINUTE), { sight: 'seen' });
  });

  it('says nothing of the next run during a change', () => {
    const sights = createVisibilityTracker();
    sights.update(SEEN, '1', 0);
    assert.equal(sights.visibility('1', false, 1).sight, 'seen');
    assert.equal(sights.visibility('2', false, 1).sight, 'not-yet');
    sights.update(no('down'), '2', 1);
    assert.equal(sights.visibility('2', false, 2 * MINUTE).sight, 'not-yet');
    assert.equal(sights.visibility('2', false, 2 * MINUTE + 1).sight, 'unreachable');
  });
});
