import { type CronFieldError, validateDetailed } from 'node-cron';

/** A cron expression of five fields, read. What begins with `*` or `?` restricts nothing, as crontab(5) has it. */
export interface Cron {
  /** Ascending. */
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly months: ReadonlySet<number>;
  readonly daysOfMonth: ReadonlySet<number>;
  /** `L`, `L-3`, `15W` and `LW`. */
  readonly dateRules: readonly string[];
  /** 0 is Sunday. */
  readonly daysOfWeek: ReadonlySet<number>;
  /** `2#1` (the first Tuesday) and `5L` (the last Friday). */
  readonly weekdayRules: readonly string[];
  readonly anyHour: boolean;
  readonly anyDayOfMonth: boolean;
  readonly anyDayOfWeek: boolean;
}

type ReadCron =
  | { readonly ok: true; readonly cron: Cron }
  | { readonly ok: false; readonly problem: string; readonly suggestion: string };

const FIELDS = 'minute, hour, day of month, month, day of week';
const EXAMPLE = 'write it as "0 2 * * 1-5", which is 02:00 from Monday to Friday';

/** Reads a cron expression. The grammar is node-cron's, less the field of seconds and the `@daily` words. */
export function readCron(text: string): ReadCron {
  const fields = text.trim().split(/\s+/);
  if (fields.length !== 5) {
    const count = text.trim() === '' ? 'no fields' : `${fields.length} field${fields.length === 1 ? '' : 's'}`;
    return { ok: false, problem: `"${text}" has ${count} and needs five: ${FIELDS}`, suggestion: EXAMPLE };
  }
  const { valid, fields: parsed, errors } = validateDetailed(fields.join(' '));
  if (!valid || parsed === undefined) {
    return { ok: false, problem: `"${text}": ${problemOf(errors[0])}`, suggestion: EXAMPLE };
  }
  const [, hour = '', dayOfMonth = '', , dayOfWeek = ''] = fields;
  const cron: Cron = {
    minutes: ascending(parsed.minute),
    hours: ascending(parsed.hour),
    months: new Set(parsed.month),
    daysOfMonth: new Set(numbersIn(parsed.dayOfMonth)),
    dateRules: rulesIn(parsed.dayOfMonth),
    daysOfWeek: new Set(numbersIn(parsed.dayOfWeek)),
    weekdayRules: rulesIn(parsed.dayOfWeek),
    anyHour: isAny(hour),
    anyDayOfMonth: isAny(dayOfMonth),
    anyDayOfWeek: isAny(dayOfWeek),
  };
  return { ok: true, cron };
}

const isAny = (field: string): boolean => /^[*?]/.test(field);
const numbersIn = (values: readonly (number | string)[]): readonly number[] =>
  values.filter((value) => typeof value === 'number');
const rulesIn = (values: readonly (number | string)[]): readonly string[] =>
  values.filter((value) => typeof value === 'string').map((rule) => rule.toUpperCase());
const ascending = (values: readonly number[]): readonly number[] => [...new Set(values)].sort((a, b) => a - b);

const NAMES: Readonly<Record<string, string>> = {
  minute: 'minute (0 to 59)',
  hour: 'hour (0 to 23)',
  dayOfMonth: 'day of month (1 to 31)',
  month: 'month (1 to 12, or jan to dec)',
  dayOfWeek: 'day of week (0 to 7, or sun to sat)',
};

function problemOf(error: CronFieldError | undefined): string {
  const name = NAMES[error?.field ?? ''];
  if (error === undefined || name === undefined) return 'it is not a cron expression';
  if (error.message.includes('impossible')) return `no such month has a day ${error.value ?? ''}, so it never begins`;
  return `${error.value ?? 'that'} is no ${name}`;
}
