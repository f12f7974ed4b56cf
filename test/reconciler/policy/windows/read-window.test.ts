import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkWindow, readWindow } from '#reconciler/policy/windows/read-window.ts';
import type { WindowSpec } from '#shared/contract/api/kubelet-pool.ts';

const good: WindowSpec = { cron: '0 2 * * 1-5', duration: '4h', timeZone: 'Europe/Berlin' };

describe('a window that is misspelt or impossible', () => {
  const rows: readonly (readonly [string, Partial<WindowSpec>, string, RegExp])[] = [
    ['too few fields', { cron: '0 2 * *' }, 'cron bad-cron', /has 4 fields and needs five/],
    ['no fields', { cron: '' }, 'cron bad-cron', /has no fields/],
    ['a field of seconds', { cron: '0 0 2 * * *' }, 'cron bad-cron', /has 6 fields and needs five/],
    ['a word instead of fields', { cron: '@daily' }, 'cron bad-cron', /has 1 field and needs five/],
    ['an hour that is none', { cron: '0 24 * * *' }, 'cron bad-cron', /24 is no hour \(0 to 23\)/],
    ['a day of week that is none', { cron: '0 2 * * mo' }, 'cron bad-cron', /mo/],
    ['letters that mean nothing', { cron: '0 2 * * $' }, 'cron bad-cron', /is not a cron expression/],
    ['the thirtieth of February', { cron: '0 2 30 2 *' }, 'cron bad-cron', /no such month has a day 30/],
    ['days that none of its months has', { cron: '0 2 31 4,6 *' }, 'cron bad-cron', /never begins/],
    ['a duration in days', { duration: '2d' }, 'duration bad-duration', /"2d" is not a valid duration/],
    ['no duration', { duration: '0s' }, 'duration bad-duration', /longer than 0s/],
    ['a negative duration', { duration: '-1h' }, 'duration bad-duration', /is not a valid duration/],
    ['more than a year', { duration: '8784h1s' }, 'duration bad-duration', /longer than 366 days/],
    ['an unknown time zone', { timeZone: 'Europe/Berlni' }, 'timeZone bad-time-zone', /did you mean Europe\/Berlin/],
    [
      'a time zone in small letters',
      { timeZone: 'europe/berlin' },
      'timeZone bad-time-zone',
      /did you mean Europe\/Berlin/,
    ],
    ['UTC in small letters', { timeZone: 'utc' }, 'timeZone bad-time-zone', /did you mean UTC/],
    ['an offset for a time zone', { timeZone: '+01:00' }, 'timeZone bad-time-zone', /not a time zone of the IANA/],
  ];
  for (const [name, wrong, expected, words] of rows) {
    it(`has ${name}`, () => {
      const spec = { ...good, ...wrong };
      const [problem, ...more] = checkWindow(spec);
      assert.ok(problem !== undefined);
      assert.deepEqual([`${problem.field} ${problem.code}`, more], [expected, []]);
      assert.match(`${problem.message} (${problem.suggestion})`, words);
      assert.equal(readWindow(spec), undefined);
    });
  }
});

describe('a window that is right', () => {
  const rows: readonly (readonly [string, WindowSpec])[] = [
    ['in UTC without saying so', { cron: '*/15 * * * *', duration: '5m' }],
    ['on a leap day', { cron: '0 0 29 2 *', duration: '1h' }],
    ['on a leap day that is a fifth Sunday', { cron: '0 0 29 2 *', duration: '8784h' }],
    ['in a zone with a second name', { cron: '0 0 * jan,dec sun', duration: '1h30m', timeZone: 'US/Pacific' }],
    ['over midnight', { cron: '0 22-2 * * *', duration: '1h', timeZone: 'Asia/Kolkata' }],
    ['on a Tuesday of patches', { cron: '0 18 * * 2#2', duration: '12h', timeZone: 'America/New_York' }],
  ];
  for (const [name, spec] of rows) {
    it(`stands ${name}`, () => {
      assert.deepEqual(checkWindow(spec), []);
      assert.ok(readWindow(spec) !== undefined);
    });
  }
});
