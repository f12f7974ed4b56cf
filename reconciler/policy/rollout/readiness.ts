import type { RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { absenceOf, BEFORE_TURN, participantOf } from '../participation.ts';
import type { Member } from './membership.ts';
import { healthySince } from './waves.ts';

type Rollout = Pick<RolloutSpec, 'notReadyNodes'> | undefined;

/** Whether a node that has yet to be told can be, as it is now: what it is in the middle of already waits for no readiness. */
export const canBeChanged = (
  member: Pick<Member, 'node' | 'lifecycle' | 'unrendered' | 'payloadClass'>,
  rollout: Rollout,
): boolean => absenceOf(participantOf(member), rollout, BEFORE_TURN) === null;

/** A rollout ends without a node that could not take part for so long, without a break. */
const LEFT_BEHIND_AFTER_MS: Millis = 60 * 60_000;

/** The rollout may end without this node: it has not proven the payload, and could not take part for a whole hour of our own time. */
export function isLeftBehind(member: Member, rollout: Rollout, now: Millis): boolean {
  const { node, lifecycle } = member;
  // What is on trial or soaks ends that first, and what failed counts as that.
  if (lifecycle.shown === 'updating' || lifecycle.failed || healthySince(member) !== null) return false;
  const isUnable = !lifecycle.mayBeTold || absenceOf(participantOf(member), rollout) !== null;
  return isUnable && node.unableSince !== undefined && now - node.unableSince >= LEFT_BEHIND_AFTER_MS;
}
