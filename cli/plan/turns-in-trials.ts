import type { KubeletPoolSpec } from '#shared/contract/api/kubelet-pool.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { parseDuration } from '#shared/runtime/duration.ts';
import { selectorMatches } from '#reconciler/policy/assign/selector.ts';
import { amountOf, limitOf } from '#reconciler/policy/rollout/amount.ts';
import { isControlPlane } from '#reconciler/policy/rollout/budget.ts';
import { allowedOnTrial, mostOnTrial } from '#reconciler/policy/rollout/on-trial.ts';
import { trialTermsOf } from '#reconciler/policy/rollout/pace.ts';
import type { InventoryNode } from '../inventory/node.ts';

/** A restart of a kubelet and what the agent does around it; measured, see docs/benchmarks. */
export const RESTART_MS = 10_000;

/** A wave of a rollout, with the nodes that change in it. */
export interface Stage {
  readonly name: string;
  readonly nodes: readonly InventoryNode[];
  readonly soakMs: Millis;
}

interface Question {
  readonly spec: KubeletPoolSpec;
  /** All nodes of the pool. */
  readonly members: readonly InventoryNode[];
  /** The pool has had the config before: nothing bounds who tries it. */
  readonly isProven: boolean;
  /** How many may be unavailable. */
  readonly budget: number;
  /** Names of nodes that run their config already. */
  readonly takenOver: ReadonlySet<string>;
  readonly probationMs: Millis;
}

interface Turns {
  /** Who is started on in the same moment. Fewer than all where something allows none. */
  readonly waves: readonly (readonly InventoryNode[])[];
  readonly endMs: Millis;
}

/**
 * When nodes begin that give their places back after a probation, as `reconciler/policy/rollout` decides it, where all goes well and
 * restarts take what they usually do.
 */
export function turnsInTrials(question: Question, stages: readonly Stage[]): Turns {
  const state = begin(question);
  const waves: (readonly InventoryNode[])[] = [];
  for (const [index, { nodes, soakMs }] of stages.entries()) {
    let left = nodes;
    const promoted = state.promoted + left.length;
    while (state.promoted < promoted) {
      const turn = state.take(left);
      if (turn.length > 0) {
        const taken = new Set(turn);
        left = left.filter((node) => !taken.has(node));
        waves.push(turn);
      }
      if (!state.passTime()) return { waves, endMs: state.now };
    }
    const isOver = index === stages.length - 1 || nodes.every(({ name }) => question.takenOver.has(name));
    if (!isOver) state.wait(soakMs);
  }
  return { waves, endMs: state.now };
}

/** What is yet to come of the nodes that have begun. */
interface State {
  readonly now: Millis;
  readonly promoted: number;
  /** Begins with as many of these as may begin now, in order. */
  take(nodes: readonly InventoryNode[]): readonly InventoryNode[];
  /** Goes on to when something comes of a node. @returns false where nothing will */
  passTime(): boolean;
  /** Lets so much time pass. */
  wait(ms: Millis): void;
}

function begin({ spec, members, isProven: wasProven, budget, takenOver, probationMs }: Question): State {
  const { rollout } = spec;
  const { full, afterCanary } = trialTermsOf(spec);
  const soakMs = parseDuration(rollout.soak) ?? 0;
  const [most, canaries] = [mostOnTrial(rollout, members.length), canariesIn(spec, members)];
  const zones = Map.groupBy(members, zoneIn);
  const perZone = rollout.maxUnavailablePerZone;
  const due = new Map<Millis, (() => void)[]>();
  const inZone = new Map<string, number>();
  let [now, unavailable, onTrial, passed, promoted, masters] = [0, 0, 0, 0, 0, 0];

  const at = (time: Millis, come: () => void): void => void due.set(time, [...(due.get(time) ?? []), come]);
  const zoneAllows = (zone: string): number =>
    perZone === undefined ? budget : limitOf(perZone, zones.get(zone)?.length ?? 0);
  const hold = (node: InventoryNode, by: 1 | -1): void => {
    unavailable += by;
    inZone.set(zoneIn(node), (inZone.get(zoneIn(node)) ?? 0) + by);
  };

  function start(node: InventoryNode, trialMs: Millis): void {
    const isMaster = isControlPlane(node.labels);
    const up = now + RESTART_MS;
    const isTakenOver = takenOver.has(node.name);
    const promotedAt = up + (isTakenOver ? 0 : trialMs);
    hold(node, 1);
    onTrial += 1;
    if (isMaster) masters += 1;
    at(Math.min(promotedAt, up + probationMs), () => {
      hold(node, -1);
      passed += 1;
    });
    at(promotedAt, () => void (promoted += 1));
    at(promotedAt + (isTakenOver ? 0 : soakMs), () => {
      onTrial -= 1;
      if (isMaster) masters -= 1;
    });
  }

  function passTo(time: Millis): void {
    now = time;
    for (const come of due.get(time) ?? []) come();
    due.delete(time);
  }

  return {
    get now() {
      return now;
    },
    get promoted() {
      return promoted;
    },
    take(nodes) {
      const { allowed, isProven } = wasProven
        ? { allowed: Infinity, isProven: true }
        : allowedOnTrial(most, canaries, { promoted, passed, failed: 0 });
      const trialMs = parseDuration((isProven ? afterCanary : full).duration) ?? 0;
      const turn: InventoryNode[] = [];
      for (const node of nodes) {
        if (unavailable >= budget || onTrial >= allowed) break;
        if ((inZone.get(zoneIn(node)) ?? 0) >= zoneAllows(zoneIn(node))) continue;
        if (isControlPlane(node.labels) && masters > 0) continue;
        start(node, trialMs);
        turn.push(node);
      }
      return turn;
    },
    passTime() {
      const next = Math.min(...due.keys());
      if (next === Infinity) return false;
      passTo(next);
      return true;
    },
    wait(ms) {
      const until = now + ms;
      for (const time of [...due.keys()].toSorted((a, b) => a - b)) if (time <= until) passTo(time);
      now = until;
    },
  };
}

function canariesIn({ rollout: { canary } }: KubeletPoolSpec, members: readonly InventoryNode[]): number {
  const { nodes, selector } = canary ?? {};
  if (selector !== undefined)
    return Math.max(1, members.filter(({ labels }) => selectorMatches(selector, labels)).length);
  return nodes === undefined ? 1 : Math.min(members.length, Math.max(1, amountOf(nodes, members.length, 'up')));
}

export const zoneIn = ({ labels }: InventoryNode): string => labels['topology.kubernetes.io/zone'] ?? '';
