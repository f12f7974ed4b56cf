import { Ajv, type ErrorObject } from 'ajv';
import type { Field } from '#shared/contract/kubelet-config/fields/field.ts';
import { childrenOf, FIELDS, TYPE_FIELDS } from '#shared/contract/kubelet-config/fields/fields.ts';

type Schema = Readonly<Record<string, unknown>>;

/**
 * The table of fields as a JSON schema, judged by ajv: a second opinion on the names and types of a config.
 *
 * @returns faults as a JSON pointer and, behind a space, `unknown`, `range` or the types that fit
 */
export function jsonSchemaFaults(): (config: unknown) => readonly string[] {
  const matches = new Ajv({ allErrors: true, strictTypes: false }).compile({ ...structSchema(''), definitions: KINDS });
  return (config) => (matches(config) ? [] : (matches.errors ?? []).map(faultOf));
}

/** A path as a JSON pointer. */
export function pointer(path: readonly (string | number)[]): string {
  return path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

function faultOf({ instancePath, keyword, params }: ErrorObject): string {
  if (keyword === 'additionalProperties')
    return `${instancePath}${pointer([String(params['additionalProperty'])])} unknown`;
  if (keyword !== 'type') return `${instancePath} range`;
  const types: readonly unknown[] = [params['type']].flat();
  return `${instancePath} ${types.filter((type) => type !== 'null').join(',')}`;
}

const ref = (kind: string): Schema => ({ $ref: `#/definitions/${kind}` });
const orNull = (type: string, more: Schema = {}): Schema => ({ type: [type, 'null'], ...more });

const KINDS: Readonly<Record<string, Schema>> = {
  string: orNull('string'),
  bool: orNull('boolean'),
  int64: orNull('integer'),
  int32: orNull('integer', { minimum: -(2 ** 31), maximum: 2 ** 31 - 1 }),
  uint32: orNull('integer', { minimum: 0, maximum: 2 ** 32 - 1 }),
  float: orNull('number'),
  // A duration that is no pointer takes no null: Go's decoder calls its own reader of text even then.
  duration: { type: 'string' },
  'duration-or-nanoseconds': { type: ['string', 'integer', 'null'] },
  quantity: { type: ['string', 'number', 'null'] },
  'string-list': orNull('array', { items: ref('string') }),
  'int32-list': orNull('array', { items: ref('int32') }),
  'string-map': orNull('object', { additionalProperties: ref('string') }),
  'bool-map': orNull('object', { additionalProperties: ref('bool') }),
  'quantity-map': orNull('object', { additionalProperties: ref('quantity') }),
  'string-list-map': orNull('object', { additionalProperties: ref('string-list') }),
};

function structSchema(path: string): Schema {
  const properties: Record<string, Schema> = {};
  if (path === '') for (const name of TYPE_FIELDS) properties[name] = ref('string');
  for (const name of childrenOf(path)) {
    const below = path === '' ? name : `${path}.${name}`;
    const field = FIELDS.get(below);
    if (field === undefined) throw new Error(`${below} is not in the table`);
    if (field.kind === 'struct') properties[name] = structSchema(below);
    else if (field.kind === 'struct-list') properties[name] = orNull('array', { items: structSchema(`${below}[]`) });
    else properties[name] = ref(definitionOf(field));
  }
  return orNull('object', { properties, additionalProperties: false });
}

function definitionOf(field: Field): string {
  const { kind } = field;
  return kind === 'time' || (kind === 'duration' && field.pointer === true) ? 'string' : kind;
}
