import { readFileSync } from 'node:fs';
import { Ajv, type ValidateFunction } from 'ajv';

const compiled = new Map<string, ValidateFunction>();
/** Strict: a keyword that ajv does not know, or that cannot matter where it stands, is an error in the schema. */
export function schemaAt(path: string): ValidateFunction {
  const known = compiled.get(path);
  if (known !== undefined) return known;
  // The last one is the YAML language server's own.
  const ajv = new Ajv({ strict: true, strictTypes: false, allErrors: true, keywords: ['patternErrorMessage'] });
  const schema = ajv.compile(JSON.parse(readFileSync(path, 'utf8')) as object);
  compiled.set(path, schema);
  return schema;
}

export const errorsOf = (schema: ValidateFunction): string =>
  (schema.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`).join('; ');
