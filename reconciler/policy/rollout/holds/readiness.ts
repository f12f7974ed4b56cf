import { isCordonedByOthers, isHeldForNotReady } from '../readiness.ts';
import { hold } from './hold.ts';
import type { HoldCheck } from './question.ts';

export const notReady: HoldCheck = ({ aimed: { member }, facts: { group } }) =>
  isHeldForNotReady(member, group.pool?.spec.rollout)
    ? hold(
        'not-ready',
        'the node is not Ready; where this config is to mend it, the pool says rollout.notReadyNodes: change',
      )
    : null;

/** Somebody works on it. */
export const cordoned: HoldCheck = ({ aimed: { member } }) =>
  isCordonedByOthers(member) ? hold('cordoned', 'the node is cordoned') : null;
