import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readCron } from '#reconciler/policy/windows/cron.ts';
import { DAY_MS, matchesDay } from '#reconciler/policy/windows/days.ts';
import { checkWindow, readWindow } from '#reconciler/policy/windows/read-window.ts';

/** The days of a month (`2026-04`) that an expression means. */
function daysIn(month: string, expression: string): readonly number[] {
  const read = readCron(expression);
  assert.ok(read.ok);
  const first = Date.parse(`${month}-01T00:00Z`);
  const days = Array.from({ length: 31 }, (_, index) => first / DAY_MS + index);
  return days
    .filter((day) => new Date(day * DAY_MS).toISOString().startsWith(month) && matchesDay(read.cron, day))
    .map((day) => new Date(day * DAY_MS).getUTCDate());
}

/** In 2026 the 31st of January is a Saturday, the 1st of March a Sunday, the 1st of August a Saturday, the 31st of May a Sunday. */
const rows: readonly (readonly [string, string, string, readonly number[]])[] = [
  ['the last day of a month of 30', '2026-04', '0 0 L * *', [30]],
  ['the last day of February', '2026-02', '0 0 l * *', [28]],
  ['the third day before the last', '2026-04', '0 0 L-3 * *', [27]],
  ['the tenth day before the last', '2026-04', '0 0 L-10 * *', [20]],
  ['no day before the first', '2026-02', '0 0 L-28 * *', []],
  ['the 1st and the last', '2026-04', '0 0 1,L * *', [1, 30]],
  ['the working day nearest to a working day: that one', '2026-03', '0 0 16W * *', [16]],
  ['the Friday before a Saturday', '2026-03', '0 0 14w * *', [13]],
  ['the Monday after a Sunday', '2026-03', '0 0 15W * *', [16]],
  ['the Monday after a Saturday that is the first', '2026-08', '0 0 1W * *', [3]],
  ['the Monday after a Sunday that is the first', '2026-03', '0 0 1W * *', [2]],
  ['the Friday before a Saturday that is the last', '2026-01', '0 0 LW * *', [30]],
  ['the Friday before a Sunday that is the last', '2026-05', '0 0 LW * *', [29]],
  ['the Friday before a Sunday, the 31st', '2026-05', '0 0 31W * *', [29]],
  ['no working day near a day that the month lacks', '2026-04', '0 0 31W * *', []],
  ['nor where the day after the last of it is a Saturday', '2027-04', '0 0 31W * *', []],
  ['the fifth Tuesday', '2026-03', '0 0 * * 2#5', [31]],
  ['no fifth Wednesday in a month of four', '2026-03', '0 0 * * 3#5', []],
  ['the first Sunday, the first of the month', '2026-03', '0 0 * * 7#1', [1]],
  ['the second Sunday, the eighth of the month', '2026-03', '0 0 * * 0#2', [8]],
  ['the last Tuesday of five', '2026-03', '0 0 * * 2L', [31]],
  ['the last Wednesday of four', '2026-03', '0 0 * * 3L', [25]],
  ['the last Sunday, by its other number', '2026-03', '0 0 * * 7l', [29]],
  ['every Monday and the last Friday', '2026-04', '0 0 * * 1,5L', [6, 13, 20, 24, 27]],
  ['a month by its name', '2026-04', '0 0 1 apr *', [1]],
  ['no day of another month', '2026-03', '0 0 1 4 *', []],
  ['a question mark as no restriction', '2026-03', '0 0 ? * 3#1', [4]],
  ['the day of month alone beside a question mark', '2026-03', '0 0 4 * ?', [4]],
  [
    'a list in which a star stands as a restriction, met every day',
    '2026-02',
    '0 0 1,* * 1',
    Array.from({ length: 28 }, (_, day) => day + 1),
  ],
  ['fields with white space around them', '2026-03', '  0  0 4  *\t* ', [4]],
];

describe('an expression means', () => {
  for (const [name, month, expression, expected] of rows) {
    it(name, () => assert.deepEqual(daysIn(month, expression), expected));
  }
});

describe('an expression', () => {
  it('that means a day of no month is refused, though each of its fields may be written', () => {
    const problems = checkWindow({ cron: '0 2 L-30 2 *', duration: '1h' });
    assert.deepEqual(
      problems.map(({ field, code }) => `${field} ${code}`),
      ['cron bad-cron'],
    );
  });

  it('has its hours and minutes in order, whatever order they are written in', () => {
    const read = readCron('30,0,30 3,2 * * *');
    assert.deepEqual(read.ok && [read.cron.hours, read.cron.minutes], [
      [2, 3],
      [0, 30],
    ]);
  });
});

describe('the beginnings of a window', () => {
  const at = (text: string): number => Date.parse(text);
  const [monday, tuesday] = [at('2026-03-02T02:00Z'), at('2026-03-03T02:00Z')];

  it('are looked for after a moment, and up to another', () => {
    const schedule = readWindow({ cron: '0 2 * * *', duration: '1h' })?.schedule;
    assert.equal(schedule?.first(monday, tuesday), tuesday);
    assert.equal(schedule?.first(monday, tuesday - 1), undefined);
    assert.equal(schedule?.first(monday - 1, tuesday), monday);
    assert.equal(schedule?.last(monday, tuesday), tuesday);
    assert.equal(schedule?.last(monday, tuesday - 1), undefined);
    assert.equal(schedule?.last(monday - 1, tuesday - 1), monday);
  });
});

describe('what a wall shows', () => {
  const zoneOf = (timeZone: string) => readWindow({ cron: '0 2 * * *', duration: '1h', timeZone })?.schedule.zone;
  const moment = Date.parse('2026-07-01T12:34:56.789Z');
  const shown = (timeZone: string): string => new Date(zoneOf(timeZone)?.wallAt(moment) ?? 0).toISOString();

  it('is the moment there, to the millisecond', () => {
    assert.equal(shown('UTC'), '2026-07-01T12:34:56.789Z');
    assert.equal(shown('Asia/Kolkata'), '2026-07-01T18:04:56.789Z');
    assert.equal(shown('Pacific/Kiritimati'), '2026-07-02T02:34:56.789Z');
    assert.equal(shown('America/St_Johns'), '2026-07-01T10:04:56.789Z');
  });

  it('has a day that may be another than that of UTC', () => {
    const day = Date.parse('2026-07-01T00:00Z') / DAY_MS;
    assert.equal(zoneOf('UTC')?.dayNear(moment), day);
    assert.equal(zoneOf('Pacific/Kiritimati')?.dayNear(moment), day + 1);
    assert.equal(zoneOf('Pacific/Pago_Pago')?.dayNear(Date.parse('2026-07-01T05:00Z')), day - 1);
  });

  it('may be the same at two moments, of which the first is meant, or both', () => {
    const day = Date.parse('2026-10-25T00:00Z') / DAY_MS;
    const [two, three] = [7_200_000, 10_800_000];
    const [first, second, after] = ['00:00', '01:00', '02:00'].map((time) => Date.parse(`2026-10-25T${time}Z`));
    assert.deepEqual(zoneOf('Europe/Berlin')?.moments(day, [two, three], false), [first, after]);
    assert.deepEqual(zoneOf('Europe/Berlin')?.moments(day, [two, three], true), [first, second, after]);
  });

  it('may be left out, and is then shown an hour later; what comes out the same comes once, and in order', () => {
    const day = Date.parse('2026-03-29T00:00Z') / DAY_MS;
    const [two, three] = [7_200_000, 10_800_000];
    assert.deepEqual(zoneOf('Europe/Berlin')?.moments(day, [three, two], false), [Date.parse('2026-03-29T01:00Z')]);
    const halfPast = two + 1_800_000;
    assert.deepEqual(zoneOf('Europe/Berlin')?.moments(day, [halfPast, three], false), [
      Date.parse('2026-03-29T01:00Z'),
      Date.parse('2026-03-29T01:30Z'),
    ]);
  });
});
