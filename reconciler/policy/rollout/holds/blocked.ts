import { hold } from './hold.ts';
import { isRevertOfPayload } from '../revert.ts';
import type { HoldCheck } from './hold-question.ts';

/** Something that has to be quiet before any node of the pool is changed is not. */
export const poolBlocked: HoldCheck = (question) => {
  const { group, blockers } = question.facts;
  if (group.pool?.spec.blockers === undefined || isRevertOfPayload(question)) return null;
  if (blockers === undefined) return hold('blocked', 'its blockers were not asked yet');
  return blockers.quiet ? null : hold('blocked', blockers.because);
};

/** A pod that must not run while its node is changed runs on this one. */
export const busy: HoldCheck = (question) => {
  const { group, blockers } = question.facts;
  if (group.pool?.spec.blockers === undefined || isRevertOfPayload(question)) return null;
  const because = blockers?.busy?.get(question.targeted.member.node.name);
  return because === undefined ? null : hold('blocked', because);
};
