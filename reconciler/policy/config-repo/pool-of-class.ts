import { configMapName, payloadSha256 } from '#shared/contract/config-map-hash.ts';
import { canonicalize } from '#shared/contract/kubelet-config/canonical.ts';
import { formatPath, type Path } from '#shared/contract/kubelet-config/position.ts';
import type { Finding } from '#shared/contract/finding.ts';
import type { NodeView } from '../fleet.ts';
import { classOf, type MachineClass, readSizes, sortedMachine, writeSizes } from '../templates/machine-class.ts';
import { ARCH_LABEL, type Machine, machineOf, type MachineSource } from '../templates/machine.ts';
import { NO_INPUTS } from '../templates/expression-inputs.ts';
import { fillTemplate } from '../templates/template.ts';
import { overReserved } from '../templates/over-reserved.ts';
import type { ValidPool } from './loaded-repo.ts';

/** What a pool gives the machines of one class. */
export interface ClassPool {
  readonly class: MachineClass;
  /** A pool like one without computed values; absent where there is no config for the class. */
  readonly pool?: ValidPool;
  /** Why there is none; absent where there is one. */
  readonly because?: string;
  /** The field that cannot be computed, if a single one. */
  readonly path?: Path;
}

const made = new WeakMap<ValidPool, Map<string, ClassPool>>();

/** A node in its class. */
export interface ClassifiedNode {
  readonly class: ClassPool;
  /** What it was sorted by, to be kept; empty where its Node does not say its size. */
  readonly sizes: string;
}

/**
 * What a pool gives a node.
 *
 * @param had what the node was sorted by before, as it was kept
 */
export const poolOfNode = (pool: ValidPool, node: MachineSource, had?: string): ClassifiedNode =>
  createClassifier(pool)(node, had);

/** The same for many nodes of a pool. */
export function createClassifier(pool: ValidPool): (node: MachineSource, had?: string) => ClassifiedNode {
  const known = kinds.get(pool) ?? { byNode: new WeakMap(), byKey: new Map() };
  kinds.set(pool, known);
  const { variables, labels } = pool.template?.inputs ?? NO_INPUTS;
  const asksMore = labels.length > 0 || variables.has('arch') || variables.has('numaNodes');
  return (node, had = '') => {
    const size = node.size ?? NO_SIZE;
    const present = known.byNode.get(size);
    if (present?.had === had) return present;
    const sorted = sortedNode(node, had);
    const found = { class: ofKind(pool, sorted, node, known.byKey), sizes: sorted.sizes, had };
    if (!asksMore) known.byNode.set(size, found);
    return found;
  };
}

/** Thousands of nodes are asked about in each pass: nearly all of them are of a kind that was seen before. */
interface Kinds {
  /** Where nothing but its size matters, which a Node keeps from pass to pass. */
  readonly byNode: WeakMap<object, ClassifiedNode & { readonly had: string }>;
  readonly byKey: Map<string, ClassPool>;
}

/** Of all Nodes that do not say their size. */
const NO_SIZE = {};

const kinds = new WeakMap<ValidPool, Kinds>();

function ofKind(
  pool: ValidPool,
  { machine, sizes }: Sorted,
  { labels, numaNodes }: MachineSource,
  known: Map<string, ClassPool>,
): ClassPool {
  const { inputs } = pool.template ?? { inputs: NO_INPUTS };
  const arch = inputs.variables.has('arch') ? labels[ARCH_LABEL] : undefined;
  const asked = inputs.labels.map((label) => labels[label] ?? '\0');
  const key = [machine.cpu, machine.maxPods, sizes, arch, numaNodes, ...asked].join('\n');
  const found = known.get(key) ?? poolOfClass(pool, { ...machine, arch, numaNodes, labels });
  known.set(key, found);
  return found;
}

interface Sorted {
  /** Without labels and what is read from them. */
  readonly machine: Machine;
  readonly sizes: string;
}

const sortedNodes = new WeakMap<object, Map<string, Sorted>>();

/** A Node keeps its size from pass to pass. */
function sortedNode(node: Pick<NodeView, 'size'>, had: string): Sorted {
  const { size = NO_SIZE } = node;
  const known = sortedNodes.get(size) ?? new Map<string, Sorted>();
  sortedNodes.set(size, known);
  const sorted = known.get(had) ?? sort(node, had);
  known.set(had, sorted);
  return sorted;
}

function sort(node: Pick<NodeView, 'size'>, had: string): Sorted {
  const machine = sortedMachine(machineOf({ ...node, labels: {} }), readSizes(had));
  return { machine, sizes: writeSizes(machine) };
}

/**
 * What a pool gives a machine. The same for every machine of its class, and made once for as long as the pool's commit is in force.
 *
 * @param sorted as `sortedMachine` gives it
 */
export function poolOfClass(pool: ValidPool, sorted: Machine): ClassPool {
  const { template } = pool;
  const machineClass = classOf(sorted, template?.inputs ?? NO_INPUTS);
  const known = made.get(pool) ?? new Map<string, ClassPool>();
  made.set(pool, known);
  const present = known.get(machineClass.name) ?? make(pool, machineClass);
  known.set(machineClass.name, present);
  return present;
}

function make(pool: ValidPool, machineClass: MachineClass): ClassPool {
  const { template: from, judgedFor: _, ...plain } = pool;
  if (from === undefined) return { class: machineClass, pool };
  const filled = fillTemplate(from, machineClass.machine);
  if ('because' in filled) return { class: machineClass, because: filled.because, path: filled.path };
  const nothing = overReserved(filled.value, pool.spec.apply, machineClass.machine);
  if (nothing !== undefined) return { class: machineClass, because: nothing };
  const { value } = filled;
  const payload = canonicalize(value);
  const identity = { payload, sha256: payloadSha256(payload), configName: configMapName(pool.name, payload) };
  return { class: machineClass, pool: { ...plain, value, ...identity } };
}

/** That a class has no config, for the author of the expression; nothing for a class with one. */
export function unrendered(
  { file, name, positionOf }: ValidPool,
  { because, path, class: of }: ClassPool,
): readonly Finding[] {
  if (because === undefined) return [];
  return [
    {
      code: 'not-computable',
      severity: 'warning',
      message: `for machines with ${of.name}, ${because}: nodes of this class keep what they have`,
      file: file ?? `pools/${name}/pool.yaml`,
      ...(path === undefined ? {} : { ...positionOf?.(path), field: formatPath(path) }),
    },
  ];
}
