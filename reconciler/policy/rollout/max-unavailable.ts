import type { Amount } from '#shared/contract/api/kubelet-pool.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { firstFew } from '#shared/runtime/first-few.ts';
import type { Fleet } from '../fleet.ts';
import type { Targeted } from './targets.ts';
import { limitOf } from './amount.ts';
import { membersByClass } from './canaries.ts';
import { type Hold, hold } from './holds/hold.ts';
import { configNameFor, type Group, isInPlace, isUnavailable, type Member, type SkippedNode } from './membership.ts';
import { isProven, mostOnTrial, type OnTrial, onTrialIn } from './on-trial.ts';
import { zoneOf } from './node-order.ts';
import { isFull, occupy, type Places } from './places.ts';
import { quorumOf } from './quorum.ts';

/** What may still become unavailable in one round of decisions; each node that is changed takes its place in all of them. */
export interface Budgets {
  /** Takes a place for a node of this group that is about to begin, or says which bound has none left. */
  take(group: Group, aimed: Pick<Targeted, 'member' | 'targetKind'>): Hold | null;
  /** Lets a node begin whose pods have left. It has its place, but by now others may be away, or have heard of the payload. */
  resume(group: Group, aimed: Pick<Targeted, 'member' | 'targetKind'>): Hold | null;
  /** Lets a node that is in the middle of a change hear of the pool's payload. It is down already, but the payload is unproven. */
  expose(group: Group, member: Member): Hold | null;
  /** Lets a new node begin with what its pool settled on: by a bound of its own, which no node that serves pays for. */
  admit(group: Group, member: Member): Hold | null;
  /** What is on trial in a group, before anybody takes a place; undefined where it has no pool. */
  onTrial(group: Group): OnTrial | undefined;
}

interface BoundedPlaces extends Places {
  readonly allowed: number;
  /** Who takes places without being changed, for people; '' for nobody. */
  readonly taken: string;
  /** How many more new nodes may begin. */
  forNew: number;
}

/** How many more nodes of a pool may hear of a payload that is not proven yet; Infinity where the pool settled on it. */
interface Exposure extends Unproven {
  readonly trial: OnTrial;
  /** How many more nodes may begin to try any config, those that end the trial of one before among them. */
  roomForMore: number;
  /** Who ends the trial of one before, and may be told this one without room. */
  readonly superseded: ReadonlySet<string>;
  /** Of the same. */
  readonly names: ReadonlySet<string>;
  /** By class of machines, the same of its own config; empty where one bound says it all. */
  readonly classes: ReadonlyMap<string, Unproven>;
}

interface Unproven {
  unproven: number;
  /** The same, with nothing kept free for nodes that are drained for it. */
  unprovenDrained: number;
}

/** New nodes begin at most so many at a time, or ten where that is more. */
const NEW_AT_ONCE: Amount = '50%';
const NEW_AT_LEAST = 10;

/**
 * Counts every node that is unavailable for whatever reason (NotReady, cordoned, updating, failed, no agent; soaking, with a full
 * probation) against the bounds of its pool, of its zone within the pool, and of all pools together. A node that is not Ready costs no
 * further place, but the bounds hold for how many of such nodes are in change as well. Nodes of the control plane
 * besides go one at a time, and never while another is not Ready: their quorum is at stake.
 *
 * A node that is past its probation gives its place back, and not that among the nodes on trial, of which there is a bound of its
 * own until the pool settles on the payload, however they came to hear of it (`on-trial.ts`).
 *
 * @param fleet   the whole cluster: the quorum does not care for pools, and a node that left its pool may still try its payload
 * @param bounds  over all pools, each of which holds; null for none
 */
export function budgetsOf(
  groups: readonly Group[],
  untouchable: readonly SkippedNode[],
  fleet: Fleet,
  bounds: readonly (Amount | null)[],
  now: Millis,
): Budgets {
  const pools = new Map(groups.map((group) => [group, placesFor(group.members, maxUnavailable(group))]));
  const exposures = new Map(
    [...onTrialIn(groups, fleet, now)].map(([group, trial]): [Group, Exposure] => {
      const names = new Set(trial.names);
      const classes = new Map<string, Unproven>();
      for (const [{ name }, own] of trial.classes === undefined ? [] : membersByClass(group.members)) {
        const allowed = trial.classes?.get(name)?.allowed;
        const on = own.filter(({ node }) => names.has(node.name)).length;
        if (allowed !== undefined) classes.set(name, unprovenOf(allowed - on, group, own));
      }
      const widest = trial.by === 'maxOnTrial' ? mostOnTrialIn(group) : Number.POSITIVE_INFINITY;
      const superseded = new Set(trial.superseded);
      const roomForMore = widest - names.size - superseded.size;
      const left = unprovenOf(trial.allowed - names.size, group, group.members);
      return [group, { trial, names, superseded, classes, roomForMore, ...left }];
    }),
  );
  const zones = new Map<Group, ReadonlyMap<string, BoundedPlaces>>();
  const everybody = groups.flatMap(({ members }) => members);
  const overall = bounds.flatMap((bound) => (bound === null ? [] : [limitOf(bound, everybody.length)]));
  const all = placesFor(everybody, Math.min(Number.POSITIVE_INFINITY, ...overall));
  const quorum = quorumOf(everybody, untouchable, fleet, now);

  return {
    take(group, { member, targetKind }) {
      const [pool, zone] = [pools.get(group), zonesOf(group)?.get(zoneOf(member))];
      const missing = quorum.hold(member.node);
      if (missing !== null) return missing;
      if (pool !== undefined && isFull(pool, member.node)) {
        const unit = pool.allowed === 1 ? 'node' : 'nodes';
        return hold('budget', `maxUnavailable allows ${pool.allowed} unavailable ${unit} in this pool${pool.taken}`);
      }
      if (zone !== undefined && isFull(zone, member.node)) {
        const where = zoneOf(member) === '' ? 'among nodes without a zone label' : `in zone ${zoneOf(member)}`;
        return hold('zone-budget', `maxUnavailablePerZone allows ${zone.allowed} ${where}${zone.taken}`);
      }
      if (isFull(all, member.node)) {
        return hold('overall-budget', `the cluster's maxUnavailable allows ${all.allowed} over all pools${all.taken}`);
      }
      const unproven = targetKind === 'config' ? this.expose(group, member) : null;
      if (unproven !== null) return unproven;
      for (const places of [pool, zone, all]) if (places !== undefined) occupy(places, member.node);
      quorum.leave(member.node);
      return null;
    },
    resume(group, { member, targetKind }) {
      const full = quorum.holdDrained(member.node) ?? (targetKind === 'config' ? this.expose(group, member) : null);
      if (full === null) quorum.leave(member.node);
      return full;
    },
    expose(group, member) {
      const left = exposures.get(group);
      if (left === undefined || isOnTrialAlready(member, left)) return null;
      if (isProven(group, member.node.name, member.target)) return null;
      const isSuperseded = left.superseded.has(member.node.name);
      if (!isSuperseded && left.roomForMore <= 0) return hold('budget', fullOf(left.trial));
      const isKept = isDrainedFor(group, member);
      if ((isKept ? left.unprovenDrained : left.unproven) <= 0) return hold('budget', fullOf(left.trial));
      const own = left.classes.get(member.payloadClass?.name ?? '');
      if (own !== undefined && (isKept ? own.unprovenDrained : own.unproven) <= 0) {
        return hold(
          'budget',
          `no more machines with ${member.payloadClass?.name} until their class has proven its config`,
        );
      }
      if (!isSuperseded) left.roomForMore -= 1;
      for (const places of own === undefined ? [left] : [left, own]) {
        places.unprovenDrained -= 1;
        if (!isKept) places.unproven -= 1;
      }
      return null;
    },
    admit(group, member) {
      const pool = pools.get(group);
      const missing = quorum.hold(member.node);
      if (missing !== null || pool === undefined) return missing;
      if (pool.forNew <= 0) return hold('budget', 'as many new nodes as may start at once are starting');
      pool.forNew -= 1;
      quorum.leave(member.node);
      return null;
    },
    onTrial: (group) => exposures.get(group)?.trial,
  };

  function zonesOf(group: Group): ReadonlyMap<string, BoundedPlaces> | undefined {
    const amount = group.pool?.spec.rollout.maxUnavailablePerZone;
    if (amount === undefined) return undefined;
    const known = zones.get(group) ?? zonesWith(group.members, amount);
    zones.set(group, known);
    return known;
  }
}

const mostOnTrialIn = ({ pool, members }: Group): number =>
  pool === null ? Number.POSITIVE_INFINITY : mostOnTrial(pool.spec.rollout, members.length);

const maxUnavailable = ({ pool }: Group): Amount => pool?.spec.rollout.maxUnavailable ?? 1;

function placesFor(all: readonly Member[], amount: Amount): BoundedPlaces {
  const allowed = limitOf(amount, all.length);
  const members = all.filter(({ joining }) => !joining);
  const [unavailable, inChange] = [members.filter(isUnavailable), members.filter(isInPlace)];
  const taken = takenBy(unavailable.filter((member) => !isInPlace(member)).map(({ node }) => node.name));
  const beginning = all.filter((member) => member.joining && isInPlace(member)).length;
  return {
    allowed,
    free: allowed - unavailable.length,
    forNotReady: allowed - inChange.length,
    taken,
    forNew: Math.max(NEW_AT_LEAST, limitOf(NEW_AT_ONCE, all.length)) - beginning,
  };
}

/** Its pods leave for the pool's payload, which it hears of afterwards, unless somebody let them back on. */
const isDrainedFor = ({ pool }: Group, { node, isAssigned }: Member): boolean =>
  !isAssigned && node.cordoned && node.drain !== undefined && node.drain.config === configNameFor(pool, node.name);

const unprovenOf = (left: number, group: Group, members: readonly Member[]): Unproven => ({
  unproven: left - members.filter((member) => isDrainedFor(group, member)).length,
  unprovenDrained: left,
});

/**
 * A node that is to try once more what it took back was told it, and is not on trial: with a full probation it counts all along. One
 * that was told what another class of machines gets has its place already, and would wait for itself.
 */
const isOnTrialAlready = ({ node, isAssigned, forgive }: Member, { trial, names }: Exposure): boolean =>
  isAssigned ? !(forgive && trial.by === 'maxOnTrial') : names.has(node.name);

function fullOf({ by, allowed, names, superseded, failed }: OnTrial): string {
  if (names.length < allowed && superseded.length > 0) {
    return `maxOnTrial has no place left while nodes finish the trial of an earlier config: ${firstFew(superseded)}`;
  }
  const what = by === 'maxOnTrial' ? 'on trial now' : 'to try a config that is not proven yet';
  const because = failed.length === 0 ? '' : `, because ${firstFew(failed)} took it back`;
  return `${by} allows ${allowed} ${what}${because}; on trial: ${firstFew(names)}`;
}

const takenBy = (names: readonly string[]): string =>
  names.length === 0 ? '' : `; unavailable already: ${firstFew(names)}`;

function zonesWith(members: readonly Member[], amount: Amount): ReadonlyMap<string, BoundedPlaces> {
  const byZone = Map.groupBy(members, zoneOf);
  return new Map([...byZone].map(([zone, list]) => [zone, placesFor(list, amount)]));
}
