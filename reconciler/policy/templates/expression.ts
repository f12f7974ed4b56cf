import type { Environment } from '@marcbachmann/cel-js';
import { reasonOf } from '#shared/runtime/errors.ts';
import { MachineAmount } from './machine-amount.ts';
import { createLanguage, MOST_CHARACTERS, type Variable, VARIABLES } from './expression-language.ts';
import type { Machine } from './machine.ts';
import { type ExpressionFault, type Inputs, inputsOfTree } from './expression-inputs.ts';

/** What an expression comes to for one machine. */
export type Result =
  | { readonly value: MachineAmount | string | number | boolean }
  /** A clause: why there is no value. */
  | { readonly because: string };

export interface Expression {
  readonly text: string;
  readonly inputs: Inputs;
  /** Pure: the same machine gives the same result. */
  readonly of: (machine: Machine) => Result;
}

/** What a field of a config may be. */
const RESULTS: ReadonlySet<string> = new Set(['Quantity', 'string', 'int', 'double', 'bool']);

let language: Environment | undefined;

/** Reads an expression and checks its types; nothing that passes here can run for long. */
export function compile(text: string): Expression | ExpressionFault {
  if (text.length > MOST_CHARACTERS) {
    return { message: `it has ${text.length} characters, and at most ${MOST_CHARACTERS} are read`, at: 1 };
  }
  language ??= createLanguage();
  try {
    const parsed = language.parse(text);
    const inputs = inputsOfTree(parsed.ast);
    if ('message' in inputs) return inputs;
    const { valid, type = 'nothing', error } = parsed.check();
    if (!valid) return faultOf(error);
    if (!RESULTS.has(type)) return { message: `it gives ${type}, which no field takes`, at: 1 };
    return { text, inputs, of: (machine) => evaluate(parsed, inputs, machine) };
  } catch (error) {
    return faultOf(error);
  }
}

function faultOf(error: unknown): ExpressionFault {
  const { summary = reasonOf(error), range } = error as { readonly summary?: string; readonly range?: Range };
  return { message: summary, at: (range?.start ?? 0) + 1 };
}

interface Range {
  readonly start: number;
}

function evaluate(run: (context: Context) => unknown, inputs: Inputs, machine: Machine): Result {
  const missing = [...inputs.variables].filter((name) => name !== 'labels' && valueOf(name, machine) === undefined);
  if (missing.includes('numaNodes')) return { because: 'its agent does not say its numaNodes' };
  if (missing.length > 0) return { because: `the Node does not say its ${missing.join(', ')}` };
  const context = Object.fromEntries(VARIABLES.map((name) => [name, valueOf(name, machine)]));
  const labels = new Map(inputs.labels.flatMap((name) => entryOf(machine.labels, name)));
  try {
    return checked(run({ ...context, labels }));
  } catch (error) {
    const { message } = faultOf(error);
    const label = /^No such key: (.*)$/.exec(message)?.[1];
    return { because: label === undefined ? message : `the Node has no label ${label}` };
  }
}

type Context = Readonly<Record<string, unknown>>;

function entryOf(labels: Machine['labels'], name: string): readonly (readonly [string, string])[] {
  const value = Object.hasOwn(labels, name) ? labels[name] : undefined;
  return value === undefined ? [] : [[name, value]];
}

/** As CEL takes it; undefined where the machine does not say. */
function valueOf(name: Variable, { cpu, memory, ephemeralStorage, maxPods, numaNodes, arch }: Machine): unknown {
  const amount = (size: number | undefined): MachineAmount | undefined =>
    size === undefined ? undefined : new MachineAmount(size);
  const whole = (count: number | undefined): bigint | undefined =>
    count === undefined ? undefined : BigInt(Math.floor(count));
  switch (name) {
    case 'cpu':
      return amount(cpu);
    case 'milliCpu':
      return whole(cpu === undefined ? undefined : cpu * 1000);
    case 'memory':
      return amount(memory);
    case 'ephemeralStorage':
      return amount(ephemeralStorage);
    case 'maxPods':
      return whole(maxPods);
    case 'numaNodes':
      return whole(numaNodes);
    case 'arch':
      return arch;
    case 'labels':
      return undefined;
  }
}

function checked(value: unknown): Result {
  if (value instanceof MachineAmount) {
    if (!Number.isFinite(value.size)) return { because: 'it comes to no finite amount' };
    return value.size < 0 ? { because: 'it comes to less than nothing' } : { value };
  }
  if (typeof value === 'string' || typeof value === 'boolean') return { value };
  const number = Number(value);
  return Number.isFinite(number) && Math.abs(number) <= Number.MAX_SAFE_INTEGER
    ? { value: number }
    : { because: 'it comes to a number that no field takes' };
}
