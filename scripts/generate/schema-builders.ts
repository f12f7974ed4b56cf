import type { Schema } from './schema-text.ts';

/** The words that the schemas of our own files are written in. */
export const described = (description: string): Schema => ({ description });

/** A map of which all keys are known; null is as if it were not written. */
export function map(about: string, properties: Schema, type: string | readonly string[] = ['object', 'null']): Schema {
  return { ...described(about), type, additionalProperties: false, properties };
}

export const enumeration = (about: string, words: readonly [string, ...string[]]): Schema => ({
  ...described(about),
  enum: [...words, null],
  default: words[0],
});
export const number = (about: string, minimum: number, maximum: number, usual: number): Schema => ({
  ...described(about),
  type: ['integer', 'null'],
  minimum,
  maximum,
  default: usual,
});
export const duration = (about: string, usual?: string): Schema => ({
  ...described(`${about}; such as 90s, 10m or 1h30m`),
  type: ['string', 'null'],
  pattern: '^(?=.)(?:[0-9]+h)?(?:[0-9]+m(?!s))?(?:[0-9]+s)?(?:[0-9]+ms)?$',
  ...(usual === undefined ? {} : { default: usual }),
});
export const amount = (about: string, minimum: number, usual?: number | string): Schema => ({
  ...described(`${about}; a count, or a percentage in quotes`),
  type: ['integer', 'string', 'null'],
  minimum,
  pattern: minimum === 0 ? '^(?:[0-9]{1,2}|0[0-9]{2}|100)%$' : '^(?:[1-9]|0[1-9]|[1-9][0-9]|00[1-9]|0[1-9][0-9]|100)%$',
  ...(usual === undefined ? {} : { default: usual }),
});
export const flag = (about: string): Schema => ({ ...described(about), type: ['boolean', 'null'], default: false });
export const line = (about: string, longest: number): Schema => ({
  ...described(about),
  type: ['string', 'null'],
  minLength: 1,
  maxLength: longest,
});

const LABEL_KEY = '^(?:[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$';
const LABEL_VALUE = { type: 'string', pattern: '^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$' };

export const SELECTOR: Schema = {
  matchLabels: {
    type: ['object', 'null'],
    propertyNames: { pattern: LABEL_KEY },
    additionalProperties: LABEL_VALUE,
  },
  matchExpressions: {
    type: ['array', 'null'],
    items: {
      type: 'object',
      required: ['key', 'operator'],
      additionalProperties: false,
      properties: {
        key: { type: 'string', pattern: LABEL_KEY },
        operator: { enum: ['In', 'NotIn', 'Exists', 'DoesNotExist'] },
        values: { type: ['array', 'null'], items: LABEL_VALUE },
      },
    },
  },
};
