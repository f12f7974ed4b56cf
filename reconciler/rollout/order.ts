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
export function inOrder(members: readonly Member[]): readonly Member[] {
  return members
    .map((member) => ({ member, begun: isBegun(member), zone: zoneOf(member) }))
    .sort(
      (a, b) =>
        Number(b.begun) - Number(a.begun) ||
        compare(a.zone, b.zone) ||
        a.member.node.createdAt - b.member.node.createdAt ||
        compare(a.member.node.name, b.member.node.name),
    )
    .map(({ member }) => member);
}

const isBegun = ({ changing, node }: Member): boolean => changing || node.drain !== undefined;

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
