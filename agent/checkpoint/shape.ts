import { GitopsError } from '#shared/runtime/errors.ts';

/** What was read from disk and is yet to be believed. */
export type Raw = Readonly<Record<string, unknown>>;

/** For content that is not what we wrote. Whoever reads a file catches it and goes on without the file. */
export function damaged(what: string, cause?: unknown): GitopsError<'CHECKPOINT_DAMAGED'> {
  return new GitopsError('CHECKPOINT_DAMAGED', what, cause === undefined ? {} : { cause });
}

/** @throws CHECKPOINT_DAMAGED, as all of these do */
export function asRecord(value: unknown, what: string): Raw {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Raw;
  throw damaged(`${what} is no map`);
}

export function textIn(raw: Raw, key: string, shape = /^[^]*$/): string {
  const value = raw[key];
  if (typeof value === 'string' && shape.test(value)) return value;
  throw damaged(`${key} is ${show(value)}`);
}

export function optionalText(raw: Raw, key: string): string | undefined {
  return raw[key] === undefined || raw[key] === null ? undefined : textIn(raw, key);
}

/** None where it is missing. */
export function textsIn(raw: Raw, key: string): readonly string[] {
  const value = raw[key] ?? [];
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value;
  throw damaged(`${key} is ${show(value)}`);
}

/** A span or a count: finite and not negative. */
export function amountIn(raw: Raw, key: string): number {
  const value = raw[key];
  if (typeof value === 'number' && Number.isFinite(value) && value >= 0) return value;
  throw damaged(`${key} is ${show(value)}`);
}

export function flagIn(raw: Raw, key: string): boolean {
  const value = raw[key];
  if (typeof value === 'boolean') return value;
  throw damaged(`${key} is ${show(value)}`);
}

export function wordIn<const Word extends string>(raw: Raw, key: string, words: readonly Word[]): Word {
  const word = words.find((candidate) => candidate === raw[key]);
  if (word !== undefined) return word;
  throw damaged(`${key} is ${show(raw[key])}`);
}

/** The version that every file of ours carries; a newer release's file is not ours to guess at. */
export function expectVersion(raw: Raw, version: number): void {
  if (raw['version'] !== version) throw damaged(`version is ${show(raw['version'])}, not ${version}`);
}

const show = (value: unknown): string =>
  value === undefined ? 'missing' : (JSON.stringify(value) ?? typeof value).slice(0, 80);

/** @throws CHECKPOINT_DAMAGED */
export function parseJson(text: string): Raw {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw damaged('it is no JSON', error);
  }
  return asRecord(value, 'the file');
}
