import { contradictions } from './configz-compare.ts';
import { FIELDS, hasUnsetZero } from './fields/fields.ts';
import { minorNumber } from './minor.ts';
import { parseGoDuration } from './syntax/go-duration.ts';
import { writtenFields } from './written-fields.ts';
import { isMap, valueIn } from '../../runtime/maps.ts';

type Json = Readonly<Record<string, unknown>>;

/** Three whole configs of one kubelet. */
export interface RunningQuestion {
  /** What its files are to say. */
  readonly wanted: Json;
  /** What they say now. */
  readonly present: Json;
  /** `kubeletconfig` of its /configz. */
  readonly running: Json;
}

/**
 * Whether a kubelet runs a config already, so that a restart would change nothing: /configz shows every value of it, and
 * it takes back no value that the files set now. False where that cannot be proven.
 *
 * @param minor the kubelet's version (`v1.34.2`), as far as it is known
 */
export function provesRunning({ wanted, present, running }: RunningQuestion, minor?: string): boolean {
  const number = minorNumber(minor ?? '');
  return (
    keepsAll(present, wanted, '', number) &&
    contradictions(wanted, running, minor).length === 0 &&
    hasNoMore(wanted, running)
  );
}

/** A value that is left out, or set to zero, falls back to a default, which /configz does not tell from a set value. */
function keepsAll(present: Json, wanted: Json, path: string, minor: number | undefined): boolean {
  return Object.entries(present).every(([name, before]) => {
    const after = Object.hasOwn(wanted, name) ? wanted[name] : undefined;
    const below = path === '' ? name : `${path}.${name}`;
    if (before === null || before === undefined || (minor !== undefined && isUnset(before, below, minor))) return true;
    if (isMap(before)) return isMap(after) && keepsAll(before, after, below, minor);
    return after !== undefined && after !== null && (isZero(before) || !isZero(after));
  });
}

/** The kubelet takes zero there for nothing, and runs the default. */
function isUnset(value: unknown, path: string, minor: number): boolean {
  const field = FIELDS.get(path);
  return field !== undefined && !Array.isArray(value) && isZero(value) && hasUnsetZero(field, minor);
}

/** The kubelet runs no gate, signal or reservation that the config does not name. */
function hasNoMore(wanted: Json, running: Json): boolean {
  return [...writtenFields(wanted)].every(({ path, field, value }) => {
    if (!field.kind.endsWith('-map') || !isMap(value)) return true;
    const seen = valueIn(running, path);
    return !isMap(seen) || Object.keys(seen).every((key) => Object.hasOwn(value, key));
  });
}

const isZero = (value: unknown): boolean =>
  value === 0 ||
  value === false ||
  (typeof value === 'string' && (value === '' || parseGoDuration(value) === 0)) ||
  (Array.isArray(value) && value.length === 0);
