import type { NodeView } from '../fleet.ts';
import { isInPlace, type Member } from './membership.ts';

const ZONE_LABEL = 'topology.kubernetes.io/zone';

/** Zone of a node; '' where its label is missing. */
export function zoneOf({ node }: Pick<Member, 'node'>): string {
  return node.labels[ZONE_LABEL] ?? '';
}

/**
 * The order in which nodes are changed: those that are in the middle of a change or being drained first, because they cost nobody else's
 * place, and those that are not Ready last, after those that an autoscaler may remove, so that canaries are nodes that can prove something. Among each of them zone by zone, the
 * oldest first, and by name where that is the same. Stable from pass to pass.
 */
export function inChangeOrder<T extends { readonly member: Member }>(things: readonly T[]): readonly T[] {
  const {
    begun = [],
    ready = [],
    candidate = [],
    notReady = [],
  } = Object.groupBy(things, ({ member }) => turnOf(member));
  return [begun, ready, candidate, notReady].flatMap(byZone);
}

function turnOf(member: Member): 'begun' | 'ready' | 'candidate' | 'notReady' {
  const { ready, drain, deletionCandidate } = member.node;
  if (isInPlace(member) || drain !== undefined) return 'begun';
  if (!ready) return 'notReady';
  return deletionCandidate === true ? 'candidate' : 'ready';
}

function byZone<T extends { readonly member: Member }>(things: readonly T[]): readonly T[] {
  const zones = Map.groupBy(things, ({ member }) => zoneOf(member));
  const inTurn = [...zones].sort(([a], [b]) => compare(a, b));
  return inTurn.flatMap(([, zone]) => zone.sort((a, b) => byAge(a.member.node, b.member.node)));
}

const byAge = (a: NodeView, b: NodeView): number => a.createdAt - b.createdAt || compare(a.name, b.name);

/** No two nodes have one name, nor two groups one zone. */
const compare = (a: string, b: string): number => (a < b ? -1 : 1);
