import { MachineAmount, writeAmount } from './machine-amount.ts';
import { type LeafBounds, boundAmount, boundNumber, resourceOf, unitOfKey } from './bounds.ts';
import type { Expression } from './expression.ts';
import type { Machine } from './machine.ts';
import { allInputs, type Inputs } from './expression-inputs.ts';

/** A field of a config that follows the machine. */
export interface ComputedLeaf {
  /** Last part of the field's path: `memory`, `maxPods`. */
  readonly key: string;
  readonly expression: Expression;
  readonly bounds: LeafBounds;
  /** The profile that it comes from; absent where the layer says it itself. */
  readonly profile?: string;
}

type FieldValue = { readonly value: string | number | boolean } | { readonly because: string };

/** What a leaf comes to for the machine that stands for a class. */
export function valueOfLeaf({ key, expression, bounds }: ComputedLeaf, machine: Machine): FieldValue {
  const result = expression.of(machine);
  if ('because' in result) return result;
  const { value } = result;
  const resource = resourceOf(key);
  if (bounds.maxShare !== undefined && resource !== undefined && machine[resource] === undefined) {
    return { because: `the Node does not say its ${resource}, of which it may take ${bounds.maxShare}` };
  }
  if (value instanceof MachineAmount)
    return { value: writeAmount(boundAmount(value, bounds, key, machine), unitOfKey(key)) };
  return { value: typeof value === 'number' ? boundNumber(value, bounds) : value };
}

/** What a leaf asks of the machine; how much there is of what it takes a part of, too: it may not take all. */
export function inputsOfLeaf({ key, expression }: ComputedLeaf): Inputs {
  const resource = resourceOf(key);
  return resource === undefined
    ? expression.inputs
    : allInputs([expression.inputs, { variables: new Set([resource]), labels: [] }]);
}

/** Stands for a leaf in a config that is yet to be made: the same words for the same meaning. No file's text begins like this. */
export const placeholderOfLeaf = ({ key, expression, bounds }: ComputedLeaf): string =>
  `\0computed ${JSON.stringify([key, expression.text, bounds.min, bounds.max, bounds.maxShare])}`;
