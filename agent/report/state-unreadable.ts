import type { KubeletNodeStatus } from '#shared/contract/api/kubelet-node.ts';
import type { Condition } from '#shared/contract/api/object.ts';
import type { Log } from '#shared/runtime/log.ts';
import { toNodeError } from '../decide/node-error.ts';
import type { Failure } from '../decide/failure.ts';
import { type PlainCondition, stalled } from './kstatus-conditions.ts';
import type { AssignmentWatch } from '../observe/watch-assignment.ts';

/**
 * An agent of another version wrote the state directory, so that this one cannot read the node's state. Whatever that version
 * was in the middle of, its guard ends.
 */
export interface UnreadableState {
  /** Which file cannot be read, in a sentence. */
  readonly unreadable: string;
  readonly agentVersion: string;
  /** Since when, RFC 3339. */
  readonly at: string;
}

interface UnreadableStatePorts {
  readonly log: Log;
  readonly reporter: { report(why: UnreadableState): void; run(signal: AbortSignal): Promise<void> };
  readonly assignment: AssignmentWatch;
}

/** All that an agent does on such a node: it says so. No file is written, and the kubelet is not even looked at. */
export async function reportStateUnreadable(
  why: UnreadableState,
  { log, reporter, assignment }: UnreadableStatePorts,
  signal: AbortSignal,
): Promise<void> {
  log.error(
    { version: why.agentVersion, problem: why.unreadable },
    'standing still: an agent of another version was here',
  );
  reporter.report(why);
  await Promise.all([assignment.run(signal), reporter.run(signal)]);
}

/**
 * What such an agent says of its node: all that the other one said, and that this agent does not act on it. `observedGeneration`
 * stays as well, so that the reconciler sees that a new assignment is not taken up.
 */
export function statusOfStateUnreadable(
  { unreadable, agentVersion, at }: UnreadableState,
  before: KubeletNodeStatus,
): KubeletNodeStatus {
  const message =
    `this agent, ${agentVersion}, cannot read the state on the node's disk, and touches nothing: ${unreadable}. Let that ` +
    'version run again; before leaving it for good, let it give the node its local config back';
  const failure: Failure = { reason: 'StateUnreadable', message };
  const now = [
    ...stalled('StateUnreadable', message),
    conditionOf('KubeletConfigHealthy', 'Unknown', 'nobody here can say which config the kubelet has'),
    conditionOf('CheckpointsIntact', 'False', unreadable),
  ].map((each): Condition => ({
    ...each,
    lastTransitionTime: timeOf(each, before, at),
    ...(before.observedGeneration === undefined ? {} : { observedGeneration: before.observedGeneration }),
  }));
  const { heartbeat: _, conditions = [], ...rest } = before;
  const others = conditions.filter(({ type }) => now.every((each) => each.type !== type));
  return {
    ...rest,
    error: toNodeError(failure, undefined, at, before.error ?? null),
    agentVersion,
    conditions: [...now, ...others],
  };
}

const conditionOf = (type: string, status: Condition['status'], message: string): PlainCondition => ({
  type,
  status,
  reason: 'StateUnreadable',
  message,
});

function timeOf({ type, status }: PlainCondition, { conditions = [] }: KubeletNodeStatus, at: string): string {
  return conditions.find((each) => each.type === type && each.status === status)?.lastTransitionTime ?? at;
}
