import { gateNames } from '#shared/contract/kubelet-config/feature-gates/feature-gates.ts';
import { FIELDS } from '#shared/contract/kubelet-config/fields/fields.ts';
import { GATES_WITH_EFFECT } from './keys.ts';
import { type Random, randomFrom } from './random.ts';
import { asBlocks, asJson, asYaml, put, type Tree } from './tree.ts';
import { type ValueKind, valueFor } from './values.ts';
import { HEADER, rewritten } from './writing.ts';
import { NUMBERS, STRANGE } from './edges.ts';

/** A config file that nobody wrote. The name says how to make it again: seed and number. */
export interface Generated {
  readonly name: string;
  readonly text: string;
}

/** Files from the table of fields: its names and kinds only, nothing of what validation knows. The same ones for the same seed. */
export function* generate(count: number, seed: number): Generator<Generated> {
  for (let number = 0; number < count; number += 1) {
    // Each file has a start of its own, so that one can be made without those before it.
    yield { name: `${seed}/${number}`, text: fileFrom(number, randomFrom(seed * 1_000_003 + number)) };
  }
}

const LEAVES: readonly string[] = [...FIELDS]
  .filter(([, { kind }]) => !kind.startsWith('struct'))
  .map(([path]) => path);

const STRUCTS: readonly string[] = [...FIELDS]
  .filter(([, { kind }]) => kind.startsWith('struct'))
  .map(([path]) => path);

/** Fields that may depend on each other, by their names. */
const RELATED: readonly RegExp[] = [
  /^image(?!Pull)/,
  /image(?:Pull|s)|pull|registry/i,
  /shutdown/,
  /evict/i,
  /reserved|cgroup|enforce/i,
  /^(?:cpu|topology|kubeReserved$|systemReserved$|reservedSystemCPUs)/,
  /memory|evictionHard|Reserved$|swap/i,
  /^logging/,
  /^containerLog|^podLogs/,
  /tls|port$|server/i,
  /^auth/,
  /^enable|^healthz|^showHidden/,
  /^iptables|^makeIPTables/,
  /^nodeStatus|^nodeLease|^kubeAPI|^event[RB]/,
  /^crashLoop|^userNamespaces|^singleProcess|^failCgroup/,
  /sysctl/i,
  /^tracing/,
  /^register/,
  /maxPods|podsPerCore|podPids|maxOpen|oomScore/,
];

type Recipe = (tree: Tree, random: Random, number: number) => void;

/** Every leaf gets its turn, whatever the seed; the others are drawn. */
const oneField: Recipe = (tree, random, number) => {
  set(tree, LEAVES[number % LEAVES.length] ?? random.pick(LEAVES), 'edge', random);
};

const related: Recipe = (tree, random) => {
  const topic = random.pick(RELATED);
  const fields = LEAVES.filter((path) => topic.test(path));
  const manner = random.oneIn(4) ? 'edge' : 'usual';
  for (const path of random.some(fields, 2 + random.below(3))) set(tree, path, manner, random);
  if (random.oneIn(2)) gates(tree, random, GATES_WITH_EFFECT);
};

const anyFields: Recipe = (tree, random) => {
  for (const path of random.some(LEAVES, 2 + random.below(5))) set(tree, path, 'usual', random);
};

const WHOLE = LEAVES.filter((path) => !path.includes('[]') && /^u?int\d+$/.test(FIELDS.get(path)?.kind ?? ''));
const FITTING = NUMBERS.filter((text) => /^-?[1-9]\d*$|^0$/.test(text) && Math.abs(Number(text)) < 2 ** 31);

/** All of them are decoded, so that the validation has to find each that is out of its bounds. */
const manyNumbers: Recipe = (tree, random) => {
  for (const path of random.some(WHOLE, 15)) put(tree, path, random.pick(FITTING));
};

const anyGates: Recipe = (tree, random) => gates(tree, random, gateNames());

const strange: Recipe = (tree, random) => put(tree, random.pick([...LEAVES, ...STRUCTS]), random.pick(STRANGE));

/** Names in another case, misspelt, in the wrong place, or of nobody. */
const oddName: Recipe = (tree, random) => {
  const path = random.pick(LEAVES);
  const value = valueFor(path, FIELDS.get(path) ?? { kind: 'string' }, 'usual', random);
  const names = path.split('.');
  const end = names.pop() ?? '';
  const odd = random.pick([
    end.charAt(0).toUpperCase() + end.slice(1),
    end.toUpperCase(),
    end.toLowerCase(),
    end.slice(0, -1),
    `${end}s`,
    `${end} `,
    end.replace('i', 'і'),
    'x',
    '',
    '__proto__',
    'constructor',
  ]);
  put(tree, [...names, odd].join('.'), value);
  if (random.oneIn(3)) put(tree, [...random.pick(STRUCTS).split('.'), end].join('.'), value);
  if (random.oneIn(3)) put(tree, path, value);
};

const RECIPES: readonly (readonly [weight: number, recipe: Recipe])[] = [
  [8, oneField],
  [7, related],
  [2, anyFields],
  [3, manyNumbers],
  [3, anyGates],
  [1, strange],
  [1, oddName],
];

const TURNS: readonly Recipe[] = RECIPES.flatMap(([weight, recipe]) => Array.from({ length: weight }, () => recipe));

function fileFrom(number: number, random: Random): string {
  const tree: Tree = new Map();
  random.pick(TURNS)(tree, random, number);
  let text = written(tree, random);
  if (random.oneIn(15)) text = doubled(text, tree, random);
  return random.oneIn(6) ? rewritten(text, random) : text;
}

function written(tree: Tree, random: Random): string {
  const form = random.below(10);
  if (form === 0) return asJson(new Map([...TYPES, ...tree]));
  return HEADER + (form < 4 ? asBlocks(tree) : asYaml(tree));
}

const TYPES: Tree = new Map([
  ['apiVersion', '"kubelet.config.k8s.io/v1beta1"'],
  ['kind', '"KubeletConfiguration"'],
]);

/** The same names once more, with other values where chance has it so. */
function doubled(text: string, tree: Tree, random: Random): string {
  if (text.startsWith('{')) return text.replace(/\}$/, `, ${asJson(tree).slice(1)}`);
  return (
    text +
    (random.oneIn(2) ? asYaml(tree) : asYaml(new Map([...tree.keys()].map((key) => [key, random.pick(STRANGE)]))))
  );
}

function set(tree: Tree, path: string, manner: ValueKind, random: Random): void {
  put(tree, path, valueFor(path, FIELDS.get(path) ?? { kind: 'string' }, manner, random));
}

function gates(tree: Tree, random: Random, names: readonly string[]): void {
  const chosen = random.some(names, 1 + random.below(3));
  const values = ['true', 'true', 'true', 'false', 'false', 'false', random.pick(['null', '"true"', '1', 'yes', '""'])];
  for (const name of chosen) put(tree, `featureGates.${name}`, random.pick(values));
}
