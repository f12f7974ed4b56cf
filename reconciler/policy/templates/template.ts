import { setOwn } from '#shared/contract/kubelet-config/decode/json.ts';
import { defaultOf, FIELDS } from '#shared/contract/kubelet-config/fields/fields.ts';
import { NEWEST_MINOR } from '#shared/contract/kubelet-config/minor.ts';
import { formatPath, type Path } from '#shared/contract/kubelet-config/position.ts';
import type { ApplyMode } from '#shared/contract/api/kubelet-node.ts';
import { inputsOfLeaf, type ComputedLeaf, valueOfLeaf } from './leaf.ts';
import type { Machine } from './machine.ts';
import { allInputs, type Inputs, NO_INPUTS } from './expression-inputs.ts';
import { isMap } from '#shared/runtime/maps.ts';

type Config = Readonly<Record<string, unknown>>;

/** A pool's config of which some fields follow the machine. */
export interface Template {
  /** The merged layers, with marks where a leaf's value belongs. */
  readonly value: Config;
  /** By mark. */
  readonly leaves: ReadonlyMap<string, ComputedLeaf>;
  /** All that tells machines apart. */
  readonly inputs: Inputs;
  /** How many pods a node has by this config; absent where the node itself says it. */
  readonly maxPods?: number | ComputedLeaf;
}

/** A field of the template, as it is for one machine. */
interface LeafAt {
  readonly path: Path;
  readonly leaf: ComputedLeaf;
}

/** A merged config as a template; undefined where no field of it follows the machine any more. */
export function templateOf(
  value: Config,
  known: ReadonlyMap<string, ComputedLeaf>,
  apply: ApplyMode,
): Template | undefined {
  const leaves = new Map([...leavesIn(value, known)].map(({ leaf, mark }) => [mark, leaf]));
  if (leaves.size === 0) return undefined;
  const maxPods = podsOf(value, leaves, apply);
  const asked = allInputs([...leaves.values()].map(inputsOfLeaf));
  if (maxPods === undefined || !asked.variables.has('maxPods')) return { value, leaves, inputs: asked };
  const others = { ...asked, variables: new Set([...asked.variables].filter((name) => name !== 'maxPods')) };
  const inputs = allInputs([others, typeof maxPods === 'number' ? NO_INPUTS : inputsOfLeaf(maxPods)]);
  return { value, leaves, inputs, maxPods };
}

/** What the config itself says of pods: what a node has now would change with it, and the class with that. */
function podsOf(
  value: Config,
  leaves: ReadonlyMap<string, ComputedLeaf>,
  apply: ApplyMode,
): number | ComputedLeaf | undefined {
  const written = value['maxPods'];
  if (typeof written === 'number') return written;
  if (typeof written === 'string') return leaves.get(written);
  if (written === undefined && apply === 'overlay') return undefined;
  const field = FIELDS.get('maxPods');
  const usual = field === undefined ? undefined : defaultOf(field, NEWEST_MINOR);
  return typeof usual === 'number' ? usual : undefined;
}

/** Every field of the template that follows the machine. */
export const leafPaths = ({ value, leaves }: Template): readonly LeafAt[] =>
  [...leavesIn(value, leaves)].map(({ path, leaf }) => ({ path, leaf }));

function* leavesIn(
  value: unknown,
  leaves: ReadonlyMap<string, ComputedLeaf>,
  path: Path = [],
): Generator<LeafAt & { readonly mark: string }> {
  if (typeof value === 'string') {
    const leaf = leaves.get(value);
    if (leaf !== undefined) yield { path, leaf, mark: value };
    return;
  }
  if (!isMap(value)) return;
  for (const [key, item] of Object.entries(value)) yield* leavesIn(item, leaves, [...path, key]);
}

type FilledTemplate =
  | { readonly value: Config }
  /** A clause, with the field in it. `path`: of that field. */
  | { readonly because: string; readonly path: Path };

/** The machine as the expressions are given it: with as many pods as the config itself says. */
export function machineWithMaxPods({ maxPods }: Template, machine: Machine): Machine {
  if (maxPods === undefined) return machine;
  const pods = typeof maxPods === 'number' ? { value: maxPods } : valueOfLeaf(maxPods, machine);
  const { maxPods: _now, ...rest } = machine;
  return 'value' in pods && typeof pods.value === 'number' ? { ...rest, maxPods: pods.value } : rest;
}

/**
 * The config for one class of machines.
 *
 * @param machine stands for its class
 */
export function fillTemplate(template: Template, machine: Machine): FilledTemplate {
  const asked = machineWithMaxPods(template, machine);
  const values = new Map<string, string | number | boolean>();
  for (const { path, leaf, mark } of leavesIn(template.value, template.leaves)) {
    const found = valueOfLeaf(leaf, leaf === template.maxPods ? machine : asked);
    if ('because' in found) return { because: `${formatPath(path)} cannot be computed: ${found.because}`, path };
    values.set(mark, found.value);
  }
  return { value: filled(template.value, values) as Config };
}

/** The template for people: `computed: memory * 0.06`, and of a profile's own formula the name alone. */
export function describeTemplate({ value, leaves }: Template): Config {
  const words = new Map([...leaves].map(([mark, leaf]) => [mark, describeLeaf(leaf)]));
  return filled(value, words) as Config;
}

/** `memory * 0.06, at least 255Mi, at most 25% of the machine`. */
export function describeLeaf({ expression, profile, bounds: { min, max, maxShare } }: ComputedLeaf): string {
  const bounds = [
    ...(min === undefined ? [] : [`at least ${min}`]),
    ...(max === undefined ? [] : [`at most ${max}`]),
    ...(maxShare === undefined ? [] : [`at most ${maxShare} of the machine`]),
  ];
  return [profile === undefined ? `computed: ${expression.text}` : `computed: profile ${profile}`, ...bounds].join(
    ', ',
  );
}

function filled(value: unknown, values: ReadonlyMap<string, unknown>): unknown {
  if (typeof value === 'string') return values.get(value) ?? value;
  if (!isMap(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) setOwn(copy, key, filled(item, values));
  return copy;
}
