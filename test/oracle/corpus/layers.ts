import { FIELDS } from '#shared/contract/kubelet-config/fields/fields.ts';
import { KUBELET_CONFIG_API_VERSION, KUBELET_CONFIG_KIND } from '#shared/contract/kubelet-config/decode/decode.ts';
import { type Random, randomFrom } from './random.ts';
import { valueFor } from './values.ts';

/** A config file and drop-ins that nobody wrote, as JSON texts. */
export interface Layers {
  readonly name: string;
  readonly text: string;
  readonly dropIns: readonly string[];
}

/** Files and drop-ins that meet: drop-ins say something of what the file says, with nulls, zeros, other cases and doubled keys in them. */
export function* generateLayers(count: number, seed: number): Generator<Layers> {
  for (let number = 0; number < count; number += 1) {
    const random = randomFrom(seed * 1_000_003 + number);
    const paths = fieldsFor(random);
    const text = textOf(membersOf(paths, random, { nulls: 30, cases: 0 }));
    const dropIns = Array.from({ length: random.pick([1, 1, 1, 2, 3]) }, () => dropIn(paths, random));
    yield { name: `${seed}/${number}`, text, dropIns };
  }
}

const LEAVES: readonly string[] = [...FIELDS].filter(([, { kind }]) => kind !== 'struct').map(([path]) => path);
const TOP = LEAVES.filter((path) => !path.includes('[]'));

const STRUCT_LISTS: ReadonlySet<string> = new Set(
  [...FIELDS].flatMap(([path, { kind }]) => (kind === 'struct-list' ? [path.split('.').at(-1) ?? ''] : [])),
);

const OWN_TYPES: ReadonlySet<string> = new Set(['logging', 'tracing']);

/** Fields whose defaults hang together, and those that the ways of merging treat differently. */
const MEETING =
  /^(?:nodeStatus|evict|serialize|maxParallel|mergeDefault|enforceNode|featureGates|resolvConf|registerWith|reservedMemory$|shutdown|crashLoop|maxPods|kubeReserved|memoryThrottling|failSwapOn|authentication)/;

function fieldsFor(random: Random): readonly string[] {
  const meeting = TOP.filter((path) => MEETING.test(path));
  return [...random.some(meeting, 3), ...random.some(TOP, 3)];
}

interface Manner {
  /** One in so many is null, or written in another case; 0: none. */
  readonly nulls: number;
  readonly cases: number;
}

/** Of a struct, or of an item: names and JSON texts. */
type Members = readonly (readonly [string, string])[];

function dropIn(paths: readonly string[], random: Random): string {
  const chosen = [...random.some(paths, 1 + random.below(4)), ...random.some(TOP, random.below(2))];
  const manner = { nulls: random.pick([0, 4]), cases: random.pick([0, 0, 4]) };
  const members = membersOf([...new Set(chosen)], random, manner);
  const doubled = random.oneIn(40) ? members.slice(0, 1) : [];
  return textOf([...members, ...doubled]);
}

function membersOf(paths: readonly string[], random: Random, manner: Manner): Members {
  const groups = new Map<string, string[]>();
  for (const path of paths) {
    const [head = '', ...rest] = path.split('.');
    groups.set(head, [...(groups.get(head) ?? []), rest.join('.')]);
  }
  const members = [...groups].map(([head, rest]) => {
    const inner = rest.filter((path) => path !== '');
    if (inner.length === 0) return [head, valueOf(head, random, manner)] as const;
    return [head, structOf(head, inner, random, manner)] as const;
  });
  return members.flatMap(([name, value]) => named(name, value, random, manner));
}

function structOf(prefix: string, paths: readonly string[], random: Random, manner: Manner): string {
  const members = paths.flatMap((path) => {
    const [head = '', ...rest] = path.split('.');
    const below = `${prefix}.${head}`;
    const value =
      rest.length === 0 ? valueOf(below, random, manner) : structOf(below, [rest.join('.')], random, manner);
    return named(head, value, random, manner);
  });
  // Of two with the same name, the first is as good.
  return objectOf([...new Map(members)]);
}

function named(name: string, value: string, random: Random, { cases }: Manner): Members {
  // Lists of maps that are there twice are mixed item by item, and these two are not named there as the others are.
  const isPlain = cases > 0 && !STRUCT_LISTS.has(name) && !OWN_TYPES.has(name);
  if (!isPlain || !random.oneIn(cases)) return [[name, value]];
  const other = random.pick([
    name.toLowerCase(),
    name.toUpperCase(),
    `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`,
  ]);
  return random.oneIn(2) && other !== name
    ? [
        [name, value],
        [other, value],
      ]
    : [[other, value]];
}

const ZEROS: Readonly<Partial<Record<string, string>>> = {
  bool: 'false',
  int32: '0',
  int64: '0',
  uint32: '0',
  float: '0',
  string: '""',
  duration: '"0s"',
};

function valueOf(path: string, random: Random, manner: Manner): string {
  const field = FIELDS.get(path);
  if (field === undefined) throw new Error(`there is no ${path}`);
  if (manner.nulls > 0 && random.oneIn(manner.nulls)) return 'null';
  const zero = ZEROS[field.kind];
  if (zero !== undefined && random.oneIn(5)) return zero;
  if (field.kind !== 'struct-list') {
    const text = valueFor(path, field, 'usual', random);
    // An item that is null is the one that was there by default.
    const isTaken = isJson(text) && !(path === 'enforceNodeAllocatable' && text.includes('null'));
    return isTaken ? text : 'null';
  }
  const below = LEAVES.filter((each) => each.startsWith(`${path}[].`) && !each.slice(path.length + 3).includes('.'));
  const item = (): string =>
    objectOf(
      random
        .some(below, 1 + random.below(below.length))
        .flatMap((each) =>
          named(each.slice(path.length + 3), valueOf(each, random, { nulls: 6, cases: 0 }), random, manner),
        ),
    );
  return `[${Array.from({ length: random.below(3) }, item).join(', ')}]`;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const textOf = (members: Members): string =>
  objectOf([
    ['apiVersion', JSON.stringify(KUBELET_CONFIG_API_VERSION)],
    ['kind', JSON.stringify(KUBELET_CONFIG_KIND)],
    ...members,
  ]);

const objectOf = (members: Members): string =>
  `{${members.map(([name, value]) => `${JSON.stringify(name)}: ${value}`).join(', ')}}`;
