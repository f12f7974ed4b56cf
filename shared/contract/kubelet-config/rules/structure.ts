import { formatPath, type Path } from '../position.ts';
import { abbreviateJson } from '../decode/abbreviate-json.ts';
import type { Field } from '../fields/field.ts';
import { childrenOf, existsIn, FIELDS, TYPE_FIELDS } from '../fields/fields.ts';
import { minorName, NEWEST_MINOR } from '../minor.ts';
import { sameButCase } from '../syntax/did-you-mean.ts';
import { type WrittenField, writtenFields } from '../written-fields.ts';
import { MOST_ADVICE, nameAdvice, typeAdvice } from './advice.ts';
import { type Complaint, oneOf } from './rule.ts';
import { type JsonType, type SchemaMismatch, schemaMismatchesIn } from './names-and-types.ts';
import { isMap } from '../../../runtime/maps.ts';

type Config = Readonly<Record<string, unknown>>;

/** Whatever has the wrong type or a name that no version knows, but for what is in fields that this minor drops. */
export function judgeStructure(config: Config, minor: number): readonly Complaint[] {
  const read = [...schemaMismatchesIn(config)].filter(({ at }) => isRead(at, minor));
  return read.map((mismatch, index) => complaintOf(mismatch, index < MOST_ADVICE));
}

/**
 * Names that no version knows, with nothing but null behind them: layers lose these on their way into one config, and with
 * them the intention to take a value back.
 */
export function judgeNulls(config: Config): readonly Complaint[] {
  const nulls = [...schemaMismatchesIn(config)].filter(({ fault, value }) => fault === 'unknown' && value === null);
  return nulls.map(({ at }, index) => unknownName(at, index < MOST_ADVICE));
}

/** Fields that other versions have and this one has not: the kubelet drops them with no more than a line in its log. */
export function judgeVersions(config: Config, minor: number): readonly Complaint[] {
  const complaints: Complaint[] = [];
  const enter = ({ field }: WrittenField): boolean => existsIn(field, minor);
  for (const { path, field } of writtenFields(config, enter)) {
    if (existsIn(field, minor)) continue;
    const isEarly = minor < (field.since ?? 0);
    const when = isEarly ? `came with ${minorName(field.since ?? 0)}` : `went after ${minorName(field.until ?? 0)}`;
    complaints.push({
      code: 'unknown-field',
      at: path,
      message: `the kubelet does not know ${formatPath(path)} and drops it: it ${when}`,
      suggestion: 'take it out, or put it into a pool of nodes that have it',
    });
  }
  return complaints;
}

/** Whether a kubelet of this minor gets as far as the path. */
function isRead(path: Path, minor: number): boolean {
  return path.every((_, index) => existsIn(FIELDS.get(patternOf(path.slice(0, index + 1))) ?? ANY, minor));
}

const ANY: Field = { kind: 'struct' };

function complaintOf({ at, value, fault }: SchemaMismatch, advise: boolean): Complaint {
  if (fault === 'unknown') return unknownName(at, advise);
  if (fault !== 'range') return wrongType(at, value, fault);
  return { code: 'out-of-range', at, message: `${abbreviateJson(value)} does not fit into the field's 32 bits` };
}

function unknownName(at: Path, advise: boolean): Complaint {
  const name = String(at.at(-1));
  const pattern = patternOf(at.slice(0, -1));
  const known = [...childrenOf(pattern), ...(pattern === '' ? TYPE_FIELDS : [])];
  const otherCase = sameButCase(name, known);
  if (otherCase !== undefined) {
    const message = `the kubelet tells upper and lower case apart and drops ${formatPath(at)}`;
    return { code: 'wrong-case', at, message, suggestion: `write ${otherCase}` };
  }
  const suggestion = advise ? nameAdvice(name, known) : undefined;
  const message = `no kubelet up to ${minorName(NEWEST_MINOR)} knows ${formatPath(at)}${strangersIn(name)}`;
  return { code: 'unknown-field', at, message, ...(suggestion === undefined ? {} : { suggestion }) };
}

/** Letters that look like others, and those that cannot be seen. */
function strangersIn(name: string): string {
  const codes = [...new Set(name.match(/[^ -~]/gu))].map((char) => char.codePointAt(0)?.toString(16).toUpperCase());
  return codes.length === 0 ? '' : `, which has U+${codes.map((code) => code?.padStart(4, '0')).join(' and U+')} in it`;
}

function wrongType(at: Path, value: unknown, wanted: readonly JsonType[]): Complaint {
  const pattern = patternOf(at);
  const field = FIELDS.get(pattern);
  if (value === null) {
    const message = 'null is fatal here, although it is fine in most other fields';
    return { code: 'wrong-type', at, message, suggestion: 'leave the field out to get its default' };
  }
  const wants = field?.kind === 'duration' ? 'a duration in quotes' : oneOf(wanted.map((type) => NAMES[type]));
  const message = `the kubelet wants ${wants} here and finds ${typeName(value)}`;
  const suggestion = typeAdvice(value, wanted, field, pattern);
  return { code: 'wrong-type', at, message, ...(suggestion === undefined ? {} : { suggestion }) };
}

const NAMES: Readonly<Record<JsonType, string>> = {
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map',
};

function typeName(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (isMap(value)) return 'a map';
  return typeof value === 'string' ? `the text ${abbreviateJson(value)}` : abbreviateJson(value);
}

const patternOf = (path: Path): string =>
  path.reduce<string>(
    (pattern, step) => (typeof step === 'number' ? `${pattern}[]` : pattern === '' ? step : `${pattern}.${step}`),
    '',
  );
