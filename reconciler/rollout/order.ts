import type { Member } from './membership.ts';

const ZONE_LABEL = 'topology.kubernetes.io/zone';

/** Zone of a node; '' where its label is missing. */
export function zoneOf({ node }: Pick<Member, 'node'>): string {
  return node.labels[ZONE_LABEL] ?? '';
}

/**
 * The order in which nodes are changed: those that are in the middle of a change or being drained first, because they cost nobody else's
 * place, then zone by zone, the oldest first, and by name where that is the same. Stable from pass to pass.
 */
export function inOrder<T extends { readonly member: Member }>(things: readonly T[]): readonly T[] {
  return things
    .map((thing) => ({ thing, node: thing.member.node, begun: isBegun(thing.member), zone: zoneOf(thing.member) }))
    .sort(
      (a, b) =>
        Number(b.begun) - Number(a.begun) ||
        compare(a.zone, b.zone) ||
        a.node.createdAt - b.node.createdAt ||
        compare(a.node.name, b.node.name),
    )
    .map(({ thing }) => thing);
}

const isBegun = ({ changing, node }: Member): boolean => changing || node.drain !== undefined;

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
