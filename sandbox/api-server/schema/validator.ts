import { Ajv, type ValidateFunction } from 'ajv';
import { keepsUnknown, memberSchema, type Schema } from '#sandbox/api-server/schema/structural.ts';
import { FORMATS, toJsonSchema } from '#sandbox/api-server/schema/to-json-schema.ts';
import { causeOf } from '#sandbox/api-server/schema/validation-causes.ts';
import type { Cause } from '#sandbox/api-server/status/refusal.ts';
import { isJson, memberOf } from '#sandbox/api-server/stored-object.ts';

/** All that is wrong with a value that has been shaped; empty where nothing is. */
export type Validate = (value: unknown) => readonly Cause[];

/** By schema, as text: every server of a process installs the same definitions, and to compile one takes longer than to start. */
const compiledSchemas = new Map<string, ValidateFunction>();

function compile(schema: Schema): ValidateFunction {
  const text = JSON.stringify(schema);
  const known = compiledSchemas.get(text);
  if (known !== undefined) return known;
  const ajv = new Ajv({ allErrors: true, strict: false, verbose: true, formats: FORMATS });
  const compiled = ajv.compile(toJsonSchema(schema));
  compiledSchemas.set(text, compiled);
  return compiled;
}

/** Compiles when it is first used. */
export function createValidator(schema: Schema): Validate {
  let compiled: ValidateFunction | undefined;
  return (value) => {
    compiled ??= compile(schema);
    void compiled(value);
    return [...(compiled.errors ?? []).map(causeOf), ...duplicatesIn(value, schema, '')];
  };
}

/** Items of a list that is a map or a set, and says the same thing twice. */
function duplicatesIn(value: unknown, schema: Schema, path: string): readonly Cause[] {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items === undefined) return [];
    const inItems = value.flatMap((item, index) => duplicatesIn(item, items, `${path}[${index}]`));
    return [...duplicateItems(value, schema, path), ...inItems];
  }
  if (!isJson(value) || keepsUnknown(schema)) return [];
  return Object.entries(value).flatMap(([key, member]) => {
    const known = memberSchema(schema, key);
    return known === undefined ? [] : duplicatesIn(member, known, path === '' ? key : `${path}.${key}`);
  });
}

function duplicateItems(items: readonly unknown[], schema: Schema, path: string): readonly Cause[] {
  const kind = schema['x-kubernetes-list-type'] ?? 'atomic';
  if (kind === 'atomic') return [];
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const identities = items.map((item) =>
    JSON.stringify(kind === 'set' ? item : Object.fromEntries(keys.map((key) => [key, memberOf(item, key)]))),
  );
  return identities.flatMap((identity, index): readonly Cause[] =>
    identities.indexOf(identity) === index
      ? []
      : [{ reason: 'FieldValueDuplicate', message: `Duplicate value: ${identity}`, field: `${path}[${index}]` }],
  );
}
