import type { ApplyMode } from '#shared/contract/api/kubelet-node.ts';
import { covers } from '#shared/contract/kubelet-config/field-policy.ts';
import { defaultOf, FIELDS } from '#shared/contract/kubelet-config/fields/fields.ts';
import { type ReservingField, reservedAmount } from '#shared/contract/kubelet-config/reserved-amount.ts';
import { minorNumber, NEWEST_MINOR } from '#shared/contract/kubelet-config/minor.ts';
import { countCpus } from '#shared/contract/kubelet-config/syntax/cpu-set.ts';
import { parseQuantity } from '#shared/contract/kubelet-config/syntax/quantity.ts';
import { type ConfigView, viewOf } from '#shared/contract/kubelet-config/config-view.ts';
import { isMap } from '#shared/runtime/maps.ts';

type Config = Readonly<Record<string, unknown>>;

const RESOURCES = ['cpu', 'memory', 'ephemeral-storage', 'pods'] as const;
export type NodeResource = (typeof RESOURCES)[number];

/** How big a Node says it is, in quantities as Kubernetes writes them: `cpu`, `memory`, `pods`, `hugepages-2Mi`. */
export interface NodeSize {
  /** `v1.34.2`; empty if unknown. */
  readonly kubeletVersion: string;
  readonly capacity: Readonly<Record<string, string>>;
  readonly allocatable: Readonly<Record<string, string>>;
}

/** A payload, and how a node takes it up. */
export interface AppliedConfig {
  readonly value: Config;
  readonly apply: ApplyMode;
  /** Fields of the node's own config that stay under `replace`: what they say is unknown. Absent for none. */
  readonly keepFields?: readonly string[];
}

/** What a node has left for pods, in the resource's base unit (cores, bytes, pods). */
export interface Allocatable {
  readonly resource: NodeResource;
  readonly before: number;
  readonly after: number;
}

/** The same, for the worst case: more than this is not left, whatever the node's own config takes besides. */
export interface MostLeft extends Allocatable {
  /** What is taken of the capacity, largest last: `kubeReserved 512Mi`. */
  readonly taken: readonly Reservation[];
  readonly capacity: number;
}

/** What one field takes of a resource. */
export interface Reservation {
  readonly what: string;
  readonly amount: number;
}

/**
 * What a change of the reservations does to what a node has left for pods: from its capacity if the new config says
 * all that is taken away, and otherwise from what it reports now and the difference of the two configs. Resources of
 * which a part is set by the node itself before or afterwards are left out: that part is unknown here.
 *
 * @param before null for the node's own config
 */
export function allocatableEffect(
  node: NodeSize,
  before: AppliedConfig | null,
  after: AppliedConfig,
): readonly Allocatable[] {
  return RESOURCES.flatMap((resource) => {
    const sides = sidesOf(resource, node, before, after);
    if (sides === null) return [];
    const left = resource === 'pods' ? podsLeft(sides) : leftOf(sides);
    const { now } = sides;
    return left === undefined || left === now
      ? []
      : [{ resource, before: roundToThousandths(now), after: roundToThousandths(left) }];
  });
}

/**
 * What is left at most of each resource of which the new config takes more than the node's pods have now. Parts that it leaves to
 * the node's own config count as nothing: what does not fit even so does not fit.
 */
export function mostLeft(node: NodeSize, before: AppliedConfig | null, after: AppliedConfig): readonly MostLeft[] {
  return RESOURCES.flatMap((resource): readonly MostLeft[] => {
    const sides = sidesOf(resource, node, before, after);
    if (sides === null) return [];
    const { now, capacity } = sides;
    if (resource === 'pods') {
      const allowed = podsLeft(sides);
      return allowed === undefined || allowed >= now
        ? []
        : [{ resource, before: now, after: allowed, capacity, taken: [] }];
    }
    const exact = leftOf(sides);
    const taken = partsAfter(sides);
    const bound = capacity - taken.reduce((sum, { amount }) => sum + amount, 0);
    // By the difference alone it takes no more than the one before: then the node itself does not say what it runs yet.
    if (exact !== undefined && exact >= now) return [];
    const left = Math.min(exact ?? bound, bound);
    const isLess = taken.length > 0 && roundToThousandths(left) < roundToThousandths(now) && !isUnchanged(sides);
    return isLess
      ? [{ resource, before: roundToThousandths(now), after: roundToThousandths(left), capacity, taken }]
      : [];
  });
}

/** One resource of a node, and what two configs take of it. */
interface Sides {
  readonly resource: NodeResource;
  /** What the node reports. */
  readonly now: number;
  readonly capacity: number;
  readonly before: Side | null;
  readonly after: Side;
  readonly cores: number;
  readonly hugePages: number;
}

interface Side extends AppliedConfig {
  readonly view: ConfigView;
}

function sidesOf(
  resource: NodeResource,
  node: NodeSize,
  before: AppliedConfig | null,
  after: AppliedConfig,
): Sides | null {
  const now = amountIn(node.allocatable, resource);
  const capacity = amountIn(node.capacity, resource);
  if (now === undefined || capacity === undefined) return null;
  const minor = Math.min(minorNumber(node.kubeletVersion) ?? NEWEST_MINOR, NEWEST_MINOR);
  const side = (applied: AppliedConfig): Side => ({ ...applied, view: viewOf(applied.value, minor, applied.apply) });
  return {
    resource,
    now,
    capacity,
    before: before === null ? null : side(before),
    after: side(after),
    cores: amountIn(node.capacity, 'cpu') ?? 0,
    hugePages: resource === 'memory' ? hugePagesOf(node.capacity) : 0,
  };
}

const amountIn = (amounts: NodeSize['capacity'], resource: NodeResource): number | undefined =>
  parseQuantity(amounts[resource] ?? '');

/** Memory that was set aside for huge pages is no pod's, but for those that ask for huge pages (pkg/kubelet/nodestatus/setters.go). */
const hugePagesOf = (capacity: NodeSize['capacity']): number =>
  Object.entries(capacity).reduce(
    (sum, [name, amount]) => sum + (name.startsWith('hugepages-') ? (parseQuantity(amount) ?? 0) : 0),
    0,
  );

/** Thousandths of a core are what Kubernetes counts in. */
export const roundToThousandths = (amount: number): number => Math.round(amount * 1000) / 1000;

type Part = number | undefined;

const isUnchanged = (sides: Sides): boolean => {
  const before = partsOf(sides, sides.before);
  return partsOf(sides, sides.after).every((part, index) => part === before[index]);
};

function leftOf(sides: Sides): number | undefined {
  const [before, after] = [partsOf(sides, sides.before), partsOf(sides, sides.after)];
  if (isUnchanged(sides)) return undefined;
  if (after.every((part) => part !== undefined))
    return sides.capacity - sides.hugePages - after.reduce((sum, part) => sum + part, 0);
  const changes = after.map((part, index) => (part === before[index] ? 0 : (part ?? NaN) - (before[index] ?? NaN)));
  const sum = changes.reduce((total, change) => total + change, 0);
  return Number.isNaN(sum) ? undefined : sides.now - sum;
}

const FIELDS_THAT_KEEP = ['kubeReserved', 'systemReserved', 'evictionHard'] as const;

/** What kubeReserved, systemReserved and evictionHard take of a resource; undefined where the config does not say. */
function partsOf({ resource, capacity }: Pick<Sides, 'resource' | 'capacity'>, side: Side | null): readonly Part[] {
  if (side === null) return FIELDS_THAT_KEEP.map(() => undefined);
  const signal = SIGNALS[resource];
  // These CPUs take the place of the shares that the other two fields name.
  const cpus = resource === 'cpu' ? reservedCpus(side) : '';
  if (cpus !== '') return [0, countCpus(cpus), 0];
  return FIELDS_THAT_KEEP.map((field) => {
    const name = field === 'evictionHard' ? signal : resource;
    return name === undefined ? 0 : partOf(side, field, name, capacity);
  });
}

const reservedCpus = ({ view }: Side): string => view.text('reservedSystemCPUs') ?? '';

/**
 * An overlay goes over the node's own map key by key, so that it says nothing of keys that it does not name. What it takes back
 * stays away.
 */
function partOf(side: Side, field: ReservingField, name: string, capacity: number): Part {
  const { value, view } = side;
  if (replaces(side, `${field}.${name}`)) return reservedAmount(withDefaults(view, field), field, name, capacity);
  const written = value[field];
  if (written === null) return 0;
  return isMap(written) && Object.hasOwn(written, name) ? reservedAmount(view, field, name, capacity) : undefined;
}

const replaces = ({ apply, keepFields = [] }: AppliedConfig, field: string): boolean =>
  apply === 'replace' && !covers(keepFields, field);

/** Thresholds that a config does not name have no default, unless it asks for them. Of two entries, the first counts. */
function withDefaults(view: ConfigView, field: ReservingField): ConfigView {
  const row = FIELDS.get(field);
  if (row === undefined || field !== 'evictionHard' || view.flag('mergeDefaultEvictionSettings') !== true) return view;
  const defaults = Object.entries(defaultOf(row, view.minor) as Readonly<Record<string, string>>);
  return { ...view, entries: (path) => [...view.entries(path), ...defaults] };
}

const SIGNALS: Readonly<Partial<Record<NodeResource, string>>> = {
  memory: 'memory.available',
  'ephemeral-storage': 'nodefs.available',
};

/** Of what does not change nothing is said: a node may run something else yet. */
function podsLeft({ before, after, cores }: Sides): number | undefined {
  const allowed = podsAllowed(after, cores);
  return before !== null && podsAllowed(before, cores) === allowed ? undefined : allowed;
}

function podsAllowed(side: Side, cores: number): number | undefined {
  const { value, view } = side;
  if (!replaces(side, 'maxPods') && (value['maxPods'] ?? undefined) === undefined) return undefined;
  const most = view.number('maxPods');
  const perCore = view.number('podsPerCore') ?? 0;
  return perCore > 0 && cores > 0 && most !== undefined ? Math.min(most, perCore * cores) : most;
}

/** What the new config takes of a resource, and what huge pages do. */
function partsAfter(sides: Sides): readonly Reservation[] {
  const cpus = sides.resource === 'cpu' && reservedCpus(sides.after) !== '';
  const names = ['kubeReserved', cpus ? 'reservedSystemCPUs' : 'systemReserved', 'evictionHard'];
  const parts = partsOf(sides, sides.after);
  const taken = names.map((what, index) => ({ what, amount: parts[index] ?? 0 }));
  return [...taken, { what: 'huge pages', amount: sides.hugePages }].filter(({ amount }) => amount > 0);
}

/** `3900m`, `14.2Gi`, `110`. */
export function formatResource(resource: NodeResource, amount: number): string {
  switch (resource) {
    case 'cpu':
      return `${Math.round(amount * 1000)}m`;
    case 'pods':
      return String(amount);
    case 'memory':
    case 'ephemeral-storage':
      return Math.abs(amount) >= 2 ** 30 ? `${(amount / 2 ** 30).toFixed(1)}Gi` : `${Math.round(amount / 2 ** 20)}Mi`;
  }
}
