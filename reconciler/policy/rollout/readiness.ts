import type { RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';
import { type Hold, hold } from './hold.ts';
import type { Member } from './membership.ts';

/**
 * What about a node itself speaks against beginning a change of it: troubles of its own, which another config would only hide, unless
 * its pool says that the config is to end them; or somebody who works on it. What we cordoned ourselves is about to be changed.
 */
export function readiness(
  { node }: Pick<Member, 'node'>,
  rollout: Pick<RolloutSpec, 'notReadyNodes'> | undefined,
): Hold | null {
  if (!node.ready && rollout?.notReadyNodes !== 'change') return NOT_READY;
  return node.cordoned && node.drain === undefined ? CORDONED : null;
}

/** Whether a node that has yet to be told can be, as it is now: what it is in the middle of already waits for no readiness. */
export function canBeChanged(
  member: Pick<Member, 'node' | 'changing'>,
  rollout: Pick<RolloutSpec, 'notReadyNodes'> | undefined,
): boolean {
  return member.changing || readiness(member, rollout) === null;
}

const NOT_READY = hold(
  'not-ready',
  'the node is not Ready; where this config is to mend it, the pool says rollout.notReadyNodes: change',
);
const CORDONED = hold('cordoned', 'the node is cordoned');
