import type { HoldCheck } from './hold-question.ts';

/** Its labels put it into no pool, into another class of machines or, with many others, into another pool, and may come back. */
export const unselected: HoldCheck = ({ targeted: { member }, facts }) =>
  facts.unselected.get(member.node.name) ?? null;
