import type { Schema } from '#sandbox/api-server/schema/structural.ts';

const VERBATIM = [
  'required',
  'enum',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
] as const;

/** Formats that the API server checks; `int32` and its like only say how a client should hold the value. */
export const FORMATS = {
  'date-time': /^\d{4}-\d\d-\d\d[tT]\d\d:\d\d:\d\d(\.\d+)?([zZ]|[+-]\d\d:\d\d)$/,
  /** `metav1.MicroTime` is read with exactly six digits. */
  'micro-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(Z|[+-]\d\d:\d\d)$/,
};

/** A structural schema in the words of JSON Schema, for ajv. */
export function toJsonSchema(schema: Schema): Record<string, unknown> {
  const { properties, additionalProperties, items, format } = schema;
  const types = schema['x-kubernetes-int-or-string'] === true ? ['integer', 'string'] : [schema.type].filter(isDefined);
  return {
    ...Object.fromEntries(VERBATIM.filter((key) => schema[key] !== undefined).map((key) => [key, schema[key]])),
    ...(types.length === 0 ? {} : { type: schema.nullable === true ? [...types, 'null'] : types }),
    ...(format !== undefined && Object.hasOwn(FORMATS, format) ? { format } : {}),
    ...(items === undefined ? {} : { items: toJsonSchema(items) }),
    ...(properties === undefined
      ? {}
      : { properties: Object.fromEntries(Object.entries(properties).map(([key, each]) => [key, toJsonSchema(each)])) }),
    ...(typeof additionalProperties === 'object' ? { additionalProperties: toJsonSchema(additionalProperties) } : {}),
  };
}

const isDefined = <T>(value: T | undefined): value is T => value !== undefined;
