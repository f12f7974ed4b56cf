import type { AwaitedPayload, FailedWrite } from '#shared/contract/api/kubelet-pool.ts';
import type { QueryAnswers } from './analysis/query-answer.ts';
import type { BlockersAnswer } from './pool-blockers.ts';
import type { OwnRecord } from './proof/own-records.ts';
import type { Rendered } from './proof/record.ts';
import type { DrainView, PodCount } from './fleet.ts';

/** What was asked of others before the decision. */
export interface Signals {
  /** By pool: whether everything that has to be quiet before the next node is. A pool that is not in it was not asked for. */
  readonly blockers: ReadonlyMap<string, BlockersAnswer>;
  /** By node: how its drain stands. */
  readonly drains: ReadonlyMap<string, DrainView>;
  /** By node: how many pods run there. Absent without the right to count them. */
  readonly pods?: ReadonlyMap<string, PodCount>;
  /** By pool: what Prometheus says of its canaries. A pool that is not in it was not asked for. */
  readonly queries?: ReadonlyMap<string, QueryAnswers>;
  /** By pool: its status as this leader wrote it and read it back. */
  readonly records?: ReadonlyMap<string, OwnRecord>;
  /** By pool and commit in its record: see `Rendered`. One that is not in it was not read. */
  readonly rendered?: ReadonlyMap<string, Rendered>;
  /** By pool, what a commit that is not in force yet would give its nodes, and waits for a person. Absent for none. */
  readonly awaited?: ReadonlyMap<string, AwaitedPayload>;
  /** Writes that fail again and again. Absent for none. */
  readonly unwritten?: readonly FailedWrite[];
}

export const NO_SIGNALS: Signals = { blockers: new Map(), drains: new Map() };
