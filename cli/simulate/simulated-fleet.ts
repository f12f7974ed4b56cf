import { approvalValue, awaitedApprovals } from '#shared/contract/api/approval.ts';
import { APPROVE_ANNOTATION } from '#shared/contract/api/group.ts';
import { type ConfigReference, DEFAULT_TRIAL, type KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPoolSpec, RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';
import { STEADY_MS } from '#shared/contract/api/probation.ts';
import { parseDuration } from '#shared/runtime/duration.ts';
import { fromTimestamp, type Millis, toTimestamp } from '#shared/runtime/clock.ts';
import type { Fleet, NodeView } from '#reconciler/policy/fleet.ts';
import type { Step } from '#reconciler/policy/steps.ts';
import { probationOf } from '#reconciler/policy/rollout/trial-terms.ts';
import type { InventoryNode } from '../inventory/inventory-node.ts';
import { marksIn, nodeViewOf } from '../inventory/node-view.ts';
import { applySteps } from './fleet/apply-steps.ts';
import { type FailureOf, healthyFor, nextReport, type NextReport, rebooted } from './fleet/simulated-agent.ts';

/** How nodes take a config. */
export interface SimulatedBehaviour {
  /** Share of the trials that fail, 0 to 1. */
  readonly failureRate: number;
  /** From the assignment until the kubelet is up with it. */
  readonly restartMs: Millis;
  /** A number in [0, 1) for each trial. */
  readonly random: () => number;
  /** How long a person takes to approve a config where it waits for that; Infinity for never. Absent: no time. */
  readonly approvesAfterMs?: Millis;
  /** After how much healthy time a node's trial fails for certain; null for never. Absent: on no node. */
  readonly failsAfter?: (node: string) => Millis | null;
}

/** What happened to a node, for the timeline. */
export interface NodeEvent {
  readonly at: Millis;
  readonly node: string;
  readonly pool: string;
  /** `returned`: it runs again what it ran before, or its local config. */
  readonly event: 'started' | 'proved' | 'failed' | 'refused' | 'returned';
}

/**
 * A fleet in simulated time: the planner's steps come true at once, and nodes answer after the time that a restart and a
 * trial take. Every node has an agent; machines boot as soon as they are ordered to.
 */
export interface SimulatedFleet {
  readonly events: NodeEvent[];
  /**
   * From now on nodes are as the inventory shows them, pools are as they were asked for, and agents refuse what they refuse: in the past
   * nobody was away, no pool took its time, and nothing was refused.
   */
  beAsNow(inventory: readonly InventoryNode[], pools: ReadonlyMap<string, KubeletPoolSpec>, refusal: RefusalOn): void;
  /** As the planner sees it: every agent that is not silent gave a sign of life just now. */
  at(now: Millis): Fleet;
  perform(steps: readonly Step[], now: Millis): void;
  /**
   * Ends the trials and probations that are due, and gives the approvals that are.
   *
   * @param failureRate share of them that fails, 0 to 1
   */
  pass(now: Millis, failureRate: number): void;
  /** The next moment at which a trial or a probation ends; Infinity where none is under way. */
  nextEnd(): Millis;
  /** The next moment at which a node has proven its config for one of its pool's soaks; Infinity where there is none. */
  nextSoakEnd(now: Millis): Millis;
  /** The next moment at which a person approves what waits for one; Infinity where nothing does. */
  nextApproval(): Millis;
}

/** What the preflight of a node has against a config; undefined for nothing. */
export type RefusalOn = (node: string, config: ConfigReference) => string | undefined;

const FAILURE = { reason: 'Simulated', message: 'a simulated failure' };

export function createSimulatedFleet(
  inventory: readonly InventoryNode[],
  { restartMs, random, approvesAfterMs = 0, failsAfter = () => null }: SimulatedBehaviour,
  start: Millis,
): SimulatedFleet {
  const nodes = new Map(inventory.map((node, index) => [node.name, inThePast(nodeViewOf(node, index, start))]));
  let fleet: Fleet = { nodes, kubeletNodes: new Map(), configSources: new Map(), pools: new Map() };
  const ends = new Map<string, Millis>();
  /** Where an end is a failure for certain. */
  const doomed = new Set<string>();
  /** When nodes on trial have been healthy for as long as their probations. */
  const calm = new Map<string, { readonly at: Millis; readonly seconds: number }>();
  const events: NodeEvent[] = [];
  /** Names of nodes whose agents are silent now. */
  const muted = new Set<string>();
  let refusalOn: RefusalOn = () => undefined;

  /** The agents of these nodes take one step each. */
  const report = (
    names: Iterable<string>,
    now: Millis,
    failureRate: number,
    heard: (node: KubeletNode, next: NextReport) => void,
  ): void => {
    const kubeletNodes = new Map(fleet.kubeletNodes);
    for (const name of names) {
      const failureOf = (): typeof FAILURE | null => (doomed.delete(name) || random() < failureRate ? FAILURE : null);
      const known = kubeletNodes.get(name);
      const { reboot } = known?.spec ?? {};
      const isToBoot = reboot !== undefined && reboot.boot === known?.status?.bootID;
      const node = known !== undefined && isToBoot ? rebooted(known) : known;
      const refusalOf: FailureOf = (config) => {
        const message = refusalOn(name, config);
        return message === undefined ? null : { reason: 'PreflightFailed', message };
      };
      const next = node === undefined ? null : nextReport(node, toTimestamp(now), failureOf, refusalOf);
      if (node === undefined || next === null) continue;
      const told = { ...node, status: next.status };
      kubeletNodes.set(name, told);
      heard(told, next);
    }
    fleet = { ...fleet, kubeletNodes };
  };
  const tell = ({ metadata, spec }: KubeletNode, event: NodeEvent['event'], at: Millis): void => {
    events.push({ at, node: metadata.name, pool: spec?.pool ?? '-', event });
  };

  /** Those that nobody gave yet. */
  const approvals = (): readonly { readonly pool: string; readonly value: string; readonly at: Millis }[] =>
    [...fleet.pools].flatMap(([pool, { metadata, status }]) =>
      awaitedApprovals(status).flatMap((awaited) => {
        const value = approvalValue(awaited);
        const isGiven = metadata.annotations?.[APPROVE_ANNOTATION] === value;
        return isGiven ? [] : [{ pool, value, at: (fromTimestamp(awaited.since) ?? Infinity) + approvesAfterMs }];
      }),
    );

  /** @param up when its kubelet is up */
  const watch = ({ metadata: { name }, spec, status }: KubeletNode, up: Millis): void => {
    calm.delete(name);
    doomed.delete(name);
    if (status?.phase === 'FallingBack') {
      ends.set(name, up + STEADY_MS);
      return;
    }
    const trialMs = parseDuration(spec?.trial?.duration ?? DEFAULT_TRIAL.duration) ?? 0;
    const failsMs = failsAfter(name) ?? Infinity;
    ends.set(name, up + Math.min(trialMs, failsMs));
    if (failsMs < trialMs) doomed.add(name);
    const probationMs = probationOf(fleet.pools.get(spec?.pool ?? '')?.spec?.rollout ?? {});
    if (probationMs === null || probationMs >= Math.min(trialMs, failsMs)) return;
    calm.set(name, { at: up + probationMs, seconds: Math.ceil(probationMs / 1000) });
  };

  return {
    events,
    beAsNow(seen, specs, refusal) {
      refusalOn = refusal;
      const now = new Map(fleet.nodes);
      for (const each of seen) {
        const { name, ready, cordoned = false, silent } = each;
        const node = now.get(name);
        if (node !== undefined) now.set(name, { ...node, ready, cordoned, ...marksIn(each) });
        if (silent) muted.add(name);
      }
      const pools = new Map(fleet.pools);
      for (const [name, spec] of specs) {
        const pool = pools.get(name);
        if (pool !== undefined) pools.set(name, { ...pool, spec });
      }
      fleet = { ...fleet, nodes: now, pools };
    },
    at(now) {
      const [heartbeat, long] = [toTimestamp(now), toTimestamp(start - 86_400_000)];
      const alive = [...fleet.kubeletNodes].map(
        ([name, node]) =>
          [name, { ...node, status: { ...node.status, heartbeat: muted.has(name) ? long : heartbeat } }] as const,
      );
      return { ...fleet, kubeletNodes: new Map(alive) };
    },
    perform(steps, now) {
      fleet = applySteps(fleet, steps, now);
      const told = steps.flatMap((step) => ('spec' in step && 'node' in step ? [step.node.metadata.name] : []));
      report(told, now, 0, (node, { restarted, refused }) => {
        if (refused) tell(node, 'refused', now);
        if (!restarted) return;
        watch(node, now + restartMs);
        tell(node, 'started', now);
      });
    },
    pass(now, failureRate) {
      const kubeletNodes = new Map(fleet.kubeletNodes);
      for (const [name, { at, seconds }] of calm) {
        if (at > now) continue;
        calm.delete(name);
        const node = kubeletNodes.get(name);
        const status = node === undefined ? null : healthyFor(node, seconds, toTimestamp(now));
        if (node !== undefined && status !== null) kubeletNodes.set(name, { ...node, status });
      }
      const pools = new Map(fleet.pools);
      for (const { pool, value, at } of approvals()) {
        const known = pools.get(pool);
        if (at > now || known === undefined) continue;
        const annotations = { ...known.metadata.annotations, [APPROVE_ANNOTATION]: value };
        pools.set(pool, { ...known, metadata: { ...known.metadata, annotations } });
      }
      fleet = { ...fleet, kubeletNodes, pools };
      const due = [...ends].flatMap(([name, end]) => (end > now ? [] : [name]));
      for (const name of due) ends.delete(name);
      const back = new Set(due.filter((name) => fleet.kubeletNodes.get(name)?.status?.phase === 'FallingBack'));
      report(due, now, failureRate, (node, { restarted }) =>
        tell(node, restarted ? 'failed' : back.has(node.metadata.name) ? 'returned' : 'proved', now),
      );
    },
    nextEnd: () =>
      [...ends.values(), ...[...calm.values()].map(({ at }) => at)].reduce(
        (next, end) => Math.min(next, end),
        Infinity,
      ),
    nextApproval: () => Math.min(Infinity, ...approvals().map(({ at }) => at)),
    nextSoakEnd(now) {
      const soaks = new Map([...fleet.pools].map(([name, { spec }]) => [name, soaksOf(spec?.rollout)]));
      let next = Infinity;
      for (const { spec, status } of fleet.kubeletNodes.values()) {
        const promotedAt = fromTimestamp(status?.promotedAt) ?? -Infinity;
        for (const soakMs of soaks.get(spec?.pool ?? '') ?? []) {
          if (promotedAt + soakMs > now) next = Math.min(next, promotedAt + soakMs);
        }
      }
      return next;
    },
  };
}

function inThePast(node: NodeView): NodeView {
  const { leaving: _, ...rest } = node;
  return { ...rest, ready: true, cordoned: false };
}

/** Every time for which a pool wants a config to have proven itself. */
function soaksOf({ soak = '0s', canary, steps = [] }: Partial<RolloutSpec> = {}): readonly Millis[] {
  const texts = new Set([soak, canary?.soak ?? soak, ...steps.map((step) => step.soak ?? soak)]);
  return [...texts].map((text) => parseDuration(text) ?? 0);
}
