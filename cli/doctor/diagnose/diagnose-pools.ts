import { recordedPolicy } from '#reconciler/policy/cluster-policy.ts';
import { haltLines } from '#reconciler/policy/pool-status/halt-lines.ts';
import { HORIZON_MS } from '#reconciler/policy/windows/span.ts';
import { windowsState } from '#reconciler/policy/windows/windows-state.ts';
import { SUSPEND_ANNOTATION } from '#shared/contract/api/group.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { aboutAll, type Diagnosis, diagnosis } from '../diagnosis.ts';
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
      ...suspended(pool),
      ...halted(pool),
      ...invalid(pool),
      ...blocked(pool),
      ...waitingForNodes(pool),
      ...closed(pool, policy.windows, facts.now),
    ]),
    ...aboutAll('pool-empty', 'pool', empty, 'no node matches the selector'),
  ];
}

function suspended({ metadata: { name, annotations }, spec }: KubeletPool): readonly Diagnosis[] {
  const because = annotations?.[SUSPEND_ANNOTATION];
  if (because !== undefined) return [diagnosis('pool-suspended', `pool ${name}: suspended (${because})`, [name])];
  return spec?.suspend === true
    ? [diagnosis('pool-suspended', `pool ${name}: suspended in its pool.yaml`, [name])]
    : [];
}

function halted({ metadata: { name }, status }: KubeletPool): readonly Diagnosis[] {
  const halt = status?.halt ?? undefined;
  if (halt === undefined) return [];
  const does = halt.action === 'revert' ? 'goes back' : 'halted';
  return [
    diagnosis(
      'pool-halted',
      [`pool ${name}: ${does} since ${halt.at}: ${halt.message}`, ...haltLines(status ?? {})].join('; '),
      [name],
    ),
  ];
}

function invalid({ metadata: { name }, status }: KubeletPool): readonly Diagnosis[] {
  const valid = status?.conditions?.find(({ type }) => type === 'ConfigValid');
  if (valid?.status !== 'False') return [];
  return [diagnosis('pool-invalid', `pool ${name}: ${valid.message.split('\n')[0] ?? ''}`, [name])];
}

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
