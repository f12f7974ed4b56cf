/** A value as JSON has it; `bigint` for whole numbers that a double cannot hold exactly. */
export type Scalar = string | number | bigint | boolean | null;

/** YAML's names of the types of scalars. */
export type ScalarType = 'null' | 'bool' | 'int' | 'float' | 'str';

/** The reading of a plain (unquoted) YAML scalar. */
export interface PlainReading {
  /** What the kubelet takes it for; undefined for what it does not take (`.nan`, `.inf`). */
  readonly value: Scalar | undefined;
  /** What it is to the kubelet; 5.0 is a `float`, although its value is 5. */
  readonly type: ScalarType;
  /** What YAML 1.2, and with it most editors and linters, takes it for, where that is something else. */
  readonly elsewhere?: Scalar;
}

const TRUE = new Set(['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON']);
const FALSE = new Set(['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF']);
const NULL = new Set(['', '~', 'null', 'Null', 'NULL']);
const NOT_FINITE = /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;
/** Behind a leading dot Go's own float syntax counts, with underscores between digits. */
const FRACTION = /^\.[0-9]+(?:_[0-9]+)*(?:[eE][-+]?[0-9]+(?:_[0-9]+)*)?$/;
const DECIMAL = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;

/**
 * Reads a plain scalar as the kubelet's YAML library does (go-yaml v2 under sigs.k8s.io/yaml, in all versions): YAML
 * 1.1's booleans and leading-zero octals, Go's prefixes, underscores; no base-60 numbers, and dates stay text.
 */
export function readPlain(text: string): PlainReading {
  const read = readAsKubelet(text);
  const elsewhere = readAsYaml12(text);
  return Object.is(read.value, elsewhere) || elsewhere === undefined ? read : { ...read, elsewhere };
}

function readAsKubelet(text: string): Omit<PlainReading, 'elsewhere'> {
  if (NULL.has(text)) return { type: 'null', value: null };
  if (TRUE.has(text)) return { type: 'bool', value: true };
  if (FALSE.has(text)) return { type: 'bool', value: false };
  if (NOT_FINITE.test(text)) return { type: 'float', value: undefined };
  if (text.startsWith('.')) return asFloat(text, FRACTION.test(text));
  if (!/^[-+0-9]/.test(text)) return { type: 'str', value: text };
  const digits = text.replaceAll('_', '');
  const integer = readGoInteger(digits);
  return integer === undefined ? asFloat(text, DECIMAL.test(digits)) : { type: 'int', value: integer };
}

/** What no double can hold stays text. */
function asFloat(text: string, isNumber: boolean): Omit<PlainReading, 'elsewhere'> {
  const value = isNumber ? finite(text.replaceAll('_', '')) : undefined;
  if (value === undefined) return { type: 'str', value: text };
  return { type: 'float', value: asWritten(value) };
}

/** Go writes whole doubles with the fewest digits that tell them apart, and reads those again. */
function asWritten(value: number): number | bigint {
  if (!Number.isInteger(value) || Number.isSafeInteger(value) || Math.abs(value) >= 1e21) return value;
  return BigInt(String(value));
}

/** Go's `strconv.ParseInt(s, 0, 64)` and, for what only that can hold, `ParseUint`. */
function readGoInteger(digits: string): number | bigint | undefined {
  // The one prefix that go-yaml reads by itself, sign inside.
  const inside = /^0b([-+])([01]+)$/.exec(digits);
  if (inside !== null) return readGoInteger(`${inside[1]}0b${inside[2]}`);
  const match = /^([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9][0-9]*))$/.exec(digits);
  if (match === null) return undefined;
  const [, sign = '', hex, binary, octal, decimal] = match;
  const prefixed = hex !== undefined ? `0x${hex}` : binary !== undefined ? `0b${binary}` : octal && `0o${octal}`;
  const size = BigInt(prefixed || (decimal ?? '0'));
  const value = sign === '-' ? -size : size;
  if (value < -(2n ** 63n) || value >= (sign === '' ? 2n ** 64n : 2n ** 63n)) return undefined;
  return exact(value);
}

/** YAML 1.2's core schema. */
function readAsYaml12(text: string): Scalar | undefined {
  if (NULL.has(text)) return null;
  if (/^(?:true|True|TRUE)$/.test(text)) return true;
  if (/^(?:false|False|FALSE)$/.test(text)) return false;
  if (NOT_FINITE.test(text)) return undefined;
  if (/^0o[0-7]+$|^0x[0-9a-fA-F]+$/.test(text)) return exact(BigInt(text));
  if (/^[-+]?[0-9]+$/.test(text)) return wholeNumber(text);
  return DECIMAL.test(text) ? finiteAsWritten(text) : text;
}

function finiteAsWritten(text: string): number | bigint | undefined {
  const value = finite(text);
  return value === undefined ? undefined : asWritten(value);
}

/** Whole numbers of up to 64 bits stay exact, larger ones become doubles, as in Go. */
function wholeNumber(text: string): number | bigint | undefined {
  const value = BigInt(text.replace('+', ''));
  return value < -(2n ** 63n) || value >= 2n ** 64n ? finiteAsWritten(text) : exact(value);
}

/** A number where a double holds it exactly, otherwise a bigint. */
export function exact(value: bigint): number | bigint {
  const double = Number(value);
  return Number.isSafeInteger(double) ? double : value;
}

/** Zero keeps its sign: JSON as Go writes it has -0, and an unsigned field does not take that. */
function finite(text: string): number | undefined {
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
}
