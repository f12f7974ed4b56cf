import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { Millis } from '#shared/runtime/clock.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { type PollingOptions, startPolling } from '#reconciler/git/poll.ts';
import { createManualClock, type ManualClock, settle } from '../../support/manual-clock.ts';

const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000];

interface Watched {
  /** When the looks began, in milliseconds since the start. */
  readonly looks: Millis[];
  readonly clock: ManualClock;
  stop(): void;
}

/** A poller whose time the test makes; without jitter where it says nothing else. */
function watch(t: TestContext, options: Partial<PollingOptions> = {}): Watched {
  const clock = createManualClock();
  const looks: Millis[] = [];
  const polling = startPolling({
    everyMs: MINUTE,
    random: () => 0.5,
    clock,
    log: silentLog,
    ...options,
    look: () => {
      looks.push(clock.monotonic());
      return options.look?.();
    },
  });
  t.after(() => polling.stop());
  return { looks, clock, stop: () => polling.stop() };
}

describe('polling', () => {
  const spans: readonly (readonly [asked: string, everyMs: Millis])[] = [
    ['1s', SECOND],
    ['45s', 45 * SECOND],
    ['90s', 90 * SECOND],
    ['7m', 7 * MINUTE],
    ['10h', 10 * HOUR],
    ['60 days', 60 * 24 * HOUR],
  ];
  const chances: readonly (readonly [what: string, chance: number, part: number])[] = [
    ['a twentieth early', 0, 0.95],
    ['neither early nor late', 0.5, 1],
    ['a fortieth late', 0.75, 1.025],
  ];
  for (const [asked, everyMs] of spans) {
    for (const [what, chance, part] of chances) {
      it(`every ${asked}, ${what}, looks at once and then at that moment, not a millisecond before`, async (t) => {
        const { looks, clock } = watch(t, { everyMs, random: () => chance });
        const pauseMs = Math.round(everyMs * part);
        await clock.advance(pauseMs - 1);
        assert.deepEqual(looks, [0]);
        await clock.advance(1);
        assert.deepEqual(looks, [0, pauseMs]);
        await clock.advance(pauseMs - 1);
        assert.deepEqual(looks, [0, pauseMs]);
        await clock.advance(1);
        assert.deepEqual(looks, [0, pauseMs, 2 * pauseMs]);
      });
    }
  }

  it('keeps each pause within a twentieth of what was asked, and no two clusters in step', async (t) => {
    let seed = 7;
    const random = (): number => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647;
    const { looks, clock } = watch(t, { random });
    await clock.advance(HOUR);
    const pauses = looks.slice(1).map((at, index) => at - (looks[index] ?? 0));
    assert.ok(pauses.length >= 57 && pauses.length <= 63, `${pauses.length} looks in an hour`);
    assert.ok(
      pauses.every((pause) => pause >= 57 * SECOND && pause <= 63 * SECOND),
      pauses.join(),
    );
    assert.ok(new Set(pauses).size > 50, pauses.join());
  });

  it('begins no look while one has not ended, and pauses after it', async (t) => {
    let end: () => void = () => undefined;
    const { looks, clock } = watch(t, { look: () => new Promise<void>((resolve) => (end = resolve)) });
    await clock.advance(5 * MINUTE + 10 * SECOND);
    assert.deepEqual(looks, [0]);
    end();
    await clock.advance(MINUTE - 1);
    assert.deepEqual(looks, [0]);
    await clock.advance(1);
    assert.deepEqual(looks, [0, 6 * MINUTE + 10 * SECOND]);
  });

  const failures: readonly (readonly [how: string, look: () => Promise<void>])[] = [
    [
      'threw',
      () => {
        throw new Error('no');
      },
    ],
    ['ended with an error', () => Promise.reject(new Error('no'))],
  ];
  for (const [how, look] of failures) {
    it(`goes on after a look that ${how}, and says so`, async (t) => {
      const said: string[] = [];
      const log = { ...silentLog, error: (_: unknown, message: string) => void said.push(message) };
      const { looks, clock } = watch(t, { look, log: log as PollingOptions['log'] });
      await clock.advance(2 * MINUTE);
      assert.deepEqual(looks, [0, MINUTE, 2 * MINUTE]);
      assert.deepEqual(said, Array(3).fill('poll ended with an error'));
    });
  }

  it('ends at once when it is stopped in a pause', async (t) => {
    const { looks, clock, stop } = watch(t);
    await clock.advance(30 * SECOND);
    assert.equal(clock.sleeping().length, 1);
    stop();
    assert.deepEqual(clock.sleeping(), []);
    await clock.advance(HOUR);
    assert.deepEqual([looks, clock.sleeping()], [[0], []]);
  });

  it('ends with the look under way when it is stopped during one', async (t) => {
    let end: () => void = () => undefined;
    const { looks, clock, stop } = watch(t, { look: () => new Promise<void>((resolve) => (end = resolve)) });
    await clock.advance(MINUTE);
    stop();
    end();
    await settle();
    await clock.advance(HOUR);
    assert.deepEqual([looks, clock.sleeping()], [[0], []]);
  });
});
