import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../support/property.ts';
import { readWindow } from '#reconciler/policy/windows/read-window.ts';
import { windowsState } from '#reconciler/policy/windows/windows-state.ts';
import type { WindowSpec, WindowsSpec } from '#shared/contract/api/kubelet-pool.ts';
import { runsOf } from '../../../support/sample.ts';

const at = (text: string): number => Date.parse(text);
const layer = (allow: readonly WindowSpec[], deny: readonly WindowSpec[] = []): WindowsSpec => ({
  allow,
  deny,
  overrun: 'stop',
});
const window = (cron: string, duration: string, timeZone?: string): WindowSpec =>
  timeZone === undefined ? { cron, duration } : { cron, duration, timeZone };

const iso = (moment: number | null): string | null =>
  moment === null ? null : new Date(moment).toISOString().replace(':00.000Z', 'Z');

/** Moments within which a window is open: every change of `open` from `from` on. */
function changes(windows: readonly WindowsSpec[], from: string, to: string): readonly string[] {
  const found: string[] = [];
  let moment: number | null = at(from);
  let open = windowsState(windows, moment).open;
  for (let looked = 0; moment !== null && moment <= at(to) && looked < 1000; looked += 1) {
    const state = windowsState(windows, moment);
    if (state.open !== open) found.push(`${state.open ? 'open' : 'shut'} ${iso(moment)}`);
    open = state.open;
    moment = state.changesAt;
  }
  return found;
}

const BERLIN = 'Europe/Berlin';
const NIGHT = window('0 2 * * *', '4h', BERLIN);

describe('windows on the days on which clocks change', () => {
  const rows: readonly (readonly [string, WindowSpec, string, string, readonly string[]])[] = [
    [
      'begin an hour later by the wall when their hour does not exist, and last as long as ever',
      NIGHT,
      '2026-03-28T00:00Z',
      '2026-03-30T12:00Z',
      [
        'open 2026-03-28T01:00Z',
        'shut 2026-03-28T05:00Z',
        'open 2026-03-29T01:00Z',
        'shut 2026-03-29T05:00Z',
        'open 2026-03-30T00:00Z',
        'shut 2026-03-30T04:00Z',
      ],
    ],
    [
      'move on a beginning in the middle of the hour that is left out',
      window('30 2 * * *', '1h', BERLIN),
      '2026-03-29T00:00Z',
      '2026-03-29T12:00Z',
      ['open 2026-03-29T01:30Z', 'shut 2026-03-29T02:30Z'],
    ],
    [
      'last their duration over a change: 01:00 to 06:00 on the wall',
      window('0 1 * * *', '4h', BERLIN),
      '2026-03-28T20:00Z',
      '2026-03-29T12:00Z',
      ['open 2026-03-29T00:00Z', 'shut 2026-03-29T04:00Z'],
    ],
    [
      'begin once, at the first of the two, in the hour that comes twice',
      window('30 2 * * *', '30m', BERLIN),
      '2026-10-24T22:00Z',
      '2026-10-25T12:00Z',
      ['open 2026-10-25T00:30Z', 'shut 2026-10-25T01:00Z'],
    ],
    [
      'begin in both of them where every hour is meant',
      window('30 * * * *', '30m', BERLIN),
      '2026-10-25T00:00Z',
      '2026-10-25T02:10Z',
      ['open 2026-10-25T00:30Z', 'shut 2026-10-25T01:00Z', 'open 2026-10-25T01:30Z', 'shut 2026-10-25T02:00Z'],
    ],
    [
      'follow a zone of which the clocks go by half an hour',
      window('15 2 * * *', '1h', 'Australia/Lord_Howe'),
      '2026-10-03T10:00Z',
      '2026-10-03T20:00Z',
      ['open 2026-10-03T15:45Z', 'shut 2026-10-03T16:45Z'],
    ],
    [
      'begin at the first minute of a day that begins at 01:00',
      window('0 0 * * 0', '2h', 'America/Santiago'),
      '2026-09-06T00:00Z',
      '2026-09-06T12:00Z',
      ['open 2026-09-06T04:00Z', 'shut 2026-09-06T06:00Z'],
    ],
    [
      'go by the day of the zone, not by that of UTC',
      window('0 9 * * 1', '1h', 'Pacific/Auckland'),
      '2026-06-06T00:00Z',
      '2026-06-09T00:00Z',
      ['open 2026-06-07T21:00Z', 'shut 2026-06-07T22:00Z'],
    ],
  ];
  for (const [name, spec, from, to, expected] of rows) {
    it(name, () => assert.deepEqual(changes([layer([spec])], from, to), expected));
  }
});

describe('the calendar of a window', () => {
  it('has a leap day in leap years alone', () => {
    assert.deepEqual(changes([layer([window('0 0 29 2 *', '1h')])], '2027-12-31T00:00Z', '2029-03-02T00:00Z'), [
      'open 2028-02-29T00:00Z',
      'shut 2028-02-29T01:00Z',
    ]);
    assert.equal(windowsState([layer([window('0 0 29 2 *', '1h')])], at('2025-03-01T00:00Z')).changesAt, null);
  });

  const days: readonly (readonly [string, string, readonly string[]])[] = [
    [
      'either the day of month or the day of week, where both are restricted',
      '0 0 1 * 1',
      ['01', '02', '09', '16', '23', '30'],
    ],
    ['both, where one begins with a star', '0 0 */10 * 0-3', ['01', '11', '31']],
    ['the last day of the month', '0 0 L * *', ['31']],
    ['the second Tuesday', '0 0 * * 2#2', ['10']],
    ['the last Friday', '0 0 * * 5L', ['27']],
    ['the working day nearest to the first, a Sunday', '0 0 1W * *', ['02']],
    ['the last working day', '0 0 LW * *', ['31']],
    ['Sunday as 0 and as 7, and by name', '0 0 * * 7', ['01', '08', '15', '22', '29']],
    [
      'a range that goes over the end of the week',
      '0 0 * * sat-sun',
      ['01', '07', '08', '14', '15', '21', '22', '28', '29'],
    ],
  ];
  for (const [name, cron, expected] of days) {
    it(`means ${name}`, () => {
      const found = changes([layer([window(cron, '1h')])], '2026-02-28T12:00Z', '2026-03-31T12:00Z');
      assert.deepEqual(
        found.filter((line) => line.startsWith('open')).map((line) => line.slice(13, 15)),
        expected,
      );
    });
  }

  it('joins windows that are longer than their period', () => {
    const state = windowsState([layer([window('0 0,6,12 * * *', '7h')])], at('2026-03-02T01:00Z'));
    assert.equal(iso(state.changesAt), '2026-03-02T19:00Z');
    const always = windowsState([layer([window('0 * * * *', '60m')])], at('2026-03-02T01:00Z'));
    assert.ok(always.open && always.because.includes('without an end in sight'));
    assert.ok((always.changesAt ?? 0) > at('2026-03-03T01:00Z'), 'it is followed for a day and more');
  });
});

describe('several layers of windows', () => {
  const now = at('2026-03-02T03:00Z');

  it('are open where there are none', () => {
    assert.deepEqual(windowsState([null, undefined, layer([])], now), {
      open: true,
      because: 'no window restricts it',
      changesAt: null,
    });
  });

  it('that never allow at the same time do not open within 400 days', () => {
    const layers = [layer([window('0 0 1 1 *', '1h')]), layer([window('0 0 2 1 *', '1h')])];
    assert.equal(windowsState(layers, at('2026-01-03T00:00Z')).changesAt, null);
  });

  it('name the window that changes first, in whatever order they are written', () => {
    const [three, four] = [window('0 3 * * *', '2h'), window('0 4 * * *', '2h')];
    const [midnight, noon] = [at('2026-03-02T00:00Z'), at('2026-03-02T12:00Z')];
    for (const windows of [
      [three, four],
      [four, three],
    ]) {
      for (const moment of [midnight, noon]) {
        assert.match(windowsState([layer(windows)], moment).because, /"0 3 /);
        assert.match(windowsState([layer([], windows)], moment).because, /"0 3 /);
      }
      assert.match(windowsState([layer([], windows)], at('2026-03-02T04:30Z')).because, /"0 4 /);
    }
  });

  it('name no window that denies only after the others are shut', () => {
    for (const deny of [window('0 8 * * *', '1h'), window('0 5 * * *', '1h')]) {
      assert.ok(!windowsState([layer([NIGHT], [deny])], now).because.includes(deny.cron));
    }
    assert.ok(windowsState([layer([NIGHT], [window('59 4 * * *', '1h')])], now).because.includes('59 4'));
  });

  it('all have to allow', () => {
    const other = layer([window('0 4 * * *', '4h')]);
    assert.deepEqual(changes([layer([NIGHT]), other], '2026-03-02T00:00Z', '2026-03-02T12:00Z'), [
      'open 2026-03-02T04:00Z',
      'shut 2026-03-02T05:00Z',
    ]);
    assert.equal(
      windowsState([layer([NIGHT]), other], now).because,
      'the window "0 4 * * *" (4h) begins 2026-03-02 04:00 UTC',
    );
  });

  it('are shut by a window of any layer that denies, whatever is allowed', () => {
    const freeze = layer([], [window('0 0 20 12 *', '336h', BERLIN)]);
    const state = windowsState([layer([NIGHT]), freeze], at('2026-12-24T03:00Z'));
    assert.equal(state.open, false);
    assert.equal(
      state.because,
      'the window "0 0 20 12 *" (336h) denies changes until 2027-01-03 00:00 Europe/Berlin (2027-01-02 23:00 UTC)',
    );
    assert.equal(iso(state.changesAt), '2027-01-03T01:00Z');
  });

  it('say which window is open, until when, and what denies before that', () => {
    assert.equal(
      windowsState([layer([NIGHT], [window('0 4 * * *', '1h')])], now).because,
      'the window "0 2 * * *" (4h) is open until 2026-03-02 06:00 Europe/Berlin (2026-03-02 05:00 UTC), ' +
        'and the window "0 4 * * *" (1h) denies changes from 2026-03-02 04:00 UTC on',
    );
    assert.equal(
      windowsState([layer([], [window('0 4 * * *', '1h')])], now).because,
      'the window "0 4 * * *" (1h) denies changes only from 2026-03-02 04:00 UTC on',
    );
  });

  it('are shut by a window that this machine cannot read, allowing or denying', () => {
    const lost = window('0 2 * * *', '4h', 'Mars/Olympus_Mons');
    for (const layers of [layer([lost]), layer([NIGHT], [lost])]) {
      const state = windowsState([layers], now);
      assert.equal(state.open, false);
      assert.match(state.because, /cannot be read/);
    }
    assert.equal(windowsState([layer([lost, NIGHT])], now).open, true);
  });
});

const minutes = fc.integer({ min: at('2026-01-01T00:00Z') / 60_000, max: at('2026-12-31T00:00Z') / 60_000 });
const crons = fc.constantFrom('*/7 3,4 * * *', '0 0 1 * 1', '30 22 * * 5', '0 */5 * * *', '15 2 * 3,10 0', '* * * * *');
const zones = fc.constantFrom('UTC', BERLIN, 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe');

describe('what holds of every window', () => {
  it('is open if and only if it began in (now − duration, now]', () => {
    fc.assert(
      fc.property(crons, zones, fc.integer({ min: 1, max: 1000 }), minutes, (cron, zone, span, minute) => {
        const spec = window(cron, `${span}m`, zone);
        const schedule = readWindow(spec)?.schedule;
        assert.ok(schedule !== undefined);
        const now = minute * 60_000;
        const starts: number[] = [];
        for (let from = now - span * 60_000; ;) {
          const start = schedule.first(from, now);
          if (start === undefined) break;
          starts.push(start);
          from = start;
        }
        assert.equal(windowsState([layer([spec])], now).open, starts.length > 0);
        assert.equal(windowsState([layer([], [spec])], now).open, starts.length === 0);
        assert.equal(schedule.last(now - span * 60_000, now), starts.at(-1));
      }),
      { numRuns: runsOf(150, 6) },
    );
  });

  it('begins at the minutes of which the wall shows what the expression says', () => {
    const hours = fc.uniqueArray(fc.integer({ min: 4, max: 23 }), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(hours, fc.integer({ min: 0, max: 59 }), zones, minutes, (wanted, minute, zone, from) => {
        const spec = window(`${minute} ${wanted.join(',')} * * 1-5`, '1m', zone);
        const wall = new Intl.DateTimeFormat('en-GB', {
          timeZone: zone,
          weekday: 'short',
          timeStyle: undefined,
          hour: '2-digit',
          minute: '2-digit',
        });
        for (let moment = from; moment < from + 300; moment += 1) {
          const parts = new Map(wall.formatToParts(moment * 60_000).map(({ type, value }) => [type, value]));
          const meant =
            !['Sat', 'Sun'].includes(parts.get('weekday') ?? '') &&
            wanted.includes(Number(parts.get('hour'))) &&
            Number(parts.get('minute')) === minute;
          assert.equal(windowsState([layer([spec])], moment * 60_000).open, meant);
        }
      }),
      { numRuns: runsOf(20, 2) },
    );
  });

  it('does not change before the moment that it names', () => {
    fc.assert(
      fc.property(crons, crons, zones, fc.integer({ min: 1, max: 600 }), minutes, (allow, deny, zone, span, minute) => {
        const layers = [layer([window(allow, `${span}m`, zone)]), layer([], [window(deny, `${span}m`)])];
        const now = minute * 60_000;
        const { open, changesAt } = windowsState(layers, now);
        assert.ok(changesAt === null || changesAt > now);
        const until = Math.min(changesAt ?? Infinity, now + 300 * 60_000);
        const moments = Array.from(
          { length: 20 },
          (_, part) => now + Math.floor(((until - now) * part) / 20 / 60_000) * 60_000,
        );
        for (const moment of [...moments, until - 1]) assert.equal(windowsState(layers, moment).open, open);
      }),
      { numRuns: runsOf(30, 8) },
    );
  });
});
