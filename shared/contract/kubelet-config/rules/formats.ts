import type { Path } from '../position.ts';
import { abbreviateJson } from '../decode/abbreviate-json.ts';
import { didYouMean, sameButCase } from '../syntax/did-you-mean.ts';
import { parseGoDuration } from '../syntax/go-duration.ts';
import { parseQuantity, trimmedQuantity } from '../syntax/quantity.ts';
import { gateSpec } from '../feature-gates/feature-gates.ts';
import { valuesOf } from '../fields/fields.ts';
import type { ConfigView } from '../config-view.ts';
import { type WrittenField } from '../written-fields.ts';
import { type Complaint, oneOf } from './rule.ts';
import { isMap } from '../../../runtime/maps.ts';

/** What is wrong with one field's value by itself: bounds, words, durations, quantities, as the table has them. */
export function judgeFormat(written: WrittenField, config: ConfigView): readonly Complaint[] {
  const { field, value, path } = written;
  switch (field.kind) {
    case 'duration':
      return typeof value === 'string' ? duration(value, path) : [];
    case 'duration-or-nanoseconds':
      return durationOrNanoseconds(value, path, config.minor);
    case 'quantity':
      return quantity(value, path);
    case 'quantity-map':
      return isMap(value) ? Object.entries(value).flatMap(([key, item]) => quantity(item, [...path, key])) : [];
    case 'time':
      return typeof value === 'string' ? time(value, path) : [];
    case 'int32':
    case 'int64':
    case 'uint32':
      return range(written);
    case 'string':
      return typeof value === 'string' ? word(written, value, config) : [];
    case 'string-list':
      return Array.isArray(value) ? value.flatMap((item, index) => listWord(written, item, index, config)) : [];
    case 'bool':
    case 'float':
    case 'struct':
    case 'struct-list':
    case 'int32-list':
    case 'string-map':
    case 'bool-map':
    case 'string-list-map':
      return [];
  }
}

function duration(text: string, at: Path): readonly Complaint[] {
  if (parseGoDuration(text) !== undefined) return [];
  const suggestion = /^[-+]?\d+$/.test(text) ? `write "${text}s" if seconds are meant` : durationHint(text);
  return [{ code: 'bad-duration', at, message: `${abbreviateJson(text)} is not a valid duration`, suggestion }];
}

function durationHint(text: string): string {
  const days = /^(\d+)\s*(d|w)$/i.exec(text);
  if (days !== null) return `write "${Number(days[1]) * (days[2]?.toLowerCase() === 'w' ? 168 : 24)}h"`;
  const lower = text.toLowerCase().replaceAll(' ', '');
  return parseGoDuration(lower) === undefined ? 'write hours, minutes and seconds such as "1h30m"' : `write "${lower}"`;
}

function durationOrNanoseconds(value: unknown, at: Path, minor: number): readonly Complaint[] {
  if (typeof value !== 'string') return beyond64Bits(value, at);
  if (minor >= 28) return duration(value, at);
  const message = 'kubelets up to 1.27 take this duration as a number of nanoseconds only';
  const nanoseconds = parseGoDuration(value);
  const suggestion = nanoseconds === undefined ? {} : { suggestion: `write ${nanoseconds}` };
  return [{ code: 'wrong-type', at, message, ...suggestion }];
}

function quantity(value: unknown, at: Path): readonly Complaint[] {
  // Spaces around it are cut off here, and only here: line ends and tabs are escaped by then.
  if (typeof value !== 'string' || parseQuantity(trimmedQuantity(value)) !== undefined) return [];
  return [badQuantity(value, at)];
}

/** Also for the fields that are plain text to the decoder and a quantity to those who read them. */
export function badQuantity(text: string, at: Path): Complaint {
  const bare = text.replaceAll(/\s/g, '');
  const fixed = [bare, bare.replace(/([kmgtpe])(i?)b?$/i, unitAsMeant)].find(
    (guess) => guess !== text && parseQuantity(guess) !== undefined,
  );
  const suggestion = fixed === undefined ? 'write an amount such as 500m, 1.5Gi or 100Mi' : `write ${fixed}`;
  return { code: 'bad-quantity', at, message: `${abbreviateJson(text)} is not a valid quantity`, suggestion };
}

/** `gb` as `G`, `KIB` as `Ki`. */
const unitAsMeant = (_: string, unit: string, binary: string): string =>
  binary === '' && /k/i.test(unit) ? 'k' : unit.toUpperCase() + binary.toLowerCase();

function time(text: string, at: Path): readonly Complaint[] {
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[-+]\d\d:\d\d)$/.test(text) && !Number.isNaN(Date.parse(text)))
    return [];
  const suggestion = 'write it as 2030-01-31T12:00:00Z';
  return [{ code: 'bad-time', at, message: `${abbreviateJson(text)} is not an RFC 3339 time`, suggestion }];
}

const INT64_MAX = 2n ** 63n - 1n;

function beyond64Bits(value: unknown, at: Path): readonly Complaint[] {
  if (typeof value !== 'bigint' && !Number.isInteger(value)) return [];
  const number = BigInt(value as number | bigint);
  if (number <= INT64_MAX && number >= -INT64_MAX - 1n) return [];
  return [{ code: 'out-of-range', at, message: `${number} does not fit into 64 bits` }];
}

function range({ field, value, path }: WrittenField): readonly Complaint[] {
  if (typeof value !== 'bigint' && !Number.isInteger(value)) return [];
  const number = BigInt(value as number | bigint);
  const beyond = field.kind === 'int64' ? beyond64Bits(value, path) : [];
  if (beyond.length > 0) return beyond;
  // What does not fit the type was judged with the structure.
  if (field.kind !== 'int64' && (number >= 2n ** 32n || number < -(2n ** 31n))) return [];
  if (field.kind === 'int32' && number >= 2n ** 31n) return [];
  // Zero stands for "unset" in fields that are no pointers.
  if (number === 0n && field.pointer !== true) return [];
  if (number >= (field.min ?? -Infinity) && number <= (field.max ?? Infinity)) return [];
  const bounds = field.max === undefined ? `at least ${field.min}` : `from ${field.min ?? 0} to ${field.max}`;
  return [
    { code: 'out-of-range', at: path, message: `${number} is out of range: the kubelet takes numbers ${bounds}` },
  ];
}

function word({ field, path }: WrittenField, value: string, config: ConfigView): readonly Complaint[] {
  const isUnset = value === '' && field.pointer !== true;
  if (isUnset || (field.gate !== undefined && !config.gate(field.gate))) return [];
  const { valuesGate } = field;
  if (valuesGate !== undefined && gateSpec(valuesGate, config.minor) !== undefined && !config.gate(valuesGate))
    return [];
  const usual = field.usualValues;
  if (usual !== undefined && !usual.includes(value))
    return [{ ...unknownValue(value, usual, path), severity: 'warning' }];
  const values = valuesOf(field, config.minor);
  return values === undefined || values.includes(value) ? [] : [unknownValue(value, values, path)];
}

function listWord(
  { field, path }: WrittenField,
  item: unknown,
  index: number,
  config: ConfigView,
): readonly Complaint[] {
  const values = valuesOf(field, config.minor);
  const text = item ?? '';
  if (values === undefined || typeof text !== 'string' || values.includes(text)) return [];
  return [unknownValue(text, values, [...path, index])];
}

/** Complaint about a word that is none of those that the kubelet knows in this place. */
export function unknownValue(value: string, values: readonly string[], at: Path): Complaint {
  const meant = sameButCase(value, values) ?? didYouMean(value, values);
  const known = values.length <= 10 ? `write ${oneOf(values)}` : undefined;
  const suggestion = meant === undefined ? known : `did you mean ${meant}?`;
  const message = `${abbreviateJson(value)} is not a value that the kubelet knows here`;
  return { code: 'unknown-value', at, message, ...(suggestion === undefined ? {} : { suggestion }) };
}
