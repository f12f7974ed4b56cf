import type { HoldCheck } from './question.ts';

/** Its labels put it into no pool or, with many others, into another one, and may come back. */
export const unselected: HoldCheck = ({ aimed: { member }, facts }) => facts.unselected.get(member.node.name) ?? null;
