import { profileFor } from '../../import/formulas.ts';
import { NEWEST_MINOR } from '#shared/contract/kubelet-config/minor.ts';
import { viewOf } from '#shared/contract/kubelet-config/config-view.ts';
import { type ReservingField, reservedAmount } from '#shared/contract/kubelet-config/reserved-amount.ts';
import { countCpus } from '#shared/contract/kubelet-config/syntax/cpu-set.ts';
import { parseQuantity } from '#shared/contract/kubelet-config/syntax/quantity.ts';
import { formatResource } from '#reconciler/policy/allocatable/allocatable.ts';
import { sortedMachine } from '#reconciler/policy/templates/machine-class.ts';
import { type Machine, machineOf } from '#reconciler/policy/templates/machine.ts';
import { PROFILE_NAMES } from '#reconciler/policy/templates/profiles.ts';
import { type Millis, toTimestamp } from '#shared/runtime/clock.ts';
import { BOUNDS, type MeasuredUse, type RoomClass, type RoomOfResource } from '../audit-report.ts';
import { judgedBy, type NodeFacts } from '../node-facts.ts';

export const RESOURCES = ['cpu', 'memory'] as const;
export type Resource = (typeof RESOURCES)[number];

/** What Prometheus says of a node over days: the 99th percentile of what all outside of pods uses. */
export interface UseOverDays {
  /** In cores and bytes. */
  readonly cpu?: number;
  readonly memory?: number;
  /** Over how many days there are samples. */
  readonly days: number;
  /** When it was asked. */
  readonly at: Millis;
}

/** One node’s room, in cores and bytes. */
export interface NodeRoom {
  readonly facts: NodeFacts;
  readonly machine: Machine;
  readonly resources: Readonly<Partial<Record<Resource, RoomOfNode>>>;
}

interface RoomOfNode {
  readonly capacity: number;
  readonly kubeReserved: number;
  readonly systemReserved: number;
  readonly eviction: number;
  readonly allocatable?: number;
  /** Now. */
  readonly used?: number;
  /** Absent where Prometheus was not asked, or has too little. */
  readonly p99?: number;
}

/** @param overDays by the name of the node */
export function roomOf(facts: NodeFacts, overDays: ReadonlyMap<string, UseOverDays>): NodeRoom | undefined {
  const { node, running, use } = facts;
  if (node === undefined) return undefined;
  const machine = machineOf({ size: node, labels: node.labels });
  const view = viewOf(running, judgedBy(facts), 'replace');
  const over = overDays.get(facts.name);
  const cpus = view.text('reservedSystemCPUs') ?? '';
  const resources = RESOURCES.flatMap((resource): readonly (readonly [Resource, RoomOfNode])[] => {
    const capacity = machine[resource];
    if (capacity === undefined) return [];
    const of = (field: ReservingField, name: string): number => reservedAmount(view, field, name, capacity);
    // These CPUs take the place of the shares that the two fields name.
    const areCpus = resource === 'cpu' && cpus !== '';
    const allocatable = parseQuantity(node.allocatable[resource] ?? '');
    // Whoever says that more is used than there is measures something else.
    const measured = (amount = Infinity): number | undefined => (amount <= capacity ? amount : undefined);
    const [used, p99] = [measured(use?.[resource]), measured(over?.[resource])];
    const room = {
      capacity,
      kubeReserved: areCpus ? 0 : of('kubeReserved', resource),
      systemReserved: areCpus ? (countCpus(cpus) ?? 0) : of('systemReserved', resource),
      eviction: resource === 'memory' ? of('evictionHard', 'memory.available') : 0,
      ...(allocatable === undefined ? {} : { allocatable }),
      ...(used === undefined ? {} : { used }),
      ...(p99 === undefined ? {} : { p99 }),
    };
    return [[resource, room]];
  });
  return resources.length === 0 ? undefined : { facts, machine, resources: Object.fromEntries(resources) };
}

/** Nodes of machines of one size that keep back the same; the biggest class first. */
export function roomClasses(
  rooms: readonly NodeRoom[],
  overDays: ReadonlyMap<string, UseOverDays>,
): readonly RoomClass[] {
  const byClass = Map.groupBy(rooms, ({ machine, resources }) => {
    const { cpu, memory } = sortedMachine(machine);
    const kept = RESOURCES.map((name) => [resources[name]?.kubeReserved, resources[name]?.systemReserved]);
    return JSON.stringify([cpu, memory, kept]);
  });
  return [...byClass.values()]
    .toSorted((one, other) => other.length - one.length)
    .slice(0, BOUNDS.classes)
    .map((of) => roomClassOf(of, overDays));
}

function roomClassOf(of: readonly NodeRoom[], overDays: ReadonlyMap<string, UseOverDays>): RoomClass {
  const [first] = of as [NodeRoom];
  const { cpu, memory } = first.machine;
  const given = PROFILE_NAMES.map((name) => ({ name, amounts: profileAmounts(name, first.machine) }));
  const keeps = (resource: Resource): number => {
    const room = first.resources[resource];
    return (room?.kubeReserved ?? 0) + (room?.systemReserved ?? 0);
  };
  const profile = given.find(({ amounts }) =>
    RESOURCES.every((resource) => amounts[resource] !== undefined && amounts[resource] === keeps(resource)),
  )?.name;
  const resources = RESOURCES.flatMap((resource): readonly RoomOfResource[] => {
    const room = first.resources[resource];
    if (room === undefined) return [];
    const { capacity, kubeReserved, systemReserved, eviction, allocatable } = room;
    const used = measuredUse(of, resource, overDays);
    const parts = partsOf(of, resource);
    return [
      {
        resource,
        capacity,
        kubeReserved,
        systemReserved,
        eviction,
        ...(allocatable === undefined ? {} : { allocatable }),
        ...(used === undefined ? {} : { used }),
        ...(parts.length === 0 ? {} : { parts }),
        profiles: given.flatMap(({ name, amounts }) => {
          const amount = amounts[resource];
          return amount === undefined ? [] : [{ name, amount }];
        }),
      },
    ];
  });
  return {
    name: [
      ...(cpu === undefined ? [] : [`${cpu} ${cpu === 1 ? 'core' : 'cores'}`]),
      ...(memory === undefined ? [] : [formatResource('memory', memory)]),
    ].join(', '),
    count: of.length,
    nodes: of.map(({ facts }) => facts.name).slice(0, BOUNDS.passedNames),
    ...(profile === undefined ? {} : { profile }),
    resources,
  };
}

/** What a profile keeps back of a machine, kubeReserved and systemReserved together. */
export function profileAmounts(
  name: (typeof PROFILE_NAMES)[number],
  machine: Machine,
): Readonly<Partial<Record<Resource, number>>> {
  const filled = profileFor(name, sortedMachine(machine));
  if (filled === undefined) return {};
  const view = viewOf(filled, NEWEST_MINOR, 'replace');
  const sum = (resource: Resource): number =>
    reservedAmount(view, 'kubeReserved', resource, 0) + reservedAmount(view, 'systemReserved', resource, 0);
  return { cpu: sum('cpu'), memory: sum('memory') };
}

/** Over days where Prometheus knows it, and otherwise now. */
function measuredUse(
  of: readonly NodeRoom[],
  resource: Resource,
  overDays: ReadonlyMap<string, UseOverDays>,
): MeasuredUse | undefined {
  const long = of.flatMap(({ resources, facts }) => {
    const amount = resources[resource]?.p99;
    const week = overDays.get(facts.name);
    return amount === undefined || week === undefined ? [] : [{ amount, days: week.days, at: week.at }];
  });
  const now = of.flatMap(({ resources, facts }) => {
    const used = resources[resource]?.used;
    return used === undefined ? [] : [{ amount: used, days: 0, at: facts.use?.at ?? 0 }];
  });
  const samples = (long.length > 0 ? long : now).toSorted((one, other) => one.amount - other.amount);
  const [middle, last] = [samples[Math.floor(samples.length / 2)], samples.at(-1)];
  if (middle === undefined || last === undefined) return undefined;
  return {
    median: middle.amount,
    most: last.amount,
    nodes: samples.length,
    at: toTimestamp(Math.min(...samples.map(({ at }) => at))),
    ...(long.length > 0 ? { kind: 'p99', days: Math.min(...samples.map(({ days }) => days)) } : { kind: 'moment' }),
  };
}

function partsOf(of: readonly NodeRoom[], resource: Resource): NonNullable<RoomOfResource['parts']> {
  const parts = of.flatMap(({ facts }) => facts.use?.parts ?? []);
  return [...Map.groupBy(parts, ({ name }) => name)].map(([name, each]) => ({
    name,
    most: Math.max(...each.map((part) => part[resource])),
  }));
}
