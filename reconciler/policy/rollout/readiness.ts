import type { RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';
import type { Member } from './membership.ts';

type Rollout = Pick<RolloutSpec, 'notReadyNodes'> | undefined;

/** Whether a node that has yet to be told can be, as it is now: what it is in the middle of already waits for no readiness. */
export const canBeChanged = (member: Pick<Member, 'node' | 'changing' | 'unrendered'>, rollout: Rollout): boolean =>
  member.unrendered === undefined &&
  (member.changing || (!isHeldForNotReady(member, rollout) && !isCordonedByOthers(member)));

/** It has troubles of its own, which another config would only hide, unless its pool says that the config is to end them. */
export const isHeldForNotReady = ({ node }: Pick<Member, 'node'>, rollout: Rollout): boolean =>
  !node.ready && rollout?.notReadyNodes !== 'change';

/** What we cordoned ourselves is about to be changed. */
export const isCordonedByOthers = ({ node }: Pick<Member, 'node'>): boolean =>
  node.cordoned && node.drain === undefined;
