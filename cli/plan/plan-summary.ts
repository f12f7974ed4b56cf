import { forecastTogether } from '#reconciler/policy/forecast/forecast.ts';
import { type Spread, spreadOf } from '#reconciler/policy/forecast/duration-range.ts';
import type { Places } from '#reconciler/policy/rollout/places.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import type { MergePlan, MovePlan, NodePlan, PoolPlan, Summary } from './merge-plan.ts';
import type { PlannedRollout } from './plan-rollout.ts';
import { NOT_ESTIMATED } from './not-estimated.ts';
import { SUSPENDED_IN_GIT } from './wait-reasons.ts';

/** A pool with its rollout, undefined where nothing changes on its nodes. */
export interface PlannedPool {
  readonly plan: PoolPlan;
  readonly rollout: PlannedRollout | undefined;
}

/** @param most how many nodes of all pools together may begin; null where each pool goes by itself */
export function summaryOf(planned: readonly PlannedPool[], moves: readonly MovePlan[], most: Places | null): Summary {
  const pools = planned.map(({ plan }) => plan);
  const leaving = moves.flatMap((move) => move.leaving);
  const going = moves.flatMap((move) => move.going).length;
  const moving = pools.filter((pool) => !isWaiting(pool));
  // Who waits for other nodes may be told what it refuses as soon as they are back.
  const asked = pools.filter(
    (pool) => !isWaiting(pool) || (pool.waits === undefined && pool.rollout?.waitsFor !== undefined),
  );
  const begun = new Set(moving.flatMap(({ rollout }) => rollout?.waves.flat() ?? []));
  const count = (of: readonly PoolPlan[], which: (node: NodePlan, pool: PoolPlan) => boolean): number =>
    of.reduce((sum, pool) => sum + pool.nodes.filter((node) => which(node, pool)).length, 0);
  const restarts = (node: NodePlan): boolean => !node.runsAlready && !isRefused(node) && begun.has(node.name);
  const away = (which: keyof Spread): Millis => sum(moves.map((move) => move[which]));
  const side = (which: keyof Spread): Millis =>
    Math.max(away(which), ...moving.map(({ rollout }) => rollout?.[which] ?? 0));
  const rollouts = planned.flatMap(({ plan, rollout }) => (rollout === undefined || isWaiting(plan) ? [] : [rollout]));
  const bounded = most === null ? null : spreadOf((restartMs) => timeTogether(rollouts, most, restartMs));
  // Who goes back to local takes its place from the others.
  const together = (which: keyof Spread): Millis => (bounded === null ? side(which) : bounded[which] + away(which));
  return {
    pools: pools.length,
    nodes: count(pools, () => true) + leaving.length,
    restarts: count(moving, restarts) + going,
    reboots: count(moving, (node, { cost }) => restarts(node) && cost === 'reboot'),
    refused: count(asked, isRefused),
    waiting:
      count(pools, (node, pool) => !begun.has(node.name) && !(isRefused(node) && asked.includes(pool))) +
      leaving.length -
      going,
    takenOver: count(moving, ({ runsAlready }) => runsAlready),
    untimed: NOT_ESTIMATED.filter((each) => moving.some(({ rollout }) => rollout?.untimed.includes(each))),
    expectedMs: together('expectedMs'),
    quickMs: together('quickMs'),
    slowMs: together('slowMs'),
  };
}

function timeTogether(rollouts: readonly PlannedRollout[], most: Places, restartMs: Millis): Millis | null {
  const found = forecastTogether(
    rollouts.map(({ rollout }) => rollout(restartMs)),
    most,
  );
  return found.reduce<Millis | null>(
    (last, { soakedMs }) => (last === null || soakedMs === null ? null : Math.max(last, soakedMs)),
    0,
  );
}

/** Also for a bound that lets no node begin. */
const isWaiting = ({ waits, rollout }: PoolPlan): boolean => waits !== undefined || rollout?.waves.length === 0;

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

const isRefused = ({ warnings }: NodePlan): boolean => warnings.some(({ refuses }) => refuses);

/** What of a plan can make `kubelet-gitops plan` end with 3. */
export const FAILURES = ['refused', 'conflict', 'invalid', 'stuck', 'held', 'empty', 'security'] as const;
export type PlanFailure = (typeof FAILURES)[number];
/** The default: what is merged like that reaches no node, or not as it was meant. */
export const USUAL_FAILURES: readonly PlanFailure[] = ['refused', 'conflict', 'invalid', 'stuck'];

/**
 * `refused`: the commit as a whole, or the config on a node. `conflict`: two pools want a node with the same priority. `invalid`: errors in a
 * file. `stuck`: a pool does not allow what the change does to its nodes. `held`: the cluster's file lets nothing begin. `empty`: a
 * pool loses all its nodes. `security`: an attacker gains something.
 */
export function failuresIn(plan: MergePlan): ReadonlySet<PlanFailure> {
  const { refusal, summary, conflicts, findings, pools, held } = plan;
  const holds: Readonly<Record<PlanFailure, boolean>> = {
    refused: refusal !== undefined || summary.refused > 0,
    conflict: conflicts.length > 0,
    invalid: findings.some(({ severity }) => severity === 'error'),
    stuck: pools.some(
      ({ waits, nodes }) =>
        (waits !== undefined && waits !== SUSPENDED_IN_GIT) || nodes.some((node) => node.held !== undefined),
    ),
    held: held !== undefined,
    empty: findings.some(({ code }) => code === 'pool-becomes-empty'),
    security: findings.some(({ kind }) => kind === 'security'),
  };
  return new Set(FAILURES.filter((failure) => holds[failure]));
}
