import type { Schema } from './schema-text.ts';

/** The words that the schemas of our own files are written in. */
export const described = (description: string): Schema => ({ description });

/**
 * What is said of a value that is not as its schema demands: code, sentence, advice, and the key below that it is about. The sentence may
 * hold `{at}`, its path; `{key}`, the end of that; `{value}`, what is written; `{is}`, how a text is wrong.
 */
export type Says = readonly [code: string, message: string, advice?: string, key?: string];

/** By the keyword that is violated; under `number` for a number in the place of a text, under `any` for all else. */
export const saying = (says: Readonly<Record<string, Says>>): Schema => ({ 'x-says': says });

/** A key without which its map is nothing, and what is said where it is missing. Not null either. */
export const needed = (
  schema: Schema,
  message: string,
  advice?: string,
  code = 'missing-field',
  key?: string,
): Schema => ({
  ...schema,
  ...Object.fromEntries(
    ['type', 'enum'].flatMap((key) => {
      const words = schema[key];
      return Array.isArray(words) ? [[key, words.filter((word) => word !== null && word !== 'null')]] : [];
    }),
  ),
  'x-missing': [code, message, advice ?? '', ...(key === undefined ? [] : [key])],
});

/** What is in the spec of a pool although nobody wrote it. Other defaults are only for people: a release that knows more keys writes no pool again. */
export const filled = (schema: Schema): Schema => ({ ...schema, 'x-filled': true });

const isNeeded = (schema: unknown): boolean => typeof schema === 'object' && schema !== null && 'x-missing' in schema;

/** A map of which all keys are known; null is as if it were not written. */
export function map(about: string, properties: Schema, type: string | readonly string[] = ['object', 'null']): Schema {
  const required = Object.keys(properties).filter((key) => isNeeded(properties[key]));
  return {
    ...described(about),
    type,
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
    properties,
  };
}

/** Of a list in a KubeletPool, where nothing else is said. */
const MOST_ITEMS = 64;

export const list = (about: string, items: Schema, maxItems = MOST_ITEMS): Schema => ({
  ...described(about),
  type: ['array', 'null'],
  maxItems,
  items,
});
export const listOfSome = (about: string, items: Schema, maxItems?: number): Schema => ({
  ...list(about, items, maxItems),
  minItems: 1,
});

export const enumeration = (about: string, words: readonly string[], usual?: string): Schema => ({
  ...described(about),
  enum: [...words, null],
  ...(usual === undefined ? {} : { default: usual }),
});

export const number = (about: string, demand: string, more: Schema = {}): Schema => ({
  ...described(about),
  type: ['number', 'null'],
  ...more,
  ...saying({ any: ['out-of-range', `{at} is {value} and has to be a number${demand}`] }),
});

export const integer = (about: string, minimum: number, maximum: number, usual?: number): Schema => ({
  ...number(about, ''),
  type: ['integer', 'null'],
  minimum,
  maximum,
  ...(usual === undefined ? {} : { default: usual }),
  ...saying({ any: ['out-of-range', `{at} is {value} and has to be a whole number from ${minimum} to ${maximum}`] }),
});

const TIME = '(?:[0-9]+h)?(?:[0-9]+m)?(?:[0-9]+s)?(?:[0-9]+ms)?';
const ZERO = { type: 'string', pattern: '^(?:0+(?:h|ms|m|s))+$' };
const HOW = 'write it as 90s, 10m or 1h30m';

export const duration = (about: string, usual?: string): Schema => ({
  ...described(`${about}; such as 90s, 10m or 1h30m`),
  type: ['string', 'null'],
  'x-format': 'span',
  minLength: 1,
  maxLength: 32,
  pattern: `^${TIME}$`,
  ...(usual === undefined ? {} : { default: usual }),
  ...saying({
    any: ['bad-duration', '{at} is {value}, which is not a valid duration', HOW],
    not: ['bad-duration', '{at} has to be more than 0s', HOW],
  }),
});
export const positiveDuration = (about: string, usual?: string): Schema => ({
  ...duration(about, usual),
  not: ZERO,
});
/** Or a word in its place. */
export const durationOr = (word: string, schema: Schema): Schema => ({
  ...schema,
  pattern: `^(?:${word}|${TIME})$`,
});

export const amount = (about: string, minimum: 0 | 1, usual?: number | string): Schema => ({
  ...described(`${about}; a count, or a percentage in quotes`),
  type: ['integer', 'string', 'null'],
  'x-format': 'amount',
  minimum,
  maximum: Number.MAX_SAFE_INTEGER,
  maxLength: 4,
  pattern: minimum === 0 ? '^(?:[0-9]{1,2}|0[0-9]{2}|100)%$' : '^(?:[1-9]|0[1-9]|[1-9][0-9]|00[1-9]|0[1-9][0-9]|100)%$',
  ...(usual === undefined ? {} : { default: usual }),
  ...saying({
    any: [
      'out-of-range',
      `{at} is {value} and has to be a count from ${minimum} on, or a percentage from ${minimum}% to 100%`,
      'write a number such as 2, or "10%"',
    ],
  }),
});

export const flag = (about: string): Schema => ({ ...described(about), type: ['boolean', 'null'], default: false });

/** Text of one line: white space is a single space. `format` names what more is asked of it. */
export const line = (about: string, maxLength: number, format = 'line'): Schema => ({
  ...described(about),
  type: ['string', 'null'],
  'x-format': format,
  minLength: 1,
  maxLength,
  pattern: '^[\\s\\P{Cc}]*$',
  not: { type: 'string', pattern: '^\\s*$' },
  ...saying({
    any: ['bad-text', `{at} {is} and has to be text of 1 to ${maxLength} characters`],
    number: ['bad-text', `{at} {is} and has to be text of 1 to ${maxLength} characters`, 'write it in quotes'],
  }),
});

const DNS_LABEL = '[a-z0-9](?:[-a-z0-9]*[a-z0-9])?';
const NAME = '[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?';
const HOW_KEY = 'write name or example.com/name';
const LABEL_KEY: Schema = {
  type: 'string',
  maxLength: 317,
  pattern: `^(?:(?=[^/]{1,253}/)${DNS_LABEL}(?:\\.${DNS_LABEL})*/)?${NAME}$`,
  ...saying({ any: ['bad-label', '{value} is not a valid label key', HOW_KEY] }),
};
const NOT_A_VALUE = '{value} is not a valid label value';
const LABEL_VALUE: Schema = {
  type: 'string',
  maxLength: 63,
  pattern: `^(?:${NAME})?$`,
  ...saying({
    any: ['bad-label', NOT_A_VALUE, 'at most 63 letters, digits, dots, dashes and underscores'],
    type: ['bad-label', NOT_A_VALUE, 'write "{value}" in quotes'],
  }),
};
const OPERATORS = ['In', 'NotIn', 'Exists', 'DoesNotExist'];

const LABELS: Schema = {
  ...described('Labels that must have exactly these values'),
  type: ['object', 'null'],
  maxProperties: 64,
  propertyNames: LABEL_KEY,
  additionalProperties: LABEL_VALUE,
  ...saying({ type: ['wrong-type', '{key} has to be a map of labels'] }),
};
const EXPRESSION = map(
  'A requirement',
  {
    key: { ...described('The label'), ...needed(LABEL_KEY, 'the expression has no key', HOW_KEY, 'bad-label', 'key') },
    operator: {
      ...needed({ enum: OPERATORS }, 'the expression has no operator', `write ${OPERATORS.join(', ')}`),
      ...described('How the label relates to the values'),
    },
    // For more nodes than this by name, a label of their own.
    values: list('Values for In and NotIn; none for the others', LABEL_VALUE, 256),
  },
  'object',
);

export const selector = (about: string): Schema =>
  map(about, { matchLabels: LABELS, matchExpressions: list('Further requirements', EXPRESSION) });

/** A selector that has to leave something out: one without requirements is a slip if it selects nodes or pods. */
export const narrowSelector = (about: string): Schema => ({
  ...selector(about),
  anyOf: [
    { type: 'null' },
    { required: ['matchLabels'], properties: { matchLabels: { type: 'object', minProperties: 1 } } },
    { required: ['matchExpressions'], properties: { matchExpressions: { type: 'array', minItems: 1 } } },
  ],
  ...saying({ anyOf: ['missing-field', 'the selector names no label, and would select all', 'write matchLabels'] }),
});

/** Written, and not as null. */
export const has = (key: string): Schema => ({
  type: 'object',
  required: [key],
  properties: { [key]: { not: { type: 'null' } } },
});
