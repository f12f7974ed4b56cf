import { Environment } from '@marcbachmann/cel-js';
import { MachineAmount, readMachineAmount } from './machine-amount.ts';

/** What an expression may ask of the machine. */
export const VARIABLES = [
  'cpu',
  'milliCpu',
  'memory',
  'ephemeralStorage',
  'maxPods',
  'numaNodes',
  'arch',
  'labels',
] as const;
export type Variable = (typeof VARIABLES)[number];

const TYPES: Readonly<Record<Variable, string>> = {
  cpu: 'Quantity',
  milliCpu: 'int',
  memory: 'Quantity',
  ephemeralStorage: 'Quantity',
  maxPods: 'int',
  numaNodes: 'int',
  arch: 'string',
  labels: 'map<string, string>',
};

/** Functions of the language besides the operators; of CEL's own, those that cost no more than their text is long. */
export const FUNCTIONS: ReadonlySet<string> = new Set([
  'quantity',
  'min',
  'max',
  'between',
  'floor',
  'ceil',
  'round',
  'int',
  'double',
  'string',
  'has',
]);
export const METHODS: ReadonlySet<string> = new Set(['startsWith', 'endsWith', 'contains']);

/** Characters of an expression, and nodes and levels of its tree. */
export const MOST_CHARACTERS = 1000;
const MOST_NODES = 200;
const MOST_LEVELS = 24;

type Sizes = readonly MachineAmount[];
const sized =
  (make: (...sizes: number[]) => number) =>
  (...of: Sizes) =>
    new MachineAmount(make(...of.map(({ size }) => size)));

const toStep = (round: (value: number) => number) =>
  sized((size = 0, step = 0) => {
    if (step <= 0) throw new Error('a step has to be more than nothing');
    // A multiple that only the arithmetic of fractions misses is one.
    return round(Math.round((size / step) * 1e9) / 1e9) * step;
  });

const inWords = (text: string): MachineAmount => {
  const amount = readMachineAmount(text);
  if (amount === undefined) throw new Error(`${JSON.stringify(text)} is not a valid quantity`);
  return amount;
};

/**
 * CEL with quantities: `memory * 0.06`, `max(quantity("255Mi"), memory * 0.06)`, `quantity("11Mi") * maxPods`. It has no clock, and what
 * repeats something (`map`, `filter`, regular expressions) is refused before it is run.
 */
export function createLanguage(): Environment {
  const limits = { maxAstNodes: MOST_NODES, maxDepth: MOST_LEVELS, maxListElements: 20, maxMapEntries: 0 };
  const language = new Environment({ limits }).registerType('Quantity', { ctor: MachineAmount, fields: {} });
  for (const name of VARIABLES) language.registerVariable(name, TYPES[name]);
  language
    .registerFunction('quantity(string): Quantity', inWords)
    .registerFunction(
      'between(Quantity, Quantity, Quantity): Quantity',
      sized((size = 0, from = 0, to = 0) => Math.max(0, Math.min(size, to) - from)),
    )
    .registerFunction('floor(Quantity, Quantity): Quantity', toStep(Math.floor))
    .registerFunction('ceil(Quantity, Quantity): Quantity', toStep(Math.ceil))
    .registerFunction('round(Quantity, Quantity): Quantity', toStep(Math.round));
  for (const [name, of] of [
    ['min', Math.min],
    ['max', Math.max],
  ] as const) {
    const whole = (...values: bigint[]): bigint => values.reduce((a, b) => ((name === 'min' ? a < b : a > b) ? a : b));
    for (const count of [2, 3]) {
      const given = (type: string): string => Array.from({ length: count }, () => type).join(', ');
      language
        .registerFunction(`${name}(${given('Quantity')}): Quantity`, sized(of))
        .registerFunction(`${name}(${given('double')}): double`, of)
        .registerFunction(`${name}(${given('int')}): int`, whole);
    }
  }
  return withOperators(language);
}

function withOperators(language: Environment): Environment {
  const scale = (by: number | bigint): number => Number(by);
  const share = (size: number, by: number): number => {
    if (by === 0) throw new Error('division by zero');
    return size / by;
  };
  language
    .registerOperator('Quantity + Quantity', (a: MachineAmount, b: MachineAmount) => new MachineAmount(a.size + b.size))
    .registerOperator('Quantity - Quantity', (a: MachineAmount, b: MachineAmount) => new MachineAmount(a.size - b.size))
    .registerOperator('Quantity / Quantity: double', (a: MachineAmount, b: MachineAmount) => share(a.size, b.size))
    .registerOperator('Quantity == Quantity', (a: MachineAmount, b: MachineAmount) => a.size === b.size)
    .registerOperator('Quantity < Quantity', (a: MachineAmount, b: MachineAmount) => a.size < b.size)
    .registerOperator('Quantity <= Quantity', (a: MachineAmount, b: MachineAmount) => a.size <= b.size)
    .registerOperator('Quantity > Quantity', (a: MachineAmount, b: MachineAmount) => a.size > b.size)
    .registerOperator('Quantity >= Quantity', (a: MachineAmount, b: MachineAmount) => a.size >= b.size);
  for (const number of ['double', 'int']) {
    language
      .registerOperator(
        `Quantity * ${number}`,
        (a: MachineAmount, by: number | bigint) => new MachineAmount(a.size * scale(by)),
      )
      .registerOperator(
        `${number} * Quantity: Quantity`,
        (by: number | bigint, a: MachineAmount) => new MachineAmount(a.size * scale(by)),
      )
      .registerOperator(
        `Quantity / ${number}`,
        (a: MachineAmount, by: number | bigint) => new MachineAmount(share(a.size, scale(by))),
      );
  }
  return language;
}
