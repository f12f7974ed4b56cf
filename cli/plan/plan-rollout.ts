import type { Amount, RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';
import { parseDuration } from '#shared/runtime/duration.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { selectorMatches } from '#reconciler/policy/assign/selector.ts';
import type { ValidPool } from '#reconciler/policy/repo/loaded.ts';
import { amountOf, limitOf, shareOf } from '#reconciler/policy/rollout/amount.ts';
import { probationOf } from '#reconciler/policy/rollout/pace.ts';
import { isControlPlane } from '#reconciler/policy/rollout/budget.ts';
import { classFor } from '../class-of-node.ts';
import type { InventoryNode } from '../inventory/node.ts';
import type { RolloutPlan } from './plan.ts';
import { RESTART_MS, type Stage, turnsInTrials, zoneIn } from './turns-in-trials.ts';

/**
 * The order in which the reconciler starts on nodes, and how long that takes, where nothing is in the way: canaries and
 * steps first, within the budgets of the pool and of its zones, nodes of the control plane one at a time. Windows are not
 * looked at; `simulate` does that.
 *
 * @param members all nodes of the pool
 * @param touched those of them that change
 * @param overall how many nodes of all pools together may be unavailable; null for no bound
 * @param isProven whether the pool has the config already, and only nodes are new to it
 * @param takenOver names of those that run their config already: they are not restarted, have no trial, and soak in nothing
 */
export function planRollout(
  pool: ValidPool,
  members: readonly InventoryNode[],
  touched: readonly InventoryNode[],
  overall: number | null,
  takenOver: ReadonlySet<string> = new Set(),
  isProven = false,
): RolloutPlan {
  const { rollout, trial } = pool.spec;
  const own = limitOf(rollout.maxUnavailable, members.length);
  const budget = overall === null ? own : Math.min(own, overall);
  const stages = stagesOf(pool, members, inOrder(touched));
  const names = stages.map(({ name, nodes }) => ({ name, nodes: namesOf(nodes) }));
  const probationMs = probationOf(rollout);
  if (probationMs !== null) {
    const turns = turnsInTrials({ spec: pool.spec, members, isProven, budget, takenOver, probationMs }, stages);
    return { budget, stages: names, waves: turns.waves.map(namesOf), expectedMs: turns.endMs };
  }
  const turns = stages.map(({ nodes }) => turnsOf(nodes, rollout, members, budget));
  const areTakenOver = (nodes: readonly InventoryNode[]): boolean => nodes.every(({ name }) => takenOver.has(name));
  const proofMs = (parseDuration(trial.duration) ?? 0) + (parseDuration(rollout.soak) ?? 0);
  const holdMs = (turn: readonly InventoryNode[]): Millis => RESTART_MS + (areTakenOver(turn) ? 0 : proofMs);
  const lastMs = (soakMs: Millis): Millis => Math.max(0, soakMs - (parseDuration(rollout.soak) ?? 0));
  return {
    budget,
    stages: names,
    waves: turns.flat().map(namesOf),
    expectedMs: turns.reduce((sum, inStage, index) => {
      const last = areTakenOver(inStage.flat()) ? 0 : lastMs(stages[index]?.soakMs ?? 0);
      return inStage.reduce((whole, turn) => whole + holdMs(turn), sum) + last;
    }, 0),
  };
}

/** Those that are not Ready last; by zone, then by age, then by name: as `reconciler/policy/rollout/order.ts` has it. */
function inOrder(nodes: readonly InventoryNode[]): readonly InventoryNode[] {
  const compare = (a: string | number, b: string | number): number => (a < b ? -1 : a > b ? 1 : 0);
  return [...nodes].sort(
    (a, b) =>
      Number(b.ready) - Number(a.ready) ||
      compare(zoneIn(a), zoneIn(b)) ||
      compare(a.createdAt ?? 0, b.createdAt ?? 0) ||
      compare(a.name, b.name),
  );
}

/** Each stage ends when so many of the pool's nodes run the config; those that run it already count. */
function stagesOf(
  pool: ValidPool,
  members: readonly InventoryNode[],
  ordered: readonly InventoryNode[],
): readonly Stage[] {
  const { rollout } = pool.spec;
  const { canary, steps = [] } = rollout;
  const soak = (own: string | undefined): Millis => parseDuration(own ?? rollout.soak) ?? 0;
  const share = (amount: Amount): number => Math.max(1, amountOf(amount, members.length, 'up'));
  let left = [...ordered];
  const stages: Stage[] = [];
  const take = (name: string, nodes: readonly InventoryNode[], soakMs: Millis): void => {
    left = left.filter((node) => !nodes.includes(node));
    if (nodes.length > 0) stages.push({ name, nodes, soakMs });
  };
  const upTo = (total: number): readonly InventoryNode[] =>
    left.slice(0, Math.max(0, total - (members.length - left.length)));
  const selector = canary?.selector;
  if (selector !== undefined) {
    const chosen = left.filter(({ labels }) => selectorMatches(selector, labels));
    take('canary', chosen, soak(canary?.soak));
  } else if (canary?.nodes !== undefined && canary.perClass === true && pool.template !== undefined) {
    take('canary', canariesOf(pool, canary.nodes, members, left), soak(canary.soak));
  } else if (canary?.nodes !== undefined) {
    take('canary', upTo(share(canary.nodes)), soak(canary.soak));
  }
  for (const [index, step] of steps.entries()) take(`step ${index + 1}`, upTo(share(step.nodes)), soak(step.soak));
  take('rest', left, soak(undefined));
  return stages;
}

/** So many of each class; those of it that run their config already count. */
function canariesOf(
  pool: ValidPool,
  nodes: Amount,
  members: readonly InventoryNode[],
  left: readonly InventoryNode[],
): readonly InventoryNode[] {
  const classOf = (node: InventoryNode): string => classFor(pool, node).class.name;
  const others = new Set(left);
  const room = new Map<string, number>();
  for (const [name, own] of Map.groupBy(members, classOf)) {
    room.set(name, shareOf(nodes, own.length) - own.filter((node) => !others.has(node)).length);
  }
  return left.filter((node) => {
    const places = room.get(classOf(node)) ?? 0;
    room.set(classOf(node), places - 1);
    return places > 0;
  });
}

/** Who is started on together. None where the budget allows none. */
function turnsOf(
  nodes: readonly InventoryNode[],
  { maxUnavailablePerZone }: RolloutSpec,
  members: readonly InventoryNode[],
  budget: number,
): readonly (readonly InventoryNode[])[] {
  const zones = Map.groupBy(members, zoneIn);
  const most = (zone: string): number =>
    maxUnavailablePerZone === undefined ? budget : limitOf(maxUnavailablePerZone, zones.get(zone)?.length ?? 0);
  const turns: InventoryNode[][] = [];
  let left = nodes;
  while (left.length > 0) {
    const turn: InventoryNode[] = [];
    for (const node of left) {
      const inZone = turn.filter((other) => zoneIn(other) === zoneIn(node)).length;
      const isSecond = isControlPlane(node.labels) && turn.some(({ labels }) => isControlPlane(labels));
      if (turn.length < budget && inZone < most(zoneIn(node)) && !isSecond) turn.push(node);
      if (turn.length >= budget) break;
    }
    if (turn.length === 0) return turns;
    const taken = new Set(turn);
    left = left.filter((node) => !taken.has(node));
    turns.push(turn);
  }
  return turns;
}

const namesOf = (nodes: readonly InventoryNode[]): readonly string[] => nodes.map(({ name }) => name);
