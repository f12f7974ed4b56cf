import type { NodeView } from '../fleet.ts';
import { budgetOf } from './amount.ts';
import { type Hold, hold } from './hold.ts';
import type { Group, Member, Untouchable } from './membership.ts';
import { zoneOf } from './order.ts';

/** What may still become unavailable in one round of decisions; each node that is changed takes its place in all of them. */
export interface Budgets {
  /** Takes a place for a node of this group, or says which bound has none left. */
  take(group: Group, member: Member): Hold | null;
}

interface Places {
  free: number;
  readonly allowed: number;
}

/**
 * Counts every node that is unavailable for whatever reason (NotReady, cordoned, updating, soaking, failed, no agent)
 * against the bounds of its pool, of its zone within the pool, and of all pools together. Nodes of the control plane
 * besides go one at a time, and never while another is not Ready: their quorum is at stake.
 *
 * @param nodes   of the whole cluster: the quorum does not care for pools
 * @param overall bound over all pools; null for none
 */
export function budgetsOf(
  groups: readonly Group[],
  untouchable: readonly Untouchable[],
  nodes: Iterable<NodeView>,
  overall: number | string | null,
): Budgets {
  const pools = new Map(groups.map((group) => [group, placesFor(group.members, maxUnavailable(group))]));
  const zones = new Map<Group, ReadonlyMap<string, Places>>();
  const everybody = groups.flatMap(({ members }) => members);
  const all = overall === null ? null : placesFor(everybody, overall);
  let controlPlane = absentFromControlPlane(everybody, untouchable, nodes);

  return {
    take(group, member) {
      const [pool, zone] = [pools.get(group), zonesOf(group)?.get(zoneOf(member))];
      if (isControlPlane(member.node.labels) && controlPlane > 0) {
        return hold('control-plane', 'another node of the control plane is not available; they go one at a time');
      }
      if (pool !== undefined && pool.free <= 0) {
        const unit = pool.allowed === 1 ? 'node' : 'nodes';
        return hold('budget', `maxUnavailable allows ${pool.allowed} unavailable ${unit} in this pool`);
      }
      if (zone !== undefined && zone.free <= 0) {
        const where = zoneOf(member) === '' ? 'among nodes without a zone label' : `in zone ${zoneOf(member)}`;
        return hold('zone-budget', `maxUnavailablePerZone allows ${zone.allowed} ${where}`);
      }
      if (all !== null && all.free <= 0) {
        return hold('overall-budget', `the cluster's maxUnavailable allows ${all.allowed} over all pools`);
      }
      for (const places of [pool, zone, all]) if (places !== null && places !== undefined) places.free -= 1;
      if (isControlPlane(member.node.labels)) controlPlane += 1;
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

const maxUnavailable = ({ pool }: Group): number | string => pool?.spec.rollout.maxUnavailable ?? 1;

function placesFor(members: readonly Member[], amount: number | string): Places {
  const allowed = budgetOf(amount, members.length);
  return { allowed, free: allowed - members.filter((member) => member.unavailable).length };
}

function zonesWith(members: readonly Member[], amount: number | string): ReadonlyMap<string, Places> {
  const byZone = Map.groupBy(members, zoneOf);
  return new Map([...byZone].map(([zone, list]) => [zone, placesFor(list, amount)]));
}

function absentFromControlPlane(
  members: readonly Member[],
  untouchable: readonly Untouchable[],
  nodes: Iterable<NodeView>,
): number {
  const isAway = ({ changing, standing }: Member): boolean =>
    changing || standing === 'updating' || standing === 'soaking' || standing === 'failed';
  const away = [
    ...[...nodes].filter(({ ready }) => !ready),
    ...[...members.filter(isAway), ...untouchable.filter(({ changing }) => changing)].map(({ node }) => node),
  ];
  return new Set(away.filter(({ labels }) => isControlPlane(labels)).map(({ name }) => name)).size;
}

/** Of kubeadm since 1.20, and before; and of k3s and RKE2 for servers that hold etcd alone, whose quorum is as dear. */
const CONTROL_PLANE_ROLES = ['control-plane', 'master', 'etcd'];

export const isControlPlane = (labels: Readonly<Record<string, string>>): boolean =>
  CONTROL_PLANE_ROLES.some((role) => labels[`node-role.kubernetes.io/${role}`] !== undefined);
