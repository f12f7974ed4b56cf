import { viewOf } from '#shared/contract/kubelet-config/config-view.ts';
import { isSwitchedOff } from '#shared/contract/kubelet-config/reserved-amount.ts';
import { formatResource } from '#reconciler/policy/allocatable/allocatable.ts';
import { wholeUnits, writeAmount } from '#reconciler/policy/templates/machine-amount.ts';
import { PROFILE_NAMES } from '#reconciler/policy/templates/profiles.ts';
import type { AuditCheck, AuditSection, Evidence } from '../audit-report.ts';
import { checkOf, fixOf, type Rule, sectionOf, tally, type Verdict } from '../checks.ts';
import { judgedBy, type NodeFacts } from '../node-facts.ts';
import {
  type NodeRoom,
  profileAmounts,
  type Resource,
  RESOURCES,
  roomClasses,
  roomOf,
  type UseOverDays,
} from './room-classes.ts';

/** So much above the 99th percentile is wanted, for what was not measured. */
const HEADROOM = 1.2;
/** A smaller surplus is not reported: bytes, cores. */
const LEAST_FREED: Readonly<Record<Resource, number>> = { memory: 256 * 2 ** 20, cpu: 0.1 };
/** Of fewer days nothing is advised: a week has quiet days. */
export const FEWEST_DAYS = 3;

const UNITS = { cpu: 'cores', memory: 'bytes' } as const;

/** What the kubelets keep back of their machines, and what is used of it. Pure. @param overDays by the name of the node */
export function auditRoom(nodes: readonly NodeFacts[], overDays: ReadonlyMap<string, UseOverDays>): AuditSection {
  const rooms = nodes.map((facts) => ({ facts, room: roomOf(facts, overDays) }));
  const each = (rule: Rule, judge: (room: NodeRoom) => Verdict): AuditCheck =>
    checkOf(
      rule,
      rooms.map(({ facts, room }) => [facts.name, room === undefined ? NOT_VISIBLE : judge(room)] as const),
    );
  const known = rooms.flatMap(({ room }) => room ?? []);
  const checks = [
    each(NO_EVICTION, judgeEviction),
    each(NOTHING_RESERVED, judgeNothing),
    ...RESOURCES.flatMap((resource) => [
      each(underReserved(resource), (room) => judgeUnder(room, resource)),
      each(overReserved(resource), (room) => judgeOver(room, resource)),
    ]),
    ...(known.length === 0 ? [] : [profilesCheck(known)]),
  ];
  const classes = roomClasses(known, overDays);
  return sectionOf({ id: 'room', title: 'Room', summary: summaryOf(nodes, known, checks), checks, classes });
}

const NOT_VISIBLE: Verdict = { result: 'not-visible', evidence: [] };

function summaryOf(nodes: readonly NodeFacts[], rooms: readonly NodeRoom[], checks: readonly AuditCheck[]): string {
  if (rooms.length === 0) return 'the sizes of the machines are not known: give --inventory';
  const kept = sumOf(rooms, 'memory', ({ kubeReserved, systemReserved }) => kubeReserved + systemReserved);
  const capacity = sumOf(rooms, 'memory', (of) => of.capacity);
  const measured = rooms.filter(({ resources }) => (resources.memory?.used ?? resources.memory?.p99) !== undefined);
  const used = sumOf(measured, 'memory', (of) => of.p99 ?? of.used ?? 0);
  const share = formatResource('memory', kept);
  const source =
    measured.length === 0
      ? 'what is used was not measured'
      : `${formatResource('memory', used)} used on ${measured.length} of ${nodes.length} nodes`;
  return `${tally(checks)}; ${share} of ${formatResource('memory', capacity)} memory reserved, ${source}`;
}

const sumOf = (
  rooms: readonly NodeRoom[],
  resource: Resource,
  amount: (of: NonNullable<NodeRoom['resources'][Resource]>) => number,
): number =>
  rooms.reduce((sum, { resources }) => {
    const of = resources[resource];
    return of === undefined ? sum : sum + amount(of);
  }, 0);

const NO_EVICTION: Rule = {
  id: 'room/no-eviction-threshold',
  title: 'Evict pods before memory runs out',
  severity: 'high',
  because: 'lets pods take all memory: the kernel then ends whatever it likes, the kubelet as well',
  fix: fixOf(
    { evictionHard: { 'memory.available': '100Mi' } },
    'name the other signals, too: those that are left out are off',
  ),
  references: [],
};

function judgeEviction({ facts }: NodeRoom): Verdict {
  const [, amount] =
    viewOf(facts.running, judgedBy(facts), 'replace')
      .entries('evictionHard')
      .find(([signal]) => signal === 'memory.available') ?? [];
  const isOff = amount === undefined || isSwitchedOff(amount) || /^0[A-Za-z]*$/.test(amount);
  const evidence = [{ field: 'evictionHard.memory.available', value: amount ?? 'unset' }];
  return { result: isOff ? 'fail' : 'pass', evidence };
}

const NOTHING_RESERVED: Rule = {
  id: 'room/nothing-reserved',
  title: 'Reserve memory and CPU for the host',
  severity: 'medium',
  because: 'lets pods take what the kubelet, the runtime and sshd need: a full node stops answering',
  fix: { how: 'set kubeReserved, by a profile for machines of several sizes (docs/computed-values.md)' },
  references: [],
};

function judgeNothing({ resources }: NodeRoom): Verdict {
  const rows = RESOURCES.flatMap((resource) => {
    const of = resources[resource];
    return of === undefined ? [] : [{ resource, kept: of.kubeReserved + of.systemReserved }];
  });
  const evidence = rows.map(({ resource, kept }) => ({
    field: `reserved.${resource}`,
    value: writeAmount(kept, UNITS[resource]),
  }));
  return { result: rows.some(({ kept }) => kept === 0) ? 'fail' : 'pass', evidence };
}

const underReserved = (resource: Resource): Rule => ({
  id: `room/${resource}-under-reserved`,
  title: `Reserve the ${resource === 'cpu' ? 'CPU' : 'memory'} that the host uses`,
  severity: resource === 'memory' ? 'medium' : 'low',
  because:
    resource === 'memory'
      ? 'takes memory that the scheduler has promised to pods: a full node runs out'
      : 'takes CPU that the scheduler has promised to pods: a full node slows down',
  fix: { how: 'raise kubeReserved or systemReserved to what is used, and some more' },
  references: [],
});

/** That something is used is true however short the look was. */
function judgeUnder(room: NodeRoom, resource: Resource): Verdict {
  const of = room.resources[resource];
  const used = of?.p99 ?? of?.used;
  if (of === undefined || used === undefined) return NOT_VISIBLE;
  const kept = of.kubeReserved + of.systemReserved;
  return { result: used > kept ? 'fail' : 'pass', evidence: measuredEvidence(room, resource, used, kept) };
}

const overReserved = (resource: Resource): Rule => ({
  id: `room/${resource}-over-reserved`,
  title: `Reserve no ${resource === 'cpu' ? 'CPU' : 'memory'} that the host does not use`,
  severity: 'low',
  because: 'leaves idle what pods could have',
  fix: { how: 'lower kubeReserved or systemReserved to what is used over days, and a fifth more' },
  references: [],
});

/** One look says nothing of the busiest hour: only days do. */
function judgeOver(room: NodeRoom, resource: Resource): Verdict {
  const of = room.resources[resource];
  if (of?.p99 === undefined) return NOT_VISIBLE;
  const kept = of.kubeReserved + of.systemReserved;
  const tooMuch = wholeUnits(Math.max(0, kept - of.p99 * HEADROOM), UNITS[resource]);
  const evidence = measuredEvidence(room, resource, of.p99, kept);
  if (tooMuch < LEAST_FREED[resource]) return { result: 'pass', evidence };
  const freed = { field: `${resource}.freed`, value: writeAmount(tooMuch, UNITS[resource]) };
  return { result: 'fail', evidence: [...evidence, freed] };
}

/** Rounded, so that nodes that are nearly alike are a group. */
function measuredEvidence(
  { facts, resources }: NodeRoom,
  resource: Resource,
  used: number,
  kept: number,
): readonly Evidence[] {
  const step = resource === 'cpu' ? 0.05 : 128 * 2 ** 20;
  const round = (amount: number): string => writeAmount(Math.ceil(amount / step) * step, UNITS[resource]);
  const isLong = resources[resource]?.p99 !== undefined;
  return [
    {
      field: `${resource}.used`,
      value: `up to ${round(used)}`,
      by: isLong ? 'prometheus' : 'kubelet',
      ...(isLong
        ? { place: '99th percentile' }
        : { place: `one look, ${new Date(facts.use?.at ?? 0).toISOString().slice(0, 16)}Z` }),
    },
    { field: `${resource}.reserved`, value: writeAmount(kept, UNITS[resource]) },
  ];
}

/** What the profile keeps back on each; machines of one size are computed once. */
function amountsFor(
  name: (typeof PROFILE_NAMES)[number],
  rooms: readonly NodeRoom[],
): readonly ReturnType<typeof profileAmounts>[] {
  const known = new Map<string, ReturnType<typeof profileAmounts>>();
  return rooms.map(({ machine }) => {
    // No profile asks for labels, which no two machines have alike.
    const size = JSON.stringify({ ...machine, labels: {} });
    const amounts = known.get(size) ?? profileAmounts(name, machine);
    known.set(size, amounts);
    return amounts;
  });
}

/** What each profile would keep back of the whole fleet, against what is kept back now. */
function profilesCheck(rooms: readonly NodeRoom[]): AuditCheck {
  const evidence = PROFILE_NAMES.flatMap((name): readonly Evidence[] => {
    const amounts = amountsFor(name, rooms);
    const changes = RESOURCES.flatMap((resource) => {
      const wanted = amounts.reduce((sum, of) => sum + (of[resource] ?? 0), 0);
      if (wanted === 0) return [];
      const now = sumOf(rooms, resource, ({ kubeReserved, systemReserved }) => kubeReserved + systemReserved);
      const change = wanted - now;
      const text = formatResource(resource, Math.abs(change));
      return [`${change < 0 ? 'frees' : 'protects'} ${text} ${resource}`];
    });
    return changes.length === 0 ? [] : [{ field: `profile ${name}`, value: changes.join(', ') }];
  });
  const rule: Rule = {
    id: 'room/profiles',
    title: 'Compare the reservations with the profiles of providers',
    severity: 'low',
    references: [],
  };
  return checkOf(
    rule,
    rooms.map(({ facts }) => [facts.name, { result: 'info', evidence }] as const),
  );
}
