import { recordedPolicy } from '#reconciler/policy/cluster-policy.ts';
import { HORIZON_MS } from '#reconciler/policy/windows/span.ts';
import { windowsState } from '#reconciler/policy/windows/windows-state.ts';
import { type Attention, attentionOf } from '#reconciler/reporting/attention.ts';
import { NO_STATE } from '#reconciler/reporting/notes/source-state.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { aboutAll, type Diagnosis, diagnosis } from '../diagnosis.ts';
import type { Code } from '../diagnosis-codes.ts';
import { type Facts, valueOr } from '../facts.ts';

/** What keeps pools from going on. */
export function diagnosePools(facts: Facts): readonly Diagnosis[] {
  const pools = valueOr(facts.pools, []);
  const policy = recordedPolicy(valueOr(facts.source, null)?.policy ?? '', false);
  const empty = pools.filter(({ status }) => status?.phase === 'Empty').map(({ metadata }) => metadata.name);
  return [
    ...(policy.suspend ? [diagnosis('cluster-suspended', "the cluster's file suspends every pool")] : []),
    ...(policy.unreadable === undefined
      ? []
      : [diagnosis('cluster-suspended', `nothing new starts, because of the cluster's file: ${policy.unreadable}`)]),
    ...pools.flatMap((pool) => [
      ...attentionOf({ source: NO_STATE, pools: [pool], nodes: [] }, facts.now).flatMap((each) =>
        ofAttention(each, pool),
      ),
      ...blocked(pool),
      ...waitingForNodes(pool),
      ...closed(pool, policy.windows, facts.now),
    ]),
    ...aboutAll('pool-empty', 'pool', empty, 'no node matches the selector'),
  ];
}

/** In the words of every other screen. */
function ofAttention({ kind, name, lines }: Attention, { status }: KubeletPool): readonly Diagnosis[] {
  const code = CODES_OF[kind];
  if (code === undefined) return [];
  const what = lines.join('; ');
  const about = kind === 'write-failing' ? name : `pool ${name}`;
  const { action, at } = status?.halt ?? {};
  const says =
    kind === 'pool-halted'
      ? `${action === 'revert' ? 'goes back' : 'halted'} since ${at}: ${what}`
      : kind === 'pool-suspended'
        ? `suspended (${what})`
        : what;
  return [diagnosis(code, `${about}: ${says}`, [name])];
}

const CODES_OF: Readonly<Partial<Record<Attention['kind'], Code>>> = {
  'pool-suspended': 'pool-suspended',
  'pool-halted': 'pool-halted',
  'pool-invalid': 'pool-invalid',
  'pool-paused': 'pool-paused',
  'write-failing': 'writes-failing',
};

function blocked({ metadata: { name }, status }: KubeletPool): readonly Diagnosis[] {
  const held = status?.holds?.find(({ reason }) => reason === 'blocked');
  return held === undefined ? [] : [diagnosis('pool-blocked', `pool ${name}: ${held.message}`, [name])];
}

/** Where a pool waits and a bound has no place, those who take the places are none that are being changed. */
function waitingForNodes({ metadata: { name }, status }: KubeletPool): readonly Diagnosis[] {
  const full = status?.phase === 'Waiting' ? status.holds?.find(({ reason }) => BOUNDS.has(reason)) : undefined;
  return full === undefined ? [] : [diagnosis('pool-waits-for-nodes', `pool ${name}: ${full.message}`, [name])];
}

const BOUNDS: ReadonlySet<string> = new Set(['budget', 'zone-budget', 'overall-budget', 'control-plane']);

type Windows = Parameters<typeof windowsState>[0][number];

function closed({ metadata: { name }, spec }: KubeletPool, ofCluster: Windows, now: Millis): readonly Diagnosis[] {
  if (spec === undefined || spec.rollout.emergency !== undefined) return [];
  const windows = [ofCluster, spec.rollout.windows];
  if (everOpens(windows, now)) return [];
  return [diagnosis('window-never-opens', `pool ${name}: ${windowsState(windows, now).because}`, [name])];
}

/** A look at windows gives up after some boundaries that change nothing; so it is repeated from there. */
const MOST_LOOKS = 100;

function everOpens(windows: readonly Windows[], now: Millis): boolean {
  let at = now;
  for (let looks = 0; looks < MOST_LOOKS && at <= now + HORIZON_MS; looks += 1) {
    const { open, changesAt } = windowsState(windows, at);
    if (open) return true;
    if (changesAt === null || changesAt <= at) return false;
    at = changesAt;
  }
  // Closed in all of a year; or, with boundaries in every minute, unknown: then nothing is said.
  return at <= now + HORIZON_MS;
}
