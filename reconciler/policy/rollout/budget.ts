import type { Amount } from '#shared/contract/api/kubelet-pool.ts';
import type { NodeView } from '../fleet.ts';
import { limitOf } from './amount.ts';
import { type Hold, hold } from './holds/hold.ts';
import type { Group, Member, Untouchable } from './membership.ts';
import { zoneOf } from './order.ts';

/** What may still become unavailable in one round of decisions; each node that is changed takes its place in all of them. */
export interface Budgets {
  /** Takes a place for a node of this group, or says which bound has none left. */
  take(group: Group, member: Member): Hold | null;
}

interface Places {
  /** For nodes that are available until they are changed. */
  free: number;
  /** For nodes that are not Ready, and counted as unavailable already: no more than `allowed` are in change at a time either. */
  forNotReady: number;
  readonly allowed: number;
  /** Who takes places without being changed, for people; '' for nobody. */
  readonly taken: string;
}

/**
 * Counts every node that is unavailable for whatever reason (NotReady, cordoned, updating, soaking, failed, no agent)
 * against the bounds of its pool, of its zone within the pool, and of all pools together. A node that is not Ready costs no
 * further place, but the bounds hold for how many of such nodes are in change as well. Nodes of the control plane
 * besides go one at a time, and never while another is not Ready: their quorum is at stake.
 *
 * @param nodes   of the whole cluster: the quorum does not care for pools
 * @param overall bound over all pools; null for none
 */
export function budgetsOf(
  groups: readonly Group[],
  untouchable: readonly Untouchable[],
  nodes: Iterable<NodeView>,
  overall: Amount | null,
): Budgets {
  const pools = new Map(groups.map((group) => [group, placesFor(group.members, maxUnavailable(group))]));
  const zones = new Map<Group, ReadonlyMap<string, Places>>();
  const everybody = groups.flatMap(({ members }) => members);
  const all = overall === null ? null : placesFor(everybody, overall);
  const away = absentFromControlPlane(everybody, untouchable, nodes);

  return {
    take(group, member) {
      const [pool, zone] = [pools.get(group), zonesOf(group)?.get(zoneOf(member))];
      const { name, labels } = member.node;
      if (isControlPlane(labels) && away.size > (away.has(name) ? 1 : 0)) {
        return hold('control-plane', 'another node of the control plane is not available; they go one at a time');
      }
      if (pool !== undefined && isFull(pool, member)) {
        const unit = pool.allowed === 1 ? 'node' : 'nodes';
        return hold('budget', `maxUnavailable allows ${pool.allowed} unavailable ${unit} in this pool${pool.taken}`);
      }
      if (zone !== undefined && isFull(zone, member)) {
        const where = zoneOf(member) === '' ? 'among nodes without a zone label' : `in zone ${zoneOf(member)}`;
        return hold('zone-budget', `maxUnavailablePerZone allows ${zone.allowed} ${where}${zone.taken}`);
      }
      if (all !== null && isFull(all, member)) {
        return hold('overall-budget', `the cluster's maxUnavailable allows ${all.allowed} over all pools${all.taken}`);
      }
      for (const places of [pool, zone, all]) if (places !== null && places !== undefined) occupy(places, member);
      if (isControlPlane(labels)) away.add(name);
      return null;
    },
  };

  function zonesOf(group: Group): ReadonlyMap<string, Places> | undefined {
    const amount = group.pool?.spec.rollout.maxUnavailablePerZone;
    if (amount === undefined) return undefined;
    const known = zones.get(group) ?? zonesWith(group.members, amount);
    zones.set(group, known);
    return known;
  }
}

const maxUnavailable = ({ pool }: Group): Amount => pool?.spec.rollout.maxUnavailable ?? 1;

function placesFor(members: readonly Member[], amount: Amount): Places {
  const allowed = limitOf(amount, members.length);
  const [unavailable, inChange] = [members.filter((member) => member.unavailable), members.filter(isInChange)];
  const taken = takenBy(unavailable.filter((member) => !isInChange(member)).map(({ node }) => node.name));
  return { allowed, free: allowed - unavailable.length, forNotReady: allowed - inChange.length, taken };
}

const MOST_NAMES = 3;

function takenBy(names: readonly string[]): string {
  if (names.length === 0) return '';
  const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : '';
  return `; unavailable already: ${names.slice(0, MOST_NAMES).join(', ')}${more}`;
}

const isInChange = ({ changing, standing }: Member): boolean =>
  changing || standing === 'updating' || standing === 'soaking';

const isFull = ({ free, forNotReady }: Places, { node }: Member): boolean => (node.ready ? free : forNotReady) <= 0;

function occupy(places: Places, { node }: Member): void {
  if (node.ready) places.free -= 1;
  places.forNotReady -= 1;
}

function zonesWith(members: readonly Member[], amount: Amount): ReadonlyMap<string, Places> {
  const byZone = Map.groupBy(members, zoneOf);
  return new Map([...byZone].map(([zone, list]) => [zone, placesFor(list, amount)]));
}

function absentFromControlPlane(
  members: readonly Member[],
  untouchable: readonly Untouchable[],
  nodes: Iterable<NodeView>,
): Set<string> {
  const isAway = (member: Member): boolean => isInChange(member) || member.standing === 'failed';
  const away = [
    ...[...nodes].filter(({ ready }) => !ready),
    ...[...members.filter(isAway), ...untouchable.filter(({ changing }) => changing)].map(({ node }) => node),
  ];
  return new Set(away.filter(({ labels }) => isControlPlane(labels)).map(({ name }) => name));
}

/** Of kubeadm since 1.20, and before; and of k3s and RKE2 for servers that hold etcd alone, whose quorum is as dear. */
const CONTROL_PLANE_ROLES = ['control-plane', 'master', 'etcd'];

export const isControlPlane = (labels: Readonly<Record<string, string>>): boolean =>
  CONTROL_PLANE_ROLES.some((role) => labels[`node-role.kubernetes.io/${role}`] !== undefined);
