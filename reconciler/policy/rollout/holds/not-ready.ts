import { isCordonedByOthers, isHeldForNotReady } from '../readiness.ts';
import { hold } from './hold.ts';
import type { HoldCheck } from './hold-question.ts';

export const notReady: HoldCheck = ({ targeted: { member }, facts: { group } }) =>
  isHeldForNotReady(member, group.pool?.spec.rollout)
    ? hold(
        'not-ready',
        'the node is not Ready; if this config fixes that, set rollout.notReadyNodes: change in the pool',
      )
    : null;

/** Somebody works on it. */
export const cordoned: HoldCheck = ({ targeted: { member } }) =>
  isCordonedByOthers(member) ? hold('cordoned', 'the node is cordoned') : null;
