import { GitopsError } from '#shared/runtime/errors.ts';

/** What was read from disk and is yet to be believed. */
export type Raw = Readonly<Record<string, unknown>>;

/** For content that is not what we wrote. The reader of a file catches it and goes on without the file. */
export function damagedRecord(what: string, cause?: unknown): GitopsError<'CHECKPOINT_DAMAGED'> {
  return new GitopsError('CHECKPOINT_DAMAGED', what, cause === undefined ? {} : { cause });
}

/** @throws CHECKPOINT_DAMAGED, as all of these do */
export function asRecord(value: unknown, what: string): Raw {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Raw;
  throw damagedRecord(`${what} is not a map`);
}

/** A text, of this shape where one is given. */
export function textIn(raw: Raw, key: string, shape = /^[^]*$/): string {
  const value = raw[key];
  if (typeof value === 'string' && shape.test(value)) return value;
  throw damagedRecord(`${key} is ${show(value)}`);
}

/** Undefined if missing or null. */
export function optionalText(raw: Raw, key: string): string | undefined {
  return raw[key] === undefined || raw[key] === null ? undefined : textIn(raw, key);
}

/** None if missing. */
export function textsIn(raw: Raw, key: string): readonly string[] {
  const value = raw[key] ?? [];
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value;
  throw damagedRecord(`${key} is ${show(value)}`);
}

/** A span or a count: finite and not negative. */
export function amountIn(raw: Raw, key: string): number {
  const value = raw[key];
  if (typeof value === 'number' && Number.isFinite(value) && value >= 0) return value;
  throw damagedRecord(`${key} is ${show(value)}`);
}

export function flagIn(raw: Raw, key: string): boolean {
  const value = raw[key];
  if (typeof value === 'boolean') return value;
  throw damagedRecord(`${key} is ${show(value)}`);
}

/** One of these words. */
export function wordIn<const Word extends string>(raw: Raw, key: string, words: readonly Word[]): Word {
  const word = words.find((candidate) => candidate === raw[key]);
  if (word !== undefined) return word;
  throw damagedRecord(`${key} is ${show(raw[key])}`);
}

/** Turns what a version of a file said into what the next one says. It loses nothing that the next one can say. */
export type Migration = (older: Raw) => Raw;

/**
 * A file's content as this release has it. Every file of ours carries a version, which grows only where an older release
 * would misread the file: what a release can leave out or overlook needs no other version.
 *
 * @param migrations from version 1 to 2, from 2 to 3, and so on; this release's version is one more than there are
 * @throws CHECKPOINT_TOO_NEW where a newer release wrote it: it is whole, and not ours to guess at or to write over
 * @throws CHECKPOINT_DAMAGED
 */
export function migrateRecord(raw: Raw, migrations: readonly Migration[] = []): Raw {
  const { version } = raw;
  const ours = migrations.length + 1;
  if (typeof version !== 'number' || !Number.isSafeInteger(version) || version < 1) {
    throw damagedRecord(`version is ${show(version)}`);
  }
  if (version > ours) {
    const message = `a newer release wrote it, in version ${version}; this one knows version ${ours} and older ones`;
    throw new GitopsError('CHECKPOINT_TOO_NEW', message, { disposition: { kind: 'stalled', until: 'operator' } });
  }
  return migrations.slice(version - 1).reduce((older, migrate) => migrate(older), raw);
}

const show = (value: unknown): string =>
  value === undefined ? 'missing' : (JSON.stringify(value) ?? typeof value).slice(0, 80);

/** @throws CHECKPOINT_DAMAGED */
export function parseRaw(text: string): Raw {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw damagedRecord('it is not JSON', error);
  }
  return asRecord(value, 'the file');
}
