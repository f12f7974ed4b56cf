import type { Spread } from '#reconciler/policy/forecast/spread.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import type { MergePlan, NodePlan, PoolPlan, Summary } from './plan.ts';
import { SUSPENDED_IN_GIT } from './waits-for.ts';

/** @param isBounded whether all pools share one bound: then they go one after another, and side by side otherwise */
export function summaryOf(plan: Pick<MergePlan, 'pools' | 'moves'>, isBounded: boolean): Summary {
  const { pools, moves } = plan;
  const leaving = moves.flatMap((move) => move.leaving);
  const [waiting, moving] = [pools.filter(isWaiting), pools.filter((pool) => !isWaiting(pool))];
  const count = (of: readonly PoolPlan[], which: (node: NodePlan, pool: PoolPlan) => boolean): number =>
    of.reduce((sum, pool) => sum + pool.nodes.filter((node) => which(node, pool)).length, 0);
  const restarts = (node: NodePlan): boolean => !node.runsAlready && !isRefused(node);
  const together = (which: keyof Spread): Millis => {
    const times = [...moving.map(({ rollout }) => rollout?.[which] ?? 0), sum(moves.map((move) => move[which]))];
    return isBounded ? sum(times) : Math.max(...times);
  };
  return {
    pools: pools.length,
    nodes: count(pools, () => true) + leaving.length,
    restarts: count(moving, restarts) + leaving.length,
    reboots: count(moving, (node, { cost }) => restarts(node) && cost === 'reboot'),
    refused: count(moving, isRefused),
    waiting: count(waiting, () => true),
    takenOver: count(moving, ({ runsAlready }) => runsAlready),
    expectedMs: together('expectedMs'),
    quickMs: together('quickMs'),
    slowMs: together('slowMs'),
  };
}

/** Also where a bound lets nobody begin. */
const isWaiting = ({ waits, rollout }: PoolPlan): boolean => waits !== undefined || rollout?.waves.length === 0;

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

const isRefused = ({ warnings }: NodePlan): boolean => warnings.some(({ refuses }) => refuses);

/** What of a plan can make `kubelet-gitops plan` end with 3. */
export const FAILURES = ['refused', 'conflict', 'invalid', 'stuck', 'held', 'empty', 'security'] as const;
export type PlanFailure = (typeof FAILURES)[number];
/** What does where nobody says: what is merged like that reaches no node, or not as it was meant. */
export const USUAL_FAILURES: readonly PlanFailure[] = ['refused', 'conflict', 'invalid', 'stuck'];

/**
 * `refused`: the commit as a whole, or the config on a node. `conflict`: two pools want a node with the same priority. `invalid`: errors in a
 * file. `stuck`: a pool does not allow what the change does to its nodes. `held`: the cluster's file lets nothing begin. `empty`: a
 * pool loses all its nodes. `security`: somebody gains something.
 */
export function failuresIn(plan: MergePlan): ReadonlySet<PlanFailure> {
  const { refusal, summary, conflicts, findings, pools, held } = plan;
  const holds: Readonly<Record<PlanFailure, boolean>> = {
    refused: refusal !== undefined || summary.refused > 0,
    conflict: conflicts.length > 0,
    invalid: findings.some(({ severity }) => severity === 'error'),
    stuck: pools.some(({ waits }) => waits !== undefined && waits !== SUSPENDED_IN_GIT),
    held: held !== undefined,
    empty: findings.some(({ code }) => code === 'pool-becomes-empty'),
    security: findings.some(({ kind }) => kind === 'security'),
  };
  return new Set(FAILURES.filter((failure) => holds[failure]));
}
