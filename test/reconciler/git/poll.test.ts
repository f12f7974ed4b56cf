import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { systemClock } from '#shared/runtime/clock.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { cronEvery } from '#reconciler/git/cron-every.ts';
import { type PollingOptions, startPolling } from '#reconciler/git/poll.ts';

const START = Date.parse('2026-01-01T00:00:00Z');

interface Watched {
  /** Seconds since the start at which a tick began. */
  readonly ticks: number[];
  /** Lets so many seconds pass. */
  pass(seconds: number): Promise<void>;
  stop(): void;
}

/** A poller whose time the test makes. */
function watch(t: TestContext, options: Partial<PollingOptions> = {}): Watched {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: START });
  const ticks: number[] = [];
  const polling = startPolling({
    random: () => 0,
    clock: systemClock,
    log: silentLog,
    ...options,
    onTick: () => {
      ticks.push((Date.now() - START) / 1000);
      return options.onTick?.();
    },
  });
  t.after(() => polling.stop());
  return {
    ticks,
    stop: () => polling.stop(),
    async pass(seconds) {
      for (let half = 0; half < seconds * 2; half += 1) {
        t.mock.timers.tick(500);
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
  };
}

describe('polling', () => {
  it('ticks at once, and then every minute', async (t) => {
    const { ticks, pass } = watch(t);
    await pass(200);
    assert.deepEqual(ticks, [0, 60, 120, 180]);
  });

  it('spreads its ticks, so that a fleet does not poll in step', async (t) => {
    const { ticks, pass } = watch(t, { random: () => 0.5 });
    await pass(200);
    assert.deepEqual(ticks, [0, 36, 96, 156]);
  });

  it('keeps the distance between two ticks within a fifth of the span', async (t) => {
    let seed = 7;
    const random = (): number => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647;
    const { ticks, pass } = watch(t, { random });
    await pass(1800);
    const spans = ticks.slice(2).map((at, index) => at - (ticks[index + 1] ?? 0));
    assert.ok(spans.length > 25);
    assert.ok(
      spans.every((span) => span >= 48 && span <= 72),
      spans.join(),
    );
    assert.ok(new Set(spans).size > 5, spans.join());
  });

  it('leaves ticks out while one has not ended', async (t) => {
    let end: () => void = () => undefined;
    const { ticks, pass } = watch(t, { onTick: () => new Promise<void>((resolve) => (end = resolve)) });
    await pass(150);
    assert.deepEqual(ticks, [0]);
    end();
    await pass(60);
    assert.deepEqual(ticks, [0, 180]);
  });

  it('goes on after a tick that failed', async (t) => {
    const { ticks, pass } = watch(t, {
      onTick: () => {
        throw new Error('no');
      },
    });
    await pass(70);
    assert.deepEqual(ticks, [0, 60]);
  });

  it('makes up for a tick that was missed because the process was busy', async (t) => {
    const { ticks, pass } = watch(t);
    await pass(50);
    t.mock.timers.setTime(START + 75_000);
    await pass(2);
    assert.equal(ticks.length, 2);
    assert.ok((ticks[1] ?? 0) >= 75 && (ticks[1] ?? 0) <= 77);
  });

  it('follows a schedule', async (t) => {
    const { ticks, pass } = watch(t, { schedule: '*/30 * * * *' });
    await pass(3700);
    assert.deepEqual(ticks, [0, 1800, 3600]);
  });

  it('ends when it is stopped, also on the way to a tick', async (t) => {
    const { ticks, pass, stop } = watch(t, { random: () => 0.9 });
    await pass(55);
    const before = ticks.length;
    stop();
    await pass(200);
    assert.equal(ticks.length, before);
  });
});

describe('the pattern for a span', () => {
  const rows = [
    [60_000, [0, 0], '0 * * * * *', 60_000],
    [60_000, [0.5, 0.5], '30 * * * * *', 60_000],
    [30_000, [0.5, 0], '15,45 * * * * *', 30_000],
    [1_000, [0.9, 0.9], '* * * * * *', 1_000],
    [250, [0, 0], '* * * * * *', 1_000],
    [45_000, [0, 0], '0,30 * * * * *', 30_000],
    [90_000, [0, 0], '0 * * * * *', 60_000],
    [300_000, [0.5, 0.2], '30 1,6,11,16,21,26,31,36,41,46,51,56 * * * *', 300_000],
    [420_000, [0, 0], '0 0,6,12,18,24,30,36,42,48,54 * * * *', 360_000],
    [3_600_000, [0.5, 0.5], '30 30 * * * *', 3_600_000],
    [18_000_000, [0, 0], '0 0 0,4,8,12,16,20 * * *', 14_400_000],
    [172_800_000, [0, 0], '0 0 0 * * *', 86_400_000],
  ] as const;
  for (const [askedMs, chance, pattern, everyMs] of rows) {
    it(`of ${askedMs / 1000} s is ${pattern}`, () => {
      assert.deepEqual(cronEvery(askedMs, chance), { pattern, everyMs });
    });
  }
});
