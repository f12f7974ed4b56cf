import type { Millis } from '#shared/runtime/clock.ts';
import type { AnalysisStatus, Halt, KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import type { BlockersAnswer } from '../../pool-blockers.ts';
import type { ClusterPolicy } from '../../cluster-policy.ts';
import type { WindowsState } from '../../windows/windows-state.ts';
import type { Targeted } from '../targets.ts';
import type { ClassLimit } from '../canaries.ts';
import type { Group } from '../membership.ts';
import type { WaveProgress } from '../wave-progress.ts';
import type { NodeTarget } from '../node-progress.ts';
import type { Hold } from './hold.ts';

/** What decides whether the nodes of a group have to wait. */
export interface GroupFacts {
  readonly group: Group;
  readonly now: Millis;
  /** Whether nobody but KubeletPools, which others may have written, says what the nodes are to run. */
  readonly unverified?: 'all' | 'pool' | undefined;
  /** Names of nodes whose status may be from the past; absent for none. */
  readonly doubted?: readonly string[];
  /** The pool as the cluster has it, with what people annotated. */
  readonly present: KubeletPool | undefined;
  readonly policy: ClusterPolicy;
  readonly windows: WindowsState;
  /** Undefined where the pool has none, and where they were not asked yet. */
  readonly blockers: BlockersAnswer | undefined;
  readonly halt: Halt | null;
  /** null where nothing goes in waves: nodes that leave their pool. */
  readonly waves: WaveProgress | null;
  /** Of the canaries; undefined where the pool asks for none, before they proved the payload, and where a person let it go on. */
  readonly analysis: AnalysisStatus | undefined;
  /** Names of the nodes that belong to the rollout. */
  readonly cohort: ReadonlySet<string>;
  /** By the SHA-256 of a config file of the nodes' own, a node of the group that failed with it. */
  readonly refusedBases: ReadonlyMap<string, string>;
  /** Whether the bytes of this config source are in the cluster, so that a node could fetch them. */
  readonly isAvailable: (configName: string, target: NodeTarget) => boolean;
  /** By node name, why a node that no pool selects keeps its config. */
  readonly unselected: ReadonlyMap<string, Hold>;
}

/** Whether one node has to wait. */
export interface HoldQuestion {
  readonly targeted: Targeted;
  readonly facts: GroupFacts;
  /** How many more nodes the current wave lets begin. */
  readonly room: number;
  /** The same of the node's class, where nobody of that has proven its config yet; absent for no bound. */
  readonly classLimit?: ClassLimit | undefined;
  /** The Ready node that is to be the canary in place of this one, which is not Ready; absent for none. */
  readonly readyFirst?: string | undefined;
}

/** One reason to wait; null where it does not hold the node. */
export type HoldCheck = (question: HoldQuestion) => Hold | null;
