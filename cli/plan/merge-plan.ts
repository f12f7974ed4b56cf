import type { Finding } from '#shared/contract/finding.ts';
import type { ChangeCost } from '#shared/contract/kubelet-config/fields/field.ts';
import type { FieldChange } from '#shared/contract/kubelet-config/field-diff.ts';
import type { Conflict } from '#reconciler/policy/pool-selection/conflict-lines.ts';
import type { Spread } from '#reconciler/policy/forecast/duration-range.ts';
import type { ComingVersion } from './coming-versions.ts';
import type { NotEstimated } from './not-estimated.ts';
import type { Allocatable, MostLeft } from '#reconciler/policy/allocatable/allocatable.ts';
import type { FaultReach } from './fault-reach.ts';
import type { Absent } from './who-can-begin.ts';

/** What merging one revision over another would do, and to which nodes. */
export interface MergePlan {
  readonly base: string;
  readonly head: string;
  readonly cluster: string;
  /** What the cluster has in force, where that is known not to be `base`: more comes into force than is compared here. */
  readonly inForce?: string;
  /** False where no nodes were given: then everything about nodes is left out. */
  readonly knowsNodes: boolean;
  /** Those that change in any way, sorted by name. */
  readonly pools: readonly PoolPlan[];
  /** Nodes that change their pool, those together that come from the same one and go to the same one. */
  readonly moves: readonly MovePlan[];
  readonly conflicts: readonly Conflict[];
  /** Nodes that a pool of `head` selects, and on which no agent can run: they are in no pool. Absent for none. */
  readonly unsupported?: readonly Absent[];
  /** What else of the cluster's file changes, as `suspend: false → true`. */
  readonly clusterSpec: readonly string[];
  /** Of a cluster that follows others: what these prove nothing of. Absent for nothing, and where that is not known here. */
  readonly counterparts?: PlanCounterparts;
  /** What newer kubelets bring that the cluster's file lists now; absent for nothing. */
  readonly comingVersions?: readonly ComingVersion[];
  /** Why nothing new would be begun in any pool; undefined where nothing of the cluster's file holds it up. */
  readonly held: string | undefined;
  /** Why the commit as a whole would not come into force; undefined if it would. */
  readonly refusal: string | undefined;
  /** What `head` has and `base` had not. */
  readonly findings: readonly Finding[];
  readonly summary: Summary;
}

/** Pools of the plan that clusters which are followed have no nodes like. */
export interface PlanCounterparts {
  readonly clusters: readonly string[];
  /** Whose nodes get another config, and of which no followed cluster has proven anything. */
  readonly pools: readonly string[];
  /** A person has to approve them. */
  readonly isHeld: boolean;
}

/** What counts for a field that is not set: the local config under an overlay, and under no pool at all; or the kubelet's default alone. */
export interface UnsetMeaning {
  readonly before: 'local' | 'default';
  readonly after: 'local' | 'default';
}

/** With how long it takes those that leave to go back, if all goes well. */
export interface MovePlan extends Spread {
  /** Null for no pool: the local config. */
  readonly from: string | null;
  readonly to: string | null;
  /** The pools that wanted the nodes in `base` with the same priority; absent where there was no such conflict. */
  readonly contested?: readonly string[];
  readonly nodes: readonly string[];
  /** What changes for them: between the two pools' configs, or all of one. Empty if the pool's own plan says it, or if it is unknown. */
  readonly fields: readonly FieldChange[];
  readonly unset: UnsetMeaning;
  readonly cost: ChangeCost | undefined;
  /** Those that go back to their local config; the others are among the nodes of the pool that they go to. */
  readonly leaving: readonly NodePlan[];
  /** How many of these at a time. */
  readonly budget: number;
  /** Those of them that can go now. */
  readonly going: readonly string[];
  /** What keeps the others: no time includes them. Absent for none. */
  readonly absent?: readonly Absent[];
}

export interface PoolPlan {
  readonly name: string;
  /** `invalid`: it has errors, and would keep what it has. */
  readonly change: 'added' | 'removed' | 'changed' | 'invalid';
  /** Of a new pool whose nodes all come from one pool: that one, with which it is compared. */
  readonly from: string | undefined;
  /** Of a pool that has errors in `base`, the commit of what it keeps, with which it is compared; null if not found. */
  readonly keptFrom?: string | null;
  readonly configBefore: string | undefined;
  readonly configAfter: string | undefined;
  readonly fields: readonly FieldChange[];
  readonly unset: UnsetMeaning;
  /** Of a pool with computed values, the classes of machines that its nodes are in, the largest first; absent for other pools. */
  readonly classes?: readonly ClassPlan[];
  readonly cost: ChangeCost | undefined;
  /** What else of `pool.yaml` changes, as `rollout.maxUnavailable: 1 → 2`. */
  readonly spec: readonly string[];
  /** How many nodes belong to it afterwards; 0 also where no nodes were given. */
  readonly members: number;
  readonly nodes: readonly NodePlan[];
  /** Why its nodes would wait with the new config, until git says otherwise; undefined where they would be changed. */
  readonly waits: string | undefined;
  readonly rollout: RolloutPlan | undefined;
  /** The limits that it loosens, and last all together; absent for none. */
  readonly loosened?: readonly LoosenedLimit[];
  /** What else guards nodes and does no more, a clause each; absent for none. */
  readonly weakened?: readonly string[];
}

/** A limit that a change loosens, with how many nodes a bad config reaches by the limits before, and with this one as it becomes. */
export interface LoosenedLimit {
  /** As `rollout.maxUnavailable`; `all` for all of them together. */
  readonly limit: string;
  readonly before: number;
  readonly after: number;
}

/** What a pool with computed values gives the machines of one class. */
export interface ClassPlan {
  /** `cpu=4,memory=15872Mi`. */
  readonly name: string;
  readonly nodes: readonly string[];
  /** Name of their config source; absent where there is none. */
  readonly config?: string;
  /** Why there is none, so that they keep what they have. */
  readonly because?: string;
  /** Its computed values, as they were and will be. */
  readonly values: readonly { readonly field: string; readonly before: string; readonly after: string }[];
}

/** What a node has left for pods before and afterwards. */
export interface AllocatableChange extends Allocatable {
  /** Of what `after` is left at most: parts that the node's own config says are unknown, and take more. Absent where it is exact. */
  readonly atMost?: Pick<MostLeft, 'capacity' | 'taken'>;
}

/** A node that gets another config. */
export interface NodePlan {
  readonly name: string;
  readonly kubeletVersion: string;
  readonly allocatable: readonly AllocatableChange[];
  /** It had no config of ours, and its kubelet runs what this one says: its files are written, and it runs on without a restart. */
  readonly runsAlready: boolean;
  /**
   * Why that is unknown of a node that had no config of ours; absent if it is known. `not-asked`: what its kubelet runs
   * is not known. `own-config`: it depends on what the node's own files say.
   */
  readonly unclear?: 'not-asked' | 'own-config';
  /** Why the reconciler never tells the node of it, as long as that is so; absent where it does. */
  readonly held?: string;
  /** What is known to speak against it on this node. */
  readonly warnings: readonly NodeWarning[];
}

export interface NodeWarning {
  /** The same text on every node with the same fault. */
  readonly text: string;
  /** What is this node's own in it, as `30 pods`. */
  readonly here?: string;
  /** The node would refuse the config, and keep what it has. */
  readonly refuses: boolean;
}

/** A canary wave, a step or the rest. */
interface PlannedStage {
  readonly name: string;
  readonly nodes: readonly string[];
  /** The next one waits for a person; absent where it does not. */
  readonly approval?: true;
}

/** With the time from the merge to the last promotion, if all goes well, of the nodes that can take part now. */
export interface RolloutPlan extends Spread {
  /** What may add to that time. */
  readonly untimed: readonly NotEstimated[];
  /** Nodes at a time. */
  readonly budget: number;
  /** Canaries, steps and the rest, each with the nodes that change in it. */
  readonly stages: readonly PlannedStage[];
  /** Who is started on together, in order, where nothing is in the way. */
  readonly waves: readonly (readonly string[])[];
  /** Nodes that change and cannot begin now, by what keeps them: no time includes them. Absent for none. */
  readonly absent?: readonly Absent[];
  /** What the nodes wait for that begin in none of the waves; absent where only those wait that are absent themselves. */
  readonly waitsFor?: readonly Absent[];
  /** Nodes that begin, and refuse the config: then no other node is told of it. Absent where the rollout goes on. */
  readonly stoppedBy?: readonly string[];
  /** What the bounds are worth, by planted fault; empty if no node tries a config. */
  readonly worth: readonly FaultReach[];
}

/** What merging comes to, in figures, and how long it takes if all goes well. Zeros where no nodes are given. */
export interface Summary extends Spread {
  /** What may add to that time in any of the pools. */
  readonly untimed: readonly NotEstimated[];
  /** Pools that change, or whose nodes do. */
  readonly pools: number;
  /** Nodes that get another config, or go back to their own. */
  readonly nodes: number;
  /** Kubelets that restart; reboots of the machine are among them. */
  readonly restarts: number;
  readonly reboots: number;
  /** Nodes on which it is known that the config would be refused. */
  readonly refused: number;
  /** Nodes that would wait for a person to allow the change. */
  readonly waiting: number;
  /** Nodes that run the config already: nothing is restarted. */
  readonly takenOver: number;
}
