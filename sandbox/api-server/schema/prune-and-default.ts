import { keepsUnknown, memberSchema, type Schema } from '#sandbox/api-server/schema/structural.ts';
import { isJson } from '#sandbox/api-server/stored-object.ts';

/**
 * What the API server makes of a value before it judges it: unknown fields are dropped, nulls too unless the field is
 * nullable, and defaults are filled in (after the nulls are gone, so that null means "the default").
 */
export function pruneAndDefault(value: unknown, schema: Schema): unknown {
  if (Array.isArray(value)) {
    const { items } = schema;
    return items === undefined ? value : value.map((item) => pruneAndDefault(item, items));
  }
  return isJson(value) ? shapeObject(value, schema) : value;
}

function shapeObject(value: Readonly<Record<string, unknown>>, schema: Schema): Record<string, unknown> {
  const shaped: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    const known = memberSchema(schema, key);
    if (known === undefined) {
      if (keepsUnknown(schema)) shaped[key] = member;
    } else if (member !== null || known.nullable === true) {
      shaped[key] = pruneAndDefault(member, known);
    }
  }
  for (const [key, member] of Object.entries(schema.properties ?? {})) {
    if (shaped[key] === undefined && member.default !== undefined) {
      shaped[key] = pruneAndDefault(structuredClone(member.default), member);
    }
  }
  return shaped;
}
