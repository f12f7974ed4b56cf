import type { Cron } from './cron.ts';

/** A calendar day, counted from 1970-01-01; the same number in every time zone. */
export type Day = number;

export const DAY_MS = 86_400_000;

interface CalendarDay {
  readonly date: number;
  readonly weekday: number;
  readonly daysInMonth: number;
}

function calendarDay(at: Date): CalendarDay {
  const daysInMonth = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 0)).getUTCDate();
  return { date: at.getUTCDate(), weekday: at.getUTCDay(), daysInMonth };
}

/**
 * Whether the expression means that day. Where both the day of month and the day of week are restricted, one of them is
 * enough: `0 0 1 * 1` is the first of the month and every Monday (crontab(5); Kubernetes' CronJobs do the same).
 */
export function matchesDay(cron: Cron, day: Day): boolean {
  const at = new Date(day * DAY_MS);
  if (!cron.months.has(at.getUTCMonth() + 1)) return false;
  const on = calendarDay(at);
  const byDate = cron.daysOfMonth.has(on.date) || cron.dateRules.some((rule) => isDate(rule, on));
  const byWeekday = cron.daysOfWeek.has(on.weekday) || cron.weekdayRules.some((rule) => isWeekday(rule, on));
  return cron.anyDayOfMonth || cron.anyDayOfWeek ? byDate && byWeekday : byDate || byWeekday;
}

/** `L`: the last day of the month, `L-3`: three days before it, `15W`: the working day nearest to the 15th, `LW`. */
function isDate(rule: string, on: CalendarDay): boolean {
  if (!rule.endsWith('W')) return on.date === on.daysInMonth - Number(rule.slice('L-'.length));
  const wanted = rule === 'LW' ? on.daysInMonth : Number.parseInt(rule, 10);
  return wanted <= on.daysInMonth && on.date === workingDayNear(wanted, on);
}

/** Saturdays give way to Friday and Sundays to Monday, without leaving the month. */
function workingDayNear(date: number, on: CalendarDay): number {
  const weekday = (((on.weekday + date - on.date) % 7) + 7) % 7;
  if (weekday === 6) return date === 1 ? 3 : date - 1;
  if (weekday === 0) return date === on.daysInMonth ? date - 2 : date + 1;
  return date;
}

/** `2#1`: the first Tuesday of the month; `5L`: its last Friday. */
function isWeekday(rule: string, on: CalendarDay): boolean {
  if (Number.parseInt(rule, 10) % 7 !== on.weekday) return false;
  const count = rule.split('#')[1];
  return count === undefined ? on.date > on.daysInMonth - 7 : Math.ceil(on.date / 7) === Number(count);
}

const FIRST_OF_2000: Day = Date.UTC(2000, 0, 1) / DAY_MS;

/** Twenty-eight years in which every date falls on every day of the week, leap days as well. */
const CALENDAR_DAYS = 28 * 366;

/** Whether there is any such day at all: there is none in `0 0 31 4,6 *`. */
export function matchesAnyDay(cron: Cron): boolean {
  for (let day = FIRST_OF_2000; day < FIRST_OF_2000 + CALENDAR_DAYS; day += 1) if (matchesDay(cron, day)) return true;
  return false;
}
