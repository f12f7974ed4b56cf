import { awaitedApprovals } from '#shared/contract/api/approval.ts';
import type { KubeletPoolStatus, PoolCounts } from '#shared/contract/api/kubelet-pool.ts';
import { formatFinding } from '#shared/contract/finding.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import type { DesiredPool } from '../../policy/desired.ts';
import { forecastPools, type RolloutForecast } from '../../policy/forecast/forecast-pools.ts';
import { awaitedLines } from '../../policy/pool-status/approval-lines.ts';
import { haltLines } from '../../policy/pool-status/halt-lines.ts';
import { suspensionOf } from '../../policy/rollout/holds/suspended.ts';
import { byUrgency } from '../pool-status/class-summary.ts';
import type { PassResult } from '../pass-result.ts';
import type { NodeRow, PoolModel, PoolState, RolloutModel } from './model.ts';
import { countStates } from './node-rows.ts';
import { timelineOf } from './rollout-timeline.ts';

const NOBODY: PoolCounts = { nodes: 0, updated: 0, updating: 0, pending: 0, failed: 0, noAgent: 0, drifted: 0 };

/** Every pool as an operator would sum it up, by name. Pure. */
export function poolModels(round: PassResult, nodes: readonly NodeRow[]): readonly PoolModel[] {
  const members = Map.groupBy(nodes, ({ pool }) => pool);
  const { planned, fleet, desired, at } = round;
  const { maxUnavailable, former } = desired.policy;
  const forecasts = forecastPools(planned.nodes, fleet, [maxUnavailable, former?.maxUnavailable ?? null], at);
  return [...round.desired.pools.values()]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map((pool) => poolModel(pool, round, members.get(pool.name) ?? [], forecasts.get(pool.name)));
}

function poolModel(
  pool: DesiredPool,
  round: PassResult,
  members: readonly NodeRow[],
  forecast: RolloutForecast | undefined,
): PoolModel {
  const status = round.planned.pools.get(pool.name) ?? {};
  const suspended = whySuspended(pool, round);
  const state = stateOf(pool, status, suspended !== '', members);
  return {
    name: pool.name,
    state,
    says: state === 'suspended' ? suspended : (status.message ?? ''),
    target: pool.config?.name ?? 'local',
    settledOn: status.settled?.configName ?? '',
    classes: byUrgency(status.classes ?? []),
    counts: status.counts ?? NOBODY,
    states: countStates(members),
    rollout: rolloutModel(status, forecast, round.at),
    holds: status.holds ?? [],
    failures: status.failures ?? [],
    haltLines: haltLines(status),
    approvals: awaitedLines(pool.name, status),
    findings: round.desired.commit === null ? recordedFindings(round, pool.name) : pool.findings.map(formatFinding),
  };
}

function rolloutModel(
  { rollout, halt }: KubeletPoolStatus,
  { generations, remaining }: RolloutForecast = { generations: [], remaining: null },
  now: Millis,
): RolloutModel | null {
  return rollout === undefined ? null : { ...timelineOf(rollout, halt?.at, generations, now), remaining };
}

/** As its status has them, where the commit was not read: by a process that waits, or after a restart while git is away. */
function recordedFindings({ fleet }: PassResult, pool: string): readonly string[] {
  const conditions = fleet.pools.get(pool)?.status?.conditions ?? [];
  const { message = '' } = conditions.find(({ type }) => type === 'ConfigValid') ?? {};
  return message.split('\n').filter((line) => line !== '');
}

/** Also of a pool that has nothing to do now, as a reminder of the suspension. */
function whySuspended(pool: DesiredPool, { fleet, desired, at }: PassResult): string {
  return suspensionOf(pool, fleet.pools.get(pool.name), desired.policy, at)?.because ?? '';
}

function stateOf(
  pool: DesiredPool,
  status: KubeletPoolStatus,
  isSuspended: boolean,
  members: readonly NodeRow[],
): PoolState {
  const { halt, phase, holds = [] } = status;
  if (halt !== undefined) return 'halted';
  if (pool.origin === 'retiring') return 'retiring';
  if (isSuspended) return 'suspended';
  if (phase === 'Empty') return 'empty';
  if (phase === 'Settled') return 'settled';
  const moving = members.some(
    ({ state }) => state === 'updating' || state === 'rebooting' || state === 'draining' || state === 'starting',
  );
  if (moving) return 'rolling';
  if (awaitedApprovals(status).length > 0) return 'approval';
  if (phase === 'Progressing') return 'soaking';
  const holding = holds[0]?.reason;
  return holding === 'window' || holding === 'blocked' ? holding : 'waiting';
}
