import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Millis } from '#shared/runtime/clock.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { readReconcilerSettings } from '#reconciler/settings.ts';
import { startTriggers } from '#reconciler/triggers.ts';
import { createManualClock, settle } from '../support/manual-clock.ts';

const SECOND = 1_000;

/** The moments of the first looks at the branch, as this setting makes them. */
async function looksWith(pollInterval: string | undefined, forMs: Millis): Promise<readonly Millis[]> {
  const { pollMs } = readReconcilerSettings({
    CLUSTER: 'demo',
    GIT_URL: 'https://git.invalid/x',
    POLL_INTERVAL: pollInterval,
  });
  const clock = createManualClock();
  const stop = new AbortController();
  const looks: Millis[] = [];
  const triggers = await startTriggers({
    look: () => Promise.resolve(void looks.push(clock.monotonic())),
    pollMs,
    webhook: undefined,
    clock,
    log: silentLog,
    random: () => 0.5,
    signal: stop.signal,
  });
  await clock.advance(forMs);
  stop.abort();
  await triggers.stop();
  await settle();
  assert.deepEqual(clock.sleeping(), [], 'nothing is left that waits');
  const seen = [...looks];
  await clock.advance(10 * forMs);
  assert.deepEqual(looks, seen, 'no look after the end');
  return seen;
}

describe('looks at the branch', () => {
  const rows: readonly (readonly [setting: string | undefined, everyMs: Millis])[] = [
    [undefined, 60 * SECOND],
    ['1s', SECOND],
    ['45s', 45 * SECOND],
    ['90s', 90 * SECOND],
    ['7m', 420 * SECOND],
    ['10h', 36_000 * SECOND],
  ];
  for (const [setting, everyMs] of rows) {
    it(`come every ${everyMs / SECOND} s with POLL_INTERVAL=${setting ?? ''}`, async () => {
      assert.deepEqual(await looksWith(setting, 3 * everyMs - 1), [0, everyMs, 2 * everyMs]);
    });
  }

  it('come once a second at most, however short a span was set', async () => {
    for (const setting of ['0s', '1ms', '250ms']) {
      assert.deepEqual(await looksWith(setting, 3 * SECOND - 1), [0, SECOND, 2 * SECOND], setting);
    }
  });
});
