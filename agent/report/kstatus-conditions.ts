import type { NodeError, NodePhase } from '#shared/contract/api/kubelet-node.ts';
import type { Condition } from '#shared/contract/api/object.ts';
import type { Failure, FailureReason } from '../decide/failure.ts';

/** A condition before it is known since when it holds. */
export type PlainCondition = Omit<Condition, 'lastTransitionTime' | 'observedGeneration'>;

export interface NodeHealth {
  readonly phase: NodePhase;
  readonly error: NodeError | null;
  /** The condition that says how the kubelet does with its config. */
  readonly health: PlainCondition;
  /** Whether the agent is about to put back what drifted. */
  readonly repairs: boolean;
  /** Why a change that takes too long does not end; null or absent for one that takes the usual time. */
  readonly stuck?: Failure | null;
  /** The error ends without a person. */
  readonly mayPass?: boolean;
  /** What is assigned and neither runs nor was rejected, at a node that is at rest; null or absent for nothing. */
  readonly pending?: Pending | null;
}

/** Why an assignment is not taken up yet. */
export interface Pending {
  readonly reason: 'AwaitsTurn' | 'NotTakenUp';
  readonly message: string;
}

/** What the agent tries again by itself: no person is needed as yet. */
const PASSING: ReadonlySet<string> = new Set<FailureReason>([
  'DownloadFailed',
  'VersionUnknown',
  'RebootFailed',
  'UnhealthyBefore',
]);

/**
 * `Ready`, `Reconciling` and `Stalled`, which programs know that know nothing of kubelets (`kubectl wait`, and Flux by
 * kstatus). Ready: the kubelet runs what is assigned, and has proven it. Stalled: nothing more comes of it unless a person, or
 * another commit, does something. Never more than one of the three is True. Pure.
 */
export function kstatusConditions(node: NodeHealth): readonly PlainCondition[] {
  const { phase, error, health, repairs, stuck = null, mayPass = false, pending = null } = node;
  if (phase === 'Broken') return stalled('Broken', error?.message ?? health.message);
  if (stuck !== null) return stalled(stuck.reason, stuck.message);
  if (phase === 'Staging' || phase === 'Trial' || phase === 'FallingBack') return reconciling(phase, health.message);
  if (error !== null) {
    return (mayPass || PASSING.has(error.reason) ? reconciling : stalled)(error.reason, error.message);
  }
  if (pending !== null) return reconciling(pending.reason, pending.message);
  if (phase === 'Drifted') return (repairs ? reconciling : stalled)(phase, health.message);
  return three({ ...health, type: 'Ready' }, 'False', 'False');
}

const reconciling = (reason: string, message: string): readonly PlainCondition[] =>
  three({ type: 'Ready', status: 'False', reason, message }, 'True', 'False');
/** The three where only a person gets it going again. */
export const stalled = (reason: string, message: string): readonly PlainCondition[] =>
  three({ type: 'Ready', status: 'False', reason, message }, 'False', 'True');

function three(
  ready: PlainCondition,
  isReconciling: Condition['status'],
  isStalled: Condition['status'],
): readonly PlainCondition[] {
  const beside = (type: string, status: Condition['status']): PlainCondition => ({
    type,
    status,
    reason: ready.reason,
    message: status === 'True' ? ready.message : '',
  });
  return [ready, beside('Reconciling', isReconciling), beside('Stalled', isStalled)];
}
