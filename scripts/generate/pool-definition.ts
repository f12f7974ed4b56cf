import { readFileSync } from 'node:fs';
import { stringify } from 'yaml';
import { poolSchema } from './project-schemas.ts';
import { described, list } from './schema-builders.ts';
import type { Schema } from './schema-text.ts';

const FILE = 'deploy/crds/kubeletpools.yaml';

/** The definition of KubeletPool, of which the spec is what a `pool.yaml` can say, with every default filled in. */
export function generatePoolDefinition(): ReadonlyMap<string, string> {
  const text = readFileSync(`${import.meta.dirname}/../../${FILE}`, 'utf8');
  const { spec } = poolSchema()['properties'] as { readonly spec: Schema };
  const { fields: _, tolerate, ...properties } = spec['properties'] as Readonly<Record<string, Schema>>;
  const rollout = properties['rollout']?.['properties'] as Readonly<Record<string, Schema>>;
  const inCluster = {
    ...spec,
    ...described('The pool as git declares it, with every default filled in.'),
    properties: {
      ...properties,
      // A pool that is held to two specs has the steps of both.
      rollout: {
        ...properties['rollout'],
        properties: {
          ...rollout,
          steps: { ...rollout['steps'], maxItems: 2 * Number(rollout['steps']?.['maxItems']) },
        },
      },
      // With the cluster's own, what is optional is absent for nothing.
      drift: { ...properties['drift'], 'x-filled': false },
      tolerate: { ...tolerate, 'x-filled': false },
      allowFields: list(
        'Fields that may be set although they are denied by default',
        { type: 'string', minLength: 1, maxLength: 256 },
        400,
      ),
      keepFields: list(
        'With replace, the fields of the nodes’ own configs that keep their values, because policy denies them',
        { type: 'string', minLength: 1, maxLength: 256 },
        // What the cluster's file, the one before it and the pool deny, 200 each, and what is denied by default.
        700,
      ),
    },
  };
  const written = stringify({ spec: structural(inCluster) }, { lineWidth: 0, aliasDuplicateObjects: false });
  const indented = written.replaceAll(/^(?=.)/gm, ' '.repeat(12));
  return new Map([[FILE, text.replace(/^ {12}spec:\n[^]*?(?=^ {12}status:\n)/m, () => indented)]]);
}

/** A pool that is held to two specs may be held to a count and a percentage: `2,10%`. */
const BOTH = { maxLength: 21, prefix: '^(?:[0-9]{1,16},)?' };

const VERBATIM = ['enum', 'minimum', 'maximum', 'minLength', 'maxLength', 'maxItems', 'maxProperties'];
/** What the regular expressions of Go do not have. */
const LOOKS_AROUND = /\(\?<?[=!]/;

/** What a definition can say of a schema: one type, and no branches. Nulls are gone before it is asked. */
function structural(written: Schema): Schema {
  const isAmount = written['x-format'] === 'amount';
  const schema = isAmount
    ? { ...written, maxLength: BOTH.maxLength, pattern: String(written['pattern']).replace('^', BOTH.prefix) }
    : written;
  const { type = 'string', pattern, properties, additionalProperties: others, items } = schema;
  const filled = (below: Schema): boolean => below['x-filled'] === true || 'x-missing' in below;
  const keys = Object.entries((properties ?? {}) as Readonly<Record<string, Schema>>);
  const needed = keys.filter(([, below]) => filled(below)).map(([key]) => key);
  const said = VERBATIM.flatMap((key) => (schema[key] === undefined ? [] : [[key, withoutNull(schema[key])]]));
  const { description, minItems } = schema;
  // What is filled in without a default is filled in as nothing.
  const isFilledEmpty = schema['x-filled'] === true && schema['default'] === undefined;
  return {
    ...(isAmount ? { 'x-kubernetes-int-or-string': true } : { type: withoutNull([type].flat())[0] }),
    ...Object.fromEntries(said),
    ...(typeof description !== 'string' ? {} : { description: description.replace(/[^.]$/, '$&.') }),
    ...(minItems === undefined || isFilledEmpty ? {} : { minItems }),
    ...(typeof pattern !== 'string' || LOOKS_AROUND.test(pattern) ? {} : { pattern }),
    ...(needed.length === 0 ? {} : { required: needed }),
    ...(keys.length === 0
      ? {}
      : { properties: Object.fromEntries(keys.map(([key, below]) => [key, structural(below)])) }),
    ...(typeof others === 'object' ? { additionalProperties: structural(others as Schema) } : {}),
    ...(items === undefined ? {} : { items: structural(items as Schema) }),
  };
}

const withoutNull = <T>(value: T): T =>
  (Array.isArray(value) ? value.filter((word) => word !== null && word !== 'null') : value) as T;
