import type { RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';
import { absenceOf, type AbsenceReason } from '#reconciler/policy/participation.ts';
import { UNKNOWN_CLASS } from '#reconciler/policy/payload-classes.ts';
import { limitOf } from '#reconciler/policy/rollout/amount.ts';
import { memberOf } from '#reconciler/policy/rollout/membership.ts';
import { inChangeOrder } from '#reconciler/policy/rollout/node-order.ts';
import { isFull, type Places } from '#reconciler/policy/rollout/places.ts';
import { isControlPlane } from '#reconciler/policy/rollout/quorum.ts';
import type { InventoryNode } from '../inventory/inventory-node.ts';
import { nodeViewOf } from '../inventory/node-view.ts';

/** Nodes that cannot take part now, with the reason as a clause for people. */
export interface Absent {
  readonly nodes: readonly string[];
  readonly because: string;
}

/** Who of a pool can begin now, and who stands in the way of the others. */
export interface WhoCanBegin {
  /** Of those that change, in the reconciler's order. */
  readonly able: readonly InventoryNode[];
  /** Those of the pool, within the bound over all pools. */
  readonly places: Readonly<Places>;
  readonly placesIn: (zone: string) => Readonly<Places>;
  /** What nobody begins without: who is in the way of nodes that could begin, or what keeps each where none could. */
  readonly blocking: readonly Absent[];
  /** What these nodes wait for: what keeps each of them, or those that are in its way. */
  readonly explain: (waiting: readonly InventoryNode[]) => readonly Absent[];
}

/** What the bound over all pools leaves, and who of all pools takes places of it. */
export interface OverallBound extends Readonly<Places> {
  readonly unavailable: readonly InventoryNode[];
}

/** Of one that its pool changes all the same. */
export const NOT_READY = 'the node is not Ready';

/** Those that take a place, as `rollout/max-unavailable.ts` has it. */
const TAKE_A_PLACE: readonly AbsenceReason[] = ['no-agent', 'not-ready', 'cordoned'];

/** What the list of absences (`policy/participation.ts`) says of a node of an inventory. */
function absenceIn(node: InventoryNode, rollout?: RolloutSpec, reasons?: readonly AbsenceReason[]): string | undefined {
  const who = { node: nodeViewOf(node, 0, 0), isSilent: node.silent === true };
  return absenceOf(who, rollout, reasons)?.because;
}

/** Before anything changes, and whether the pool changes such nodes or not. */
export const isUnavailable = (node: InventoryNode): boolean => absenceIn(node, undefined, TAKE_A_PLACE) !== undefined;

/**
 * @param members all nodes of the pool
 * @param touched those of them that change
 * @param overall null for no bound
 * @param kept    why the reconciler does not begin with others that could, by name
 */
export function whoCanBegin(
  rollout: RolloutSpec,
  members: readonly InventoryNode[],
  touched: readonly InventoryNode[],
  overall: OverallBound | null,
  kept: ReadonlyMap<string, string> = new Map(),
): WhoCanBegin {
  const absence = (node: InventoryNode): string | undefined => absenceIn(node, rollout) ?? kept.get(node.name);
  const { maxUnavailable, maxUnavailablePerZone: perZone } = rollout;
  const unavailable = members.filter(isUnavailable);
  const allowed = limitOf(maxUnavailable, members.length);
  const own = allowed - unavailable.length;
  const free = Math.max(0, Math.min(own, overall?.free ?? own));
  const places: Places = { free, forNotReady: Math.min(allowed, overall?.forNotReady ?? allowed) };
  const zones = Map.groupBy(members, zoneIn);
  const placesIn = (zone: string): Places => {
    if (perZone === undefined) return places;
    const away = unavailable.filter((node) => zoneIn(node) === zone).length;
    const most = limitOf(perZone, zones.get(zone)?.length ?? 0);
    return { free: most - away, forNotReady: most };
  };
  const serversAway = members.filter(({ labels, ready }) => isControlPlane(labels) && !ready);

  /** Who has to come back before this one may begin. */
  function inTheWayOf(node: InventoryNode): readonly InventoryNode[] {
    if (isFull(places, node)) return own <= 0 ? unavailable : (overall?.unavailable ?? []);
    const servers = isControlPlane(node.labels) ? serversAway.filter((each) => each !== node) : [];
    const zone = zoneIn(node);
    return isFull(placesIn(zone), node)
      ? [...servers, ...unavailable.filter((each) => zoneIn(each) === zone)]
      : servers;
  }
  const isAble = (node: InventoryNode): boolean =>
    absence(node) === undefined && !isFull(places, node) && inTheWayOf(node).length === 0;
  function explain(waiting: readonly InventoryNode[]): readonly Absent[] {
    const absent = new Set(waiting.flatMap((node) => (absence(node) === undefined ? inTheWayOf(node) : [node])));
    const alike = Map.groupBy(absent, (node) => absence(node) ?? NOT_READY);
    return [...alike].map(([because, nodes]) => ({ nodes: nodes.map(({ name }) => name), because }));
  }
  const present = touched.filter((node) => absence(node) === undefined);
  const blocking = explain(present.length > 0 ? present : touched);
  return { able: inOrder(touched).filter(isAble), places, placesIn, blocking, explain };
}

export const zoneIn = ({ labels }: InventoryNode): string => labels['topology.kubernetes.io/zone'] ?? '';

/** The reconciler's own order. @param classOf the name of a node's class of machines: for the order in which canaries are chosen */
export function inOrder(
  nodes: readonly InventoryNode[],
  classOf?: (node: InventoryNode) => string,
): readonly InventoryNode[] {
  const things = nodes.map((node, index) => {
    const payloadClass = classOf && { ...UNKNOWN_CLASS, name: classOf(node) };
    return { node, member: memberOf(nodeViewOf(node, index, 0), undefined, null, 0, 0, payloadClass) };
  });
  // An inventory does not say which nodes are new.
  const found = inChangeOrder(things, Infinity, () => classOf !== undefined);
  return found.map(({ node }) => node);
}
