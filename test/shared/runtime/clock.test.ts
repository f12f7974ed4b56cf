import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc, forAll } from '../../support/property.ts';
import { fromTimestamp, systemClock, toTimestamp } from '#shared/runtime/clock.ts';

describe('a timestamp', () => {
  it('is read as it was written', () => {
    const seconds = fc.integer({ min: Date.UTC(1000, 0) / 1000, max: Date.UTC(9999, 11, 31) / 1000 });
    forAll(seconds, (at) => assert.equal(fromTimestamp(toTimestamp(at * 1000)), at * 1000));
  });

  const texts: readonly (readonly [what: string, text: string | undefined | null, at: number | undefined])[] = [
    ['leap day', '2028-02-29T23:59:59Z', Date.UTC(2028, 1, 29, 23, 59, 59)],
    ['with fractions', '2026-11-21T12:00:00.123456Z', Date.UTC(2026, 10, 21, 12, 0, 0, 123)],
    ['with an offset', '2026-11-21T12:00:00+01:00', Date.UTC(2026, 10, 21, 11)],
    ['never, as Go has it', '0001-01-01T00:00:00Z', Date.parse('0001-01-01T00:00:00Z')],
    ['a month that is none', '2026-13-01T00:00:00Z', undefined],
    ['a day that its month has not', '2026-02-30T00:00:00Z', undefined],
    ['such a day with an offset', '2027-02-29T00:00:00+01:00', undefined],
    ['the last day of a month, with an offset', '2026-03-31T23:30:00-01:00', Date.UTC(2026, 3, 1, 0, 30)],
    ['an hour that is none', '2026-12-01T25:00:00Z', undefined],
    ['a year with more than four digits, as far away as a date can be', '+275760-09-13T00:00:00Z', undefined],
    ['words', 'the day before today', undefined],
    ['nothing', '', undefined],
    ['missing', undefined, undefined],
    ['null', null, undefined],
  ];
  for (const [what, text, at] of texts) it(`is read: ${what}`, () => assert.equal(fromTimestamp(text), at));
});

describe('the clock of the machine', () => {
  const DAY_MS = 24 * 60 * 60_000;

  it('sleeps for longer than a timer of Node can, too', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    let awake = false;
    const sleeping = systemClock.sleep(60 * DAY_MS).then(() => (awake = true));
    const longest = 2 ** 31 - 1;
    for (const pass of [longest, longest, 60 * DAY_MS - 2 * longest - 1]) {
      t.mock.timers.tick(pass);
      await Promise.resolve();
      assert.equal(awake, false);
    }
    t.mock.timers.tick(1);
    await sleeping;
    assert.equal(awake, true);
  });

  it('wakes whoever gives up a long sleep at once, and keeps no timer', async () => {
    const stop = new AbortController();
    const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();
    const sleeping = systemClock.sleep(60 * DAY_MS, stop.signal);
    assert.equal(timers(), before + 1);
    stop.abort();
    await sleeping;
    assert.equal(timers(), before);
  });
});
