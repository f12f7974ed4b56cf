import { isDeepStrictEqual } from 'node:util';
import type { Cause } from '#sandbox/api-server/status/refusal.ts';
import { isJson, type Json } from '#sandbox/api-server/stored-object.ts';

/** Largest sum of a ConfigMap's values, in bytes. */
const MAX_BYTES = 1024 * 1024;

const KEY_RULE =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

/** ValidateConfigMap and ValidateConfigMapUpdate of kubernetes/pkg/apis/core/validation. */
export function checkConfigMap(object: Json, before: Json | undefined): readonly Cause[] {
  return [...checkKeys(object), ...checkSize(object), ...(before === undefined ? [] : checkImmutable(object, before))];
}

const entriesOf = (value: unknown): readonly [string, unknown][] => (isJson(value) ? Object.entries(value) : []);

function checkKeys(object: Json): readonly Cause[] {
  return ['data', 'binaryData'].flatMap((part) =>
    entriesOf(object[part])
      .map(([key]) => key)
      .filter((key) => !/^[-._a-zA-Z0-9]+$/.test(key) || key.length > 253 || key === '.' || key.startsWith('..'))
      .map((key): Cause => {
        const message = `Invalid value: ${JSON.stringify(key)}: ${KEY_RULE}`;
        return { reason: 'FieldValueInvalid', message, field: `${part}[${key}]` };
      }),
  );
}

function checkSize(object: Json): readonly Cause[] {
  const text = entriesOf(object['data']).map(([, value]) => Buffer.byteLength(String(value)));
  const binary = entriesOf(object['binaryData']).map(([, value]) => Buffer.byteLength(String(value), 'base64'));
  const bytes = [...text, ...binary].reduce((sum, each) => sum + each, 0);
  if (bytes <= MAX_BYTES) return [];
  return [{ reason: 'FieldValueTooLong', message: `Too long: must have at most ${MAX_BYTES} bytes`, field: '[]' }];
}

function checkImmutable(object: Json, before: Json): readonly Cause[] {
  if (before['immutable'] !== true) return [];
  const changed = (field: string): boolean => !isDeepStrictEqual(object[field] ?? {}, before[field] ?? {});
  return [...(object['immutable'] === true ? [] : ['immutable']), ...['data', 'binaryData'].filter(changed)].map(
    (field) => ({
      reason: 'FieldValueForbidden',
      message: 'Forbidden: field is immutable when `immutable` is set',
      field,
    }),
  );
}
