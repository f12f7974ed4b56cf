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

/** It grows only where agents of the version before would misread a file. */
const RECORD_VERSION = 2;

/** What every file of ours carries: its version, and the node whose agent wrote it. */
export const stampOf = (node: string): Raw => ({ version: RECORD_VERSION, node });

/** For a record that is whole, and that agents of another version wrote: not ours to guess at or to write over. */
export function otherFormat(what: string): GitopsError<'STATE_UNREADABLE'> {
  const message = `an agent of another version wrote it: ${what}`;
  return new GitopsError('STATE_UNREADABLE', message, { disposition: { kind: 'stalled', until: 'operator' } });
}

/**
 * What the agent of another node wrote says nothing about this one: it came with a copied disk, or the node was renamed.
 *
 * @throws CHECKPOINT_DAMAGED, STATE_UNREADABLE
 */
export function checkStamp(raw: Raw, node: string): Raw {
  if (checkVersion(raw)['node'] === node) return raw;
  throw damagedRecord(`it was written on node ${show(raw['node'])}, and this is node ${node}`);
}

/** @throws CHECKPOINT_DAMAGED, STATE_UNREADABLE */
export function checkVersion(raw: Raw): Raw {
  const { version } = raw;
  if (version === RECORD_VERSION) return raw;
  if (typeof version !== 'number' || !Number.isSafeInteger(version) || version < 1) {
    throw damagedRecord(`version is ${show(version)}`);
  }
  throw otherFormat(`in version ${version}, and this one knows version ${RECORD_VERSION}`);
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
