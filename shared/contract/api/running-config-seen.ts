import type { KubeletNodeStatus } from './kubelet-node.ts';
import type { Condition } from './object.ts';

/** The condition that says whether the agent has seen what the kubelet runs, or only what it was started with. */
export const RUNNING_CONFIG_SEEN = 'RunningConfigSeen';

/**
 * Reasons of the condition if it is not True. `Forbidden`: the kubelet lets the agent not read it. `Untrusted`: the server
 * does not prove to be the kubelet. `SwitchedOff`: the kubelet serves no API. `NotYet`: no
 * answer, for a moment, as while it starts. `Unreachable`: none for two minutes.
 */
export const UNSEEN_REASONS = ['Forbidden', 'Untrusted', 'SwitchedOff', 'NotYet', 'Unreachable'] as const;
export type UnseenReason = (typeof UNSEEN_REASONS)[number];

/** Why the config that the kubelet of a node at rest runs is unknown; undefined if it is known, and during a change. */
export function unseenIn({ phase, conditions = [] }: KubeletNodeStatus): Condition | undefined {
  if (phase !== 'Idle' && phase !== 'Drifted') return undefined;
  return conditions.find(
    ({ type, status, reason }) => type === RUNNING_CONFIG_SEEN && status !== 'True' && reason !== 'NotYet',
  );
}
