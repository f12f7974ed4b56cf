import { hold } from './hold.ts';
import type { HoldCheck } from './hold-question.ts';

/** The config file of its own with which the node asks to restart its kubelet failed on another node of the pool already. */
export const baseRefused: HoldCheck = ({ targeted: { member }, facts: { refusedBases } }) => {
  const base = member.turnRequest?.base;
  const node = base === undefined ? undefined : refusedBases.get(base);
  return node === undefined ? null : hold('base-refused', `node ${node} failed with this config file of its own`);
};
