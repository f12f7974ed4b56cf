import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import { SUSPEND_ANNOTATION } from '#shared/contract/api/group.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import type { BlockersAnswer } from '../blockers.ts';
import type { DesiredPool } from '../desired.ts';
import type { DrainView, PodCount } from '../fleet.ts';
import type { ClusterPolicy } from '../cluster-policy.ts';
import { windowsState } from '../window/windows-state.ts';
import { type Hold, hold } from './hold.ts';

/** What was asked of others before the decision. */
export interface Signals {
  /** By pool: whether everything that has to be quiet before the next node is. A pool that is not in it was not asked for. */
  readonly blockers: ReadonlyMap<string, BlockersAnswer>;
  /** By node: how its drain stands. */
  readonly drains: ReadonlyMap<string, DrainView>;
  /** By node: how many pods run there. Absent where nobody can count. */
  readonly pods?: ReadonlyMap<string, PodCount>;
}

export const NO_SIGNALS: Signals = { blockers: new Map(), drains: new Map() };

/** What nobody may begin against: people first, then the calendar, then what others report. Each null where it is open. */
export interface Gates {
  readonly suspended: Hold | null;
  readonly window: Hold | null;
  readonly blocked: Hold | null;
  /** By node: a pod that must not run while it is changed. */
  readonly busy: ReadonlyMap<string, string>;
}

/** @param present the pool as the cluster has it, with what people annotated */
export function gatesOf(
  pool: DesiredPool | null,
  present: KubeletPool | undefined,
  policy: ClusterPolicy,
  signals: Signals,
  now: Millis,
): Gates {
  return {
    suspended: suspension(pool, present, policy),
    window: windowHold(pool, policy, now),
    blocked: blockage(pool, signals),
    busy: (pool?.spec.blockers === undefined ? undefined : signals.blockers.get(pool.name)?.busy) ?? NOBODY,
  };
}

const NOBODY: ReadonlyMap<string, string> = new Map();

function suspension(pool: DesiredPool | null, present: KubeletPool | undefined, policy: ClusterPolicy): Hold | null {
  const annotated = present?.metadata.annotations?.[SUSPEND_ANNOTATION];
  if (annotated !== undefined) {
    return hold(
      'suspended',
      `the pool is suspended${annotated === '' ? '' : ` (${annotated})`}; kubelet-gitops resume ends it`,
    );
  }
  if (pool?.spec.suspend === true) return hold('suspended', 'pool.yaml says suspend: true');
  if (policy.suspend) return hold('suspended', "the cluster's file says suspend: true");
  if (policy.unreadable === undefined) return null;
  const because = 'nobody suspended it, but the file of the cluster may say anything until this is mended';
  return hold('cluster-file', `${because}: ${policy.unreadable}`);
}

function windowHold(pool: DesiredPool | null, policy: ClusterPolicy, now: Millis): Hold | null {
  const rollout = pool?.spec.rollout;
  if (rollout?.emergency !== undefined) return null;
  const { open, because } = windowsState([policy.windows, rollout?.windows], now);
  return open ? null : hold('window', because);
}

function blockage(pool: DesiredPool | null, signals: Signals): Hold | null {
  if (pool?.spec.blockers === undefined) return null;
  const answer = signals.blockers.get(pool.name);
  if (answer === undefined) return hold('blocked', 'its blockers were not asked yet');
  return answer.quiet ? null : hold('blocked', answer.because);
}
