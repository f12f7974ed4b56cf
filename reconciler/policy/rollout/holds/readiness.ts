import type { RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';
import type { Member } from '../membership.ts';
import { hold } from './hold.ts';
import type { HoldCheck } from './question.ts';

type Rollout = Pick<RolloutSpec, 'notReadyNodes'> | undefined;

/** Troubles of its own, which another config would only hide, unless its pool says that the config is to end them. */
export const notReady: HoldCheck = ({ aimed: { member }, facts: { group } }) =>
  isHeldForNotReady(member, group.pool?.spec.rollout)
    ? hold(
        'not-ready',
        'the node is not Ready; where this config is to mend it, the pool says rollout.notReadyNodes: change',
      )
    : null;

/** Somebody works on it. What we cordoned ourselves is about to be changed. */
export const cordoned: HoldCheck = ({ aimed: { member } }) =>
  isCordonedByOthers(member) ? hold('cordoned', 'the node is cordoned') : null;

/** Whether a node that has yet to be told can be, as it is now: what it is in the middle of already waits for no readiness. */
export const canBeChanged = (member: Pick<Member, 'node' | 'changing'>, rollout: Rollout): boolean =>
  member.changing || (!isHeldForNotReady(member, rollout) && !isCordonedByOthers(member));

const isHeldForNotReady = ({ node }: Pick<Member, 'node'>, rollout: Rollout): boolean =>
  !node.ready && rollout?.notReadyNodes !== 'change';

const isCordonedByOthers = ({ node }: Pick<Member, 'node'>): boolean => node.cordoned && node.drain === undefined;
