import { normalize } from 'node:path';
import { GitopsError } from '#shared/runtime/errors.ts';
import type { GuardedFile, GuardOrder } from '../ports/guard.ts';

/** Names one version of the file, for the script that is copied together with it. */
const HEADER = 'kubelet-gitops-guard 1';

/** A plan without it was not written to its end. */
const END = 'end';

const MOST_FILES = 400;
const MOST_COUNT = 999_999_999;

interface PlanFor {
  readonly unit: string;
  readonly dropIn: string;
}

/**
 * The order as the guard's script reads it: one word and its value a line.
 *
 * @throws GitopsError GUARD_ORDER for an order that cannot be written like that
 */
export function encodePlan(order: GuardOrder, { unit, dropIn }: PlanFor): string {
  const { trial, to, maxStarts, silenceSeconds, restore, limits = {}, watch } = order;
  if (restore.length > MOST_FILES) throw refused(`has ${restore.length} files to restore`);
  if (new Set(restore.map(({ path }) => path)).size < restore.length) throw refused('names a file twice');
  for (const count of [maxStarts, silenceSeconds]) {
    if (!Number.isInteger(count) || count < 0 || count > MOST_COUNT) throw refused(`has ${count} for a number`);
  }
  const lines = [
    HEADER,
    `trial ${oneLine(trial)}`,
    `to ${oneLine(to)}`,
    `unit ${nameOfUnit(unit)}`,
    `max-starts ${maxStarts}`,
    `silence ${silenceSeconds}`,
    `drop-in ${absolute(dropIn)}`,
    ...(watch === undefined ? [] : [`watch ${oneLine(watch)}`]),
    ...restore.map((file) => `${wordOf(file)} ${absolute(file.path)}`),
    ...Object.entries(limits).map(([name, value]) => `limit ${oneLine(name)}=${oneLine(value)}`),
    END,
  ];
  return `${lines.join('\n')}\n`;
}

/** An empty file is a mistake for the guard, unless the order says so. */
const wordOf = ({ bytes }: GuardedFile): string =>
  bytes === null ? 'remove' : bytes.length === 0 ? 'put-empty' : 'put';

function oneLine(text: string): string {
  if (/[\n\r\0]/.test(text)) throw refused(`has a line break in ${JSON.stringify(text)}`);
  return text;
}

/** As the script has it: the name becomes an argument of systemctl. */
const UNIT = /^(?!-)[\w@.:\\-]+$/;

function nameOfUnit(text: string): string {
  if (!UNIT.test(text)) throw refused(`names ${JSON.stringify(text)}, which is not a unit`);
  return text;
}

function absolute(path: string): string {
  if (!path.startsWith('/') || normalize(path) !== path || path.endsWith('/')) {
    throw refused(`names ${JSON.stringify(path)}, which is not an absolute path of a file`);
  }
  return oneLine(path);
}

function refused(what: string): GitopsError {
  return new GitopsError('GUARD_ORDER', `the guard cannot be told what to restore: its order ${what}`, {
    disposition: { kind: 'stalled', until: 'operator' },
  });
}

export interface ReadPlan extends PlanFor {
  readonly trial: string;
  readonly to: string;
  /** Where nothing is on trial, see `GuardOrder.watch`. */
  readonly watch?: string;
}

/** @returns undefined where the guard would not act on it either */
export function decodePlan(bytes: Buffer | null): ReadPlan | undefined {
  const lines = bytes?.toString('utf8').split('\n') ?? [];
  if (lines[0] !== HEADER || lines.at(-2) !== END || lines.at(-1) !== '') return undefined;
  const values = new Map<string, string>();
  for (const line of lines.slice(1, -2)) {
    const [word, value] = splitOnce(line);
    if (!WORDS.includes(word) || value === undefined) return undefined;
    values.set(word, value);
  }
  const [trial, to, unit, dropIn] = ['trial', 'to', 'unit', 'drop-in'].map((word) => values.get(word));
  if (trial === undefined || to === undefined || unit === undefined || dropIn === undefined) return undefined;
  if (!UNIT.test(unit)) return undefined;
  const hasNumbers = ['max-starts', 'silence'].every((word) => /^(?:0|[1-9]\d{0,8})$/.test(values.get(word) ?? ''));
  const watch = values.get('watch');
  return hasNumbers ? { trial, to, unit, dropIn, ...(watch === undefined ? {} : { watch }) } : undefined;
}

const WORDS = [
  'trial',
  'to',
  'unit',
  'max-starts',
  'silence',
  'drop-in',
  'watch',
  'put',
  'put-empty',
  'remove',
  'limit',
];

const splitOnce = (line: string): readonly [string, string | undefined] => {
  const at = line.indexOf(' ');
  return at < 0 ? [line, undefined] : [line.slice(0, at), line.slice(at + 1)];
};
