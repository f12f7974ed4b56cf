import { isCordonedByOthers, isHeldForNotReady } from '../readiness.ts';
import { hold } from './hold.ts';
import type { HoldCheck } from './question.ts';

export const notReady: HoldCheck = ({ aimed: { member }, facts: { group } }) =>
  isHeldForNotReady(member, group.pool?.spec.rollout)
    ? hold(
        'not-ready',
        'the node is not Ready; if this config fixes that, set rollout.notReadyNodes: change in the pool',
      )
    : null;

/** Somebody works on it. */
export const cordoned: HoldCheck = ({ aimed: { member } }) =>
  isCordonedByOthers(member) ? hold('cordoned', 'the node is cordoned') : null;
