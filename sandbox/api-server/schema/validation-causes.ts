import type { ErrorObject } from 'ajv';
import type { Cause } from '#sandbox/api-server/status/refusal.ts';

/** One of ajv's complaints as the API server words it. */
export function causeOf(error: ErrorObject): Cause {
  const { keyword, data } = error;
  const params: Readonly<Record<string, unknown>> = error.params;
  const field = fieldOf(error.instancePath);
  if (keyword === 'required') {
    return {
      reason: 'FieldValueRequired',
      message: 'Required value',
      field: join(field, String(params['missingProperty'])),
    };
  }
  if (keyword === 'enum') {
    const allowed = (params['allowedValues'] as readonly unknown[]).map((value) => JSON.stringify(value));
    const message = `Unsupported value: ${JSON.stringify(data)}: supported values: ${allowed.join(', ')}`;
    return { reason: 'FieldValueNotSupported', message, field };
  }
  const { value, demand } = complaint(keyword, params, data);
  const shown = typeof value === 'string' ? JSON.stringify(value) : String(value);
  const reason = keyword === 'type' ? 'FieldValueTypeInvalid' : 'FieldValueInvalid';
  return { reason, message: `Invalid value: ${shown}: ${field} in body ${demand}`, field };
}

function complaint(
  keyword: string,
  params: Readonly<Record<string, unknown>>,
  data: unknown,
): { readonly value: unknown; readonly demand: string } {
  const limit = String(params['limit']);
  const count = Array.isArray(data) ? data.length : Object.keys(data ?? {}).length;
  switch (keyword) {
    case 'type': {
      const types = [params['type']].flat().filter((type) => type !== 'null');
      return { value: typeOf(data), demand: `must be of type ${types.join(',')}: "${typeOf(data)}"` };
    }
    case 'format':
      return { value: data, demand: `must be of type ${String(params['format'])}: ${JSON.stringify(data)}` };
    case 'pattern':
      return { value: data, demand: `should match '${String(params['pattern'])}'` };
    case 'minLength':
      return { value: data, demand: `should be at least ${limit} chars long` };
    case 'maxLength':
      return { value: data, demand: `should be at most ${limit} chars long` };
    case 'minimum':
      return { value: data, demand: `should be greater than or equal to ${limit}` };
    case 'maximum':
      return { value: data, demand: `should be less than or equal to ${limit}` };
    case 'minItems':
      return { value: count, demand: `should have at least ${limit} items` };
    case 'maxItems':
      return { value: count, demand: `should have at most ${limit} items` };
    case 'minProperties':
      return { value: count, demand: `should have at least ${limit} properties` };
    case 'maxProperties':
      return { value: count, demand: `should have at most ${limit} properties` };
    default:
      return { value: typeOf(data), demand: `breaks the rule "${keyword}"` };
  }
}

/** A JSON value's type as Go's validator names it. */
function typeOf(data: unknown): string {
  if (data === null) return 'null';
  if (Array.isArray(data)) return 'array';
  if (typeof data === 'number') return Number.isInteger(data) ? 'integer' : 'number';
  return typeof data;
}

const join = (path: string, key: string): string => (path === '' ? key : `${path}.${key}`);

/** `/status/rejected/0/name` is `status.rejected[0].name` (the servers before 1.21 left the index out). */
function fieldOf(instancePath: string): string {
  return instancePath
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((path, segment) => (/^\d+$/.test(segment) ? `${path}[${segment}]` : join(path, segment)), '');
}
