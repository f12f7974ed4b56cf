import { gateSpec } from '#shared/contract/kubelet-config/feature-gates/feature-gates.ts';
import type { Field } from '#shared/contract/kubelet-config/fields/field.ts';
import { existsIn, FIELDS, valuesOf } from '#shared/contract/kubelet-config/fields/fields.ts';
import type { Schema } from './schema-text.ts';

/** These words, and unset. */
export const enumOf = (values: readonly string[], { pointer }: Field): Schema => ({
  enum: [...values, ...(pointer === true ? [] : ['']), null],
});

/** The gate without which a kubelet of the minor does not look at the words of a field; undefined if it always does. */
export function gateOfValues({ gate, valuesGate }: Field, minor: number): string | undefined {
  if (gate !== undefined || valuesGate === undefined) return gate;
  const spec = gateSpec(valuesGate, minor);
  return spec === undefined || spec.locked ? undefined : valuesGate;
}

/** Conditions on a whole document: while its gate is off, the kubelet does not look at the words of a field. */
export function valuesBehindGates(minor: number): Schema {
  const allOf = [...FIELDS].flatMap(([path, field]) => {
    const values = valuesOf(field, minor);
    const gate = gateOfValues(field, minor);
    if (values === undefined || gate === undefined || !existsIn(field, minor)) return [];
    const there = path
      .split('.')
      .reduceRight<Schema>((inner, name) => ({ properties: { [name]: inner } }), enumOf(values, field));
    return [{ if: { not: gateIsOn(gate, minor) }, else: there }];
  });
  return allOf.length === 0 ? {} : { allOf };
}

function gateIsOn(gate: string, minor: number): Schema {
  const spec = gateSpec(gate, minor);
  if (spec === undefined) return { not: {} };
  const gates = (more: Schema): Schema => ({
    required: ['featureGates'],
    properties: { featureGates: { type: 'object', ...more } },
  });
  const isNamed = (name: string): Schema => gates({ required: [name], properties: { [name]: true } });
  const isTrue = (name: string): Schema => gates({ required: [name], properties: { [name]: { const: true } } });
  const unnamed = { not: isNamed(gate) };
  const byDefault = (schema: Schema): readonly Schema[] => (spec.default ? [schema] : []);
  const all = spec.stage === 'alpha' ? 'AllAlpha' : spec.stage === 'beta' ? 'AllBeta' : undefined;
  if (all === undefined) return { anyOf: [isTrue(gate), ...byDefault(unnamed)] };
  const unspoken = { not: { anyOf: [isNamed(gate), isNamed(all)] } };
  return { anyOf: [isTrue(gate), { allOf: [unnamed, isTrue(all)] }, ...byDefault(unspoken)] };
}
