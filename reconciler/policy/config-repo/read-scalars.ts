import type { Amount } from '#shared/contract/api/kubelet-pool.ts';
import { LONGEST_SPAN_MS } from '../windows/read-window.ts';
import { parseDuration } from '#shared/runtime/duration.ts';
import type { Path } from '#shared/contract/kubelet-config/position.ts';
import { abbreviateJson } from '#shared/contract/kubelet-config/decode/abbreviate-json.ts';
import { didYouMean, sameButCase } from '#shared/contract/kubelet-config/syntax/did-you-mean.ts';
import { type FileReport, placeName } from './file-report.ts';

/** Each of these gives the default for a missing value, and reports a wrong value and gives the default. */

/** Of a list in a KubeletPool, where deploy/crds says nothing else. What is longer, the API server refuses after the merge. */
export const MOST_ITEMS = 64;

/** The same of the text of a duration. */
export const LONGEST_DURATION_TEXT = 32;

export function checkLength(items: readonly unknown[], path: Path, most: number, report: FileReport): void {
  if (items.length <= most) return;
  report.error('out-of-range', path, `${placeName(path)} has ${items.length} items, and at most ${most} are taken`);
}

export function readInteger(
  value: unknown,
  path: Path,
  range: { readonly min: number; readonly max?: number; readonly default: number },
  report: FileReport,
): number {
  if (value === undefined) return range.default;
  if (typeof value === 'number' && Number.isInteger(value) && value >= range.min && value <= (range.max ?? Infinity)) {
    return value;
  }
  const bounds = range.max === undefined ? `of at least ${range.min}` : `from ${range.min} to ${range.max}`;
  report.error(
    'out-of-range',
    path,
    `${placeName(path)} is ${abbreviateJson(value)} and has to be a whole number ${bounds}`,
  );
  return range.default;
}

/** A duration of ours, kept as text. */
export function readDuration(
  value: unknown,
  path: Path,
  rule: { readonly zero: 'allowed' | 'refused'; readonly default: string },
  report: FileReport,
): string {
  if (value === undefined) return rule.default;
  const isText = typeof value === 'string' && value.length <= LONGEST_DURATION_TEXT;
  const span = isText ? parseDuration(value) : undefined;
  const isTooLong = span !== undefined && span > LONGEST_SPAN_MS;
  if (isText && span !== undefined && !isTooLong && (span > 0 || rule.zero === 'allowed')) return value;
  const long = isTooLong ? 'longer than 366 days (8784h)' : 'not a valid duration';
  const problem = span === 0 ? 'has to be more than 0s' : `is ${abbreviateJson(value)}, which is ${long}`;
  report.error('bad-duration', path, `${placeName(path)} ${problem}`, 'write it as 90s, 10m or 1h30m');
  return rule.default;
}

/** A count or a percentage (`"25%"`) of nodes. */
export function readAmount(
  value: unknown,
  path: Path,
  rule: { readonly min: number; readonly default: Amount },
  report: FileReport,
): Amount {
  if (value === undefined) return rule.default;
  if (Number.isSafeInteger(value) && (value as number) >= rule.min) return value as number;
  const percent = typeof value === 'string' ? /^(\d{1,3})%$/.exec(value)?.[1] : undefined;
  if (percent !== undefined && Number(percent) >= rule.min && Number(percent) <= 100) return `${Number(percent)}%`;
  const message = `${placeName(path)} is ${abbreviateJson(value)} and has to be a count from ${rule.min} on, or a percentage from ${rule.min}% to 100%`;
  report.error('out-of-range', path, message, 'write a number such as 2, or "10%"');
  return rule.default;
}

export function readWord<Word extends string>(
  value: unknown,
  path: Path,
  words: readonly [Word, ...Word[]],
  report: FileReport,
): Word {
  const word = value === undefined ? words[0] : words.find((candidate) => candidate === value);
  if (word !== undefined) return word;
  const meant = typeof value === 'string' ? (sameButCase(value, words) ?? didYouMean(value, words)) : undefined;
  const suggestion = meant === undefined ? `write ${words.join(' or ')}` : `did you mean ${meant}?`;
  report.error('unknown-value', path, `${placeName(path)} cannot be ${abbreviateJson(value)}`, suggestion);
  return words[0];
}

/** Text of one line: white space is a single space. Undefined for a missing value and for any other. */
export function readTextField(
  value: unknown,
  path: Path,
  rule: { readonly longest: number },
  report: FileReport,
): string | undefined {
  if (value === undefined) return undefined;
  const text = typeof value === 'string' ? value.trim().replaceAll(/\s+/g, ' ') : '';
  if (text !== '' && text.length <= rule.longest && !/\p{Cc}/u.test(text)) return text;
  const found =
    typeof value !== 'string' ? `is ${abbreviateJson(value)}` : text === '' ? 'is empty' : `has ${text.length}`;
  const message = `${placeName(path)} ${found} and has to be text of 1 to ${rule.longest} characters`;
  report.error('bad-text', path, message, typeof value === 'number' ? 'write it in quotes' : undefined);
  return undefined;
}

export function readFlag(value: unknown, path: Path, report: FileReport): boolean | undefined {
  if (value === undefined || typeof value === 'boolean') return value;
  report.error('wrong-type', path, `${placeName(path)} is ${abbreviateJson(value)}`, 'write true or false');
  return undefined;
}

/** A finite number. */
export const isNumber = (value: unknown): value is number => Number.isFinite(value);

/** An amount, which may be a fraction. */
export function readNumber(value: unknown, path: Path, report: FileReport): number {
  if (isNumber(value) && value >= 0) return value;
  report.error(
    'out-of-range',
    path,
    `${placeName(path)} is ${abbreviateJson(value)} and has to be a number of at least 0`,
  );
  return 0;
}

/** The items of a list with their places; an empty list is reported as well, and a longer one than a KubeletPool can hold. */
export function readList(
  value: unknown,
  path: Path,
  report: FileReport,
  most: number = MOST_ITEMS,
): readonly (readonly [unknown, Path])[] {
  if (value === undefined) return [];
  if (Array.isArray(value) && value.length > 0) {
    checkLength(value, path, most, report);
    return value.map((item, index) => [item ?? undefined, [...path, index]]);
  }
  report.error('wrong-type', path, `${placeName(path)} has to be a list of at least one`, 'write one, or leave it out');
  return [];
}
