import { renderTable } from '#cli/text-table.ts';

/** One measured thing: the same unit for subject and baseline, several runs each, taken in turn. */
export interface Measurement {
  readonly what: string;
  readonly unit: string;
  readonly subject: readonly number[];
  /** What it is compared with; named, because a figure without a baseline says nothing. */
  readonly baseline: { readonly what: string; readonly values: readonly number[] };
  /** The bound that was promised, in words, and whether the medians keep it. */
  readonly promise?: { readonly text: string; readonly kept: boolean };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** A time is promised as a ratio to its baseline in the same run: a busy machine slows down both. */
export const atMostTimes = (
  most: number,
  { subject, baseline }: Pick<Measurement, 'subject' | 'baseline'>,
): NonNullable<Measurement['promise']> => ({
  text: `at most ${most}×`,
  kept: median(subject) <= most * median(baseline.values),
});

/** A table of medians with their range; one line a measurement. */
export function renderMeasurements(measurements: readonly Measurement[]): string {
  const rows = measurements.map(({ what, unit, subject, baseline, promise }) => [
    what,
    show(subject, unit),
    `${show(baseline.values, unit)} ${baseline.what}`,
    ratio(median(subject), median(baseline.values)),
    promise === undefined ? '' : `${promise.kept ? 'kept' : 'BROKEN'}: ${promise.text}`,
  ]);
  return renderTable([['MEASURED', 'MEDIAN (RANGE)', 'BASELINE', 'RATIO', 'PROMISE'], ...rows]).join('\n');
}

/** Nothing is a multiple of nothing. */
const ratio = (subject: number, baseline: number): string =>
  baseline === 0 ? '–' : `${(subject / baseline).toFixed(2)}×`;

function show(values: readonly number[], unit: string): string {
  const digits = values.every(Number.isInteger) || median(values) >= 100 ? 0 : 2;
  const number = (value: number): string => value.toFixed(digits);
  const range = values.length > 1 ? ` (${number(Math.min(...values))}–${number(Math.max(...values))})` : '';
  return `${number(median(values))}${unit === '' ? '' : ` ${unit}`}${range}`;
}
