import { type KeepingField, keptBack } from '#shared/contract/kubelet-config/kept-back.ts';
import { minorNumber, NEWEST_MINOR } from '#shared/contract/kubelet-config/minor.ts';
import { countCpus } from '#shared/contract/kubelet-config/syntax/cpu-set.ts';
import { parseQuantity } from '#shared/contract/kubelet-config/syntax/quantity.ts';
import { viewOf } from '#shared/contract/kubelet-config/view.ts';
import type { InventoryNode } from '../inventory/node.ts';

type Config = Readonly<Record<string, unknown>>;

const RESOURCES = ['cpu', 'memory', 'ephemeral-storage', 'pods'] as const;
export type NodeResource = (typeof RESOURCES)[number];

/** What a node has left for pods, in the resource's base unit (cores, bytes, pods). */
export interface Allocatable {
  readonly resource: NodeResource;
  readonly before: number;
  readonly after: number;
}

/**
 * What a change of the reservations does to what a node has left for pods: from its capacity where the new config says
 * all that is taken away, and otherwise from what it reports now and the difference of the two configs. Resources of
 * which a part is the node's own before or afterwards are left out: nobody here can say.
 */
export function allocatableEffect(node: InventoryNode, before: Config | null, after: Config): readonly Allocatable[] {
  const minor = Math.min(minorNumber(node.kubeletVersion) ?? NEWEST_MINOR, NEWEST_MINOR);
  return RESOURCES.flatMap((resource) => {
    const now = parseQuantity(node.allocatable[resource] ?? '');
    const capacity = parseQuantity(node.capacity[resource] ?? '');
    if (now === undefined || capacity === undefined) return [];
    const parts = (config: Config | null) => partsOf(resource, config ?? {}, minor, capacity);
    const left =
      resource === 'pods' ? podsLeft(node, before, after, minor) : leftOf(now, capacity, parts(before), parts(after));
    return left === undefined || left === now ? [] : [{ resource, before: rounded(now), after: rounded(left) }];
  });
}

/** Thousandths of a core are what Kubernetes counts in. */
const rounded = (amount: number): number => Math.round(amount * 1000) / 1000;

type Part = number | undefined;

function leftOf(now: number, capacity: number, before: readonly Part[], after: readonly Part[]): number | undefined {
  if (after.every((part, index) => part === before[index])) return undefined;
  if (after.every((part) => part !== undefined)) return capacity - after.reduce((sum, part) => sum + part, 0);
  const changes = after.map((part, index) => {
    const old = before[index];
    if (part === undefined && old === undefined) return 0;
    return part === undefined || old === undefined ? NaN : part - old;
  });
  const sum = changes.reduce((total, change) => total + change, 0);
  return Number.isNaN(sum) ? undefined : now - sum;
}

/** What kubeReserved, systemReserved and evictionHard take of a resource; undefined where the config does not say. */
function partsOf(resource: NodeResource, config: Config, minor: number, capacity: number): readonly Part[] {
  const view = viewOf(config, minor, 'replace');
  const part = (field: KeepingField, name: string): Part =>
    config[field] === undefined ? undefined : keptBack(view, field, name, capacity);
  const signal = SIGNALS[resource];
  // These CPUs take the place of the shares that the other two fields name.
  const cpus = resource === 'cpu' ? (view.text('reservedSystemCPUs') ?? '') : '';
  if (cpus !== '') return [0, countCpus(cpus), 0];
  return [
    part('kubeReserved', resource),
    part('systemReserved', resource),
    signal === undefined ? 0 : part('evictionHard', signal),
  ];
}

const SIGNALS: Readonly<Partial<Record<NodeResource, string>>> = {
  memory: 'memory.available',
  'ephemeral-storage': 'nodefs.available',
};

/** Of what does not change nothing is said: a node may run something else yet. */
function podsLeft(node: InventoryNode, before: Config | null, after: Config, minor: number): number | undefined {
  const allowed = podsAllowed(after, minor, node);
  return before !== null && podsAllowed(before, minor, node) === allowed ? undefined : allowed;
}

function podsAllowed(config: Config, minor: number, { capacity }: InventoryNode): number | undefined {
  if (config['maxPods'] === undefined) return undefined;
  const view = viewOf(config, minor, 'replace');
  const most = view.number('maxPods');
  const perCore = view.number('podsPerCore') ?? 0;
  const cores = parseQuantity(capacity['cpu'] ?? '') ?? 0;
  return perCore > 0 && cores > 0 && most !== undefined ? Math.min(most, perCore * cores) : most;
}

/** How much the config's own fields take of a resource, for people: `kubeReserved 512Mi - evictionHard 15.8Gi`; empty for nothing. */
export function takenFrom(node: InventoryNode, resource: NodeResource, config: Config): string {
  const capacity = parseQuantity(node.capacity[resource] ?? '') ?? 0;
  const minor = Math.min(minorNumber(node.kubeletVersion) ?? NEWEST_MINOR, NEWEST_MINOR);
  const cpus = resource === 'cpu' && config['reservedSystemCPUs'] !== undefined;
  const names = ['kubeReserved', cpus ? 'reservedSystemCPUs' : 'systemReserved', 'evictionHard'];
  return partsOf(resource, config, minor, capacity)
    .flatMap((part, index) => (part ? [`${names[index]} ${showAmount(resource, part)}`] : []))
    .join(' - ');
}

/** `3900m`, `14.2Gi`, `110`. */
export function showAmount(resource: NodeResource, amount: number): string {
  switch (resource) {
    case 'cpu':
      return `${Math.round(amount * 1000)}m`;
    case 'pods':
      return String(amount);
    case 'memory':
    case 'ephemeral-storage':
      return amount >= 2 ** 30 ? `${(amount / 2 ** 30).toFixed(1)}Gi` : `${Math.round(amount / 2 ** 20)}Mi`;
  }
}
