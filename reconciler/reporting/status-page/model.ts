import type {
  ClassStatus,
  HoldSummary,
  PoolCounts,
  PoolFailure,
  WaveStatus,
} from '#shared/contract/api/kubelet-pool.ts';
import type { AuditSummary } from '#shared/contract/audit-summary.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import type { Generation } from '../../policy/forecast/generations.ts';
import type { ClusterPicture } from '../../policy/following/cluster-picture.ts';
import type { RemainingTime } from '../../policy/forecast/remaining-time.ts';
import type { CommitOutcome } from '../notes/commit-note.ts';

/** How a pool is doing, as an operator would say it. */
export type PoolState =
  | 'settled'
  | 'rolling'
  | 'soaking'
  | 'halted'
  | 'suspended'
  | 'window'
  | 'blocked'
  | 'approval'
  | 'waiting'
  | 'empty'
  | 'retiring';

/**
 * How a node is doing: its standing, and for one that waits for its assignment, whether its turn has come. Every node is in exactly one.
 * rebooting: it waits for its machine to reboot. left-alone: two pools select it with the same priority, or a person opted it out. unselected: no pool is for it.
 */
export type NodeState =
  | 'failed'
  | 'broken'
  | 'failing'
  | 'unhealthy'
  | 'no-agent'
  | 'drifted'
  | 'updating'
  | 'rebooting'
  | 'draining'
  | 'starting'
  | 'soaking'
  | 'waiting'
  | 'settled'
  | 'left-alone'
  | 'unselected';

/** Something that needs a person, or that a person should know before anything else. */
export interface Banner {
  readonly tone: 'bad' | 'busy';
  readonly title: string;
  readonly text: string;
  /** What to do, each a sentence; commands are in backquotes. */
  readonly remedies: readonly string[];
}

/** Where something lies in the rollout's time, in thousandths. */
export interface TimelineSpan {
  readonly from: number;
  readonly to: number;
}

export interface WaveBar extends WaveStatus {
  /** null before its start. */
  readonly span: TimelineSpan | null;
}

export interface GenerationBar extends Generation {
  readonly span: TimelineSpan;
}

export interface RolloutModel {
  readonly configName: string;
  readonly startedAt: string;
  /** '' while it is under way. */
  readonly finishedAt: string;
  readonly waves: readonly WaveBar[];
  /** Who began while how many might be on trial; empty where `maxUnavailable` bounds that. */
  readonly generations: readonly GenerationBar[];
  /** null once it is over. */
  readonly remaining: RemainingTime | null;
}

export interface PoolModel {
  readonly name: string;
  readonly state: PoolState;
  /** Why it is in that state, or how far it has come. */
  readonly says: string;
  /** Name of what its nodes are to run; `local` for their own. */
  readonly target: string;
  /** Name of what all of its nodes last ran and had proven; '' where there is none. */
  readonly settledOn: string;
  /** Of a pool with computed values: its classes of machines; none for others. */
  readonly classes: readonly ClassStatus[];
  readonly counts: PoolCounts;
  readonly states: readonly StateCount[];
  readonly rollout: RolloutModel | null;
  readonly holds: readonly HoldSummary[];
  readonly failures: readonly PoolFailure[];
  /** What there is to say of a halt besides its message, a line each; none where it is not halted. */
  readonly haltLines: readonly string[];
  /** What waits for a person, a line each. */
  readonly approvals: readonly string[];
  /** Findings in the commit in force about the pool. */
  readonly findings: readonly string[];
}

export interface StateCount {
  readonly state: NodeState;
  readonly nodes: number;
}

export interface NodeRow {
  readonly name: string;
  /** '' for none. */
  readonly pool: string;
  readonly state: NodeState;
  /** The planner's word: `nothing to do`, `change now`, or why it is held. */
  readonly now: string;
  readonly because: string;
  /** How far the agent is with a change; '' at rest. */
  readonly progress: string;
  /** The agent's last complaint. */
  readonly error: string;
  /** Why the config that its kubelet runs is not visible; '' if it is. */
  readonly unseen: string;
  readonly assigned: string;
  readonly active: string;
  readonly kubelet: string;
  /** The agent's last sign of life, as it wrote it; '' for never. */
  readonly heartbeat: string;
}

export interface CommitRow {
  readonly oid: string;
  readonly subject: string;
  readonly author: string;
  /** When it was taken up or refused. */
  readonly at: string;
  readonly outcome: CommitOutcome;
  /** The forge's page of it; null where none is known. */
  readonly link: string | null;
}

export interface ClustersModel {
  /** For whom commits wait, and what comes next. */
  readonly says: string;
  readonly picture: ClusterPicture;
}

export interface GitModel {
  readonly url: string;
  readonly branch: string;
  /** '' while git is well. */
  readonly failingSince: string;
  readonly notes: string;
  readonly statuses: string;
}

/** What the last look showed: of this process if it leads, and otherwise of the cluster's own objects. */
export interface WorkingModel {
  readonly view: 'working';
  /** The leader, if it is another process; '' without a known leader. null if this process leads. */
  readonly leader: string | null;
  readonly cluster: string;
  readonly version: string;
  /** When that look was. */
  readonly at: Millis;
  readonly banners: readonly Banner[];
  readonly pools: readonly PoolModel[];
  readonly nodes: readonly NodeRow[];
  readonly commits: readonly CommitRow[];
  /** Of a cluster that follows others; null for one that follows none. */
  readonly clusters: ClustersModel | null;
  readonly git: GitModel;
  readonly findings: readonly string[];
  /** The last one that was published; null for none. */
  readonly audit?: AuditSummary | null;
}

/** There is nothing to show yet. */
export interface WaitingModel {
  readonly view: 'waiting';
  readonly cluster: string;
  readonly version: string;
  /** The leader; '' without a known one. This very process before its first look. */
  readonly holder: string;
  readonly leads: boolean;
}

export type PageModel = WorkingModel | WaitingModel;
