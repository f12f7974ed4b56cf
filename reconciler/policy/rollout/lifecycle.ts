import { type KubeletNode, PROVEN_CONFIG_FAILS } from '#shared/contract/api/kubelet-node.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import type { NodeView } from '../fleet.ts';
import { hasProved, inTransition, isAtWork, isPastProbation, type NodeTarget, progressOf } from './node-progress.ts';

/** How the command line and the status page name where a node stands. */
export type Shown =
  | 'outdated'
  | 'awaits-turn'
  | 'updating'
  | 'soaking'
  | 'settled'
  | 'failing'
  | 'failed'
  | 'broken'
  | 'no-agent';

/**
 * Where a node stands towards its target, by what follows from that. Whether it is Ready, cordoned or new, what it was told, and
 * whether its failure was forgiven is another matter.
 */
export interface Lifecycle {
  readonly shown: Shown;
  /** Its turn may come: to be told its target, or to be granted a restart with it. Everybody else is left alone. */
  readonly mayBeTold: boolean;
  /** Its kubelet is being changed, or may be at any moment, whatever the target is; or its pool waits until it has soaked. */
  readonly inChange: boolean;
  /** It counts against the budget, Ready or not. In change without a place, it is past its probation and gave it back. */
  readonly takesPlace: boolean;
  /** It runs its target and has proven it. */
  readonly updated: boolean;
  /** It took its target back, or refuses it. */
  readonly failed: boolean;
}

const NOTHING = { mayBeTold: false, inChange: false, takesPlace: false, updated: false, failed: false };

export const LIFECYCLE = {
  /** At rest with something else. */
  outdated: { ...NOTHING, shown: 'outdated', mayBeTold: true },
  /** In the middle of a change to something else. */
  superseded: { ...NOTHING, shown: 'outdated', mayBeTold: true, inChange: true, takesPlace: true },
  /** The same, past its probation with that. */
  supersededOnTrial: { ...NOTHING, shown: 'outdated', mayBeTold: true, inChange: true },
  /** Was told, and is not past its probation. */
  changing: { ...NOTHING, shown: 'updating', inChange: true, takesPlace: true },
  /** Is past its probation. */
  onTrial: { ...NOTHING, shown: 'updating', inChange: true },
  /** Promoted it lately, and keeps its place: with a full probation, or not Ready. */
  soakingInPlace: { ...NOTHING, shown: 'soaking', updated: true, inChange: true, takesPlace: true },
  soaking: { ...NOTHING, shown: 'soaking', updated: true, inChange: true },
  settled: { ...NOTHING, shown: 'settled', updated: true },
  /** The same, and its kubelet keeps ending with what it has proven. */
  failing: { ...NOTHING, shown: 'failing', updated: true, takesPlace: true },
  /** Needs a restart of its kubelet with the target that it has proven. */
  awaitsTurn: { ...NOTHING, shown: 'awaits-turn', updated: true, mayBeTold: true },
  /** The same, with a target that it has yet to prove. */
  awaitsFirstTurn: { ...NOTHING, shown: 'awaits-turn', mayBeTold: true },
  failed: { ...NOTHING, shown: 'failed', failed: true, takesPlace: true },
  /** The same, and its kubelet is not at rest yet. */
  fallingBack: { ...NOTHING, shown: 'failed', failed: true, inChange: true, takesPlace: true },
  /** Its kubelet runs with none of its configs, and the target is not to blame: it is tried again when the kubelet is well. */
  broken: { ...NOTHING, shown: 'broken', takesPlace: true },
  /** Nobody listens there. */
  silent: { ...NOTHING, shown: 'no-agent', takesPlace: true },
  /** The same since the middle of a change. */
  vanished: { ...NOTHING, shown: 'no-agent', inChange: true, takesPlace: true },
} as const satisfies Readonly<Record<string, Lifecycle>>;

/**
 * Where a node stands, by what its agent reports and how its Node is.
 *
 * @param wasTold     it was assigned this target
 * @param isRecent    it has not soaked for as long as its pool asks
 * @param probationMs null where nodes hold their place to the end of trial and soak
 */
export function lifecycleOf(
  node: NodeView,
  kubeletNode: KubeletNode | undefined,
  target: NodeTarget,
  wasTold: boolean,
  isRecent: boolean,
  probationMs: Millis | null,
  now: Millis,
): Lifecycle {
  const reported = progressOf(kubeletNode, target, now);
  const isBusy = reported === 'updating' || (wasTold ? isAtWork(kubeletNode) : inTransition(kubeletNode, now));
  if (reported === 'no-agent') return isBusy ? LIFECYCLE.vanished : LIFECYCLE.silent;
  if (reported === 'broken') return LIFECYCLE.broken;
  if (reported === 'failed') return isBusy ? LIFECYCLE.fallingBack : LIFECYCLE.failed;
  const hasIt = reported === 'settled' || (reported === 'awaits-turn' && hasProved(kubeletNode, target));
  const isCalm = probationMs !== null && node.ready;
  // What has yet to soak soaks first, and asks afterwards.
  if (hasIt && isRecent) return isCalm ? LIFECYCLE.soaking : LIFECYCLE.soakingInPlace;
  if (reported === 'awaits-turn') return hasIt ? LIFECYCLE.awaitsTurn : LIFECYCLE.awaitsFirstTurn;
  const isFailing = kubeletNode?.status?.error?.reason === PROVEN_CONFIG_FAILS;
  if (!isBusy) return !hasIt ? LIFECYCLE.outdated : isFailing ? LIFECYCLE.failing : LIFECYCLE.settled;
  const isPast = isCalm && now - node.readySince >= probationMs && isPastProbation(kubeletNode, probationMs, now);
  if (reported === 'outdated') return isPast ? LIFECYCLE.supersededOnTrial : LIFECYCLE.superseded;
  return isPast ? LIFECYCLE.onTrial : LIFECYCLE.changing;
}
