import type { KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import { FULL_PROBATION } from '#shared/contract/api/probation.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { type CommitInForce, type DesiredPool, desiredState } from '#reconciler/policy/desired.ts';
import type { Fleet, PodCount } from '#reconciler/policy/fleet.ts';
import { neverReason } from '#reconciler/policy/participation.ts';
import { plan } from '#reconciler/policy/plan.ts';
import { writtenRecords } from '#reconciler/policy/proof/own-records.ts';
import { type JudgePool, poolJudge } from '#reconciler/policy/config-repo/judge-pool.ts';
import type { LoadedRepo } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { createVerdictCache } from '#reconciler/policy/config-repo/verdict-cache.ts';
import { withLimitsInForce } from '#reconciler/policy/pool-limits/held-limits.ts';
import type { Signals } from '#reconciler/policy/signals.ts';
import { windowsState } from '#reconciler/policy/windows/windows-state.ts';
import type { InventoryNode } from '../inventory/inventory-node.ts';
import { poolFor } from '../class-of-node.ts';
import { allowsDrain, planNode, refusalIn } from '../plan/plan-node.ts';
import { poolMembershipOf, validPools } from '../plan/pool-membership.ts';
import {
  createSimulatedFleet,
  type SimulatedBehaviour,
  type NodeEvent,
  type RefusalOn,
  type SimulatedFleet,
} from './simulated-fleet.ts';

export interface SimulationQuestion {
  /** What is in force before; null: every node runs its local config. */
  readonly base: LoadedRepo | null;
  readonly head: LoadedRepo;
  readonly nodes: readonly InventoryNode[];
  readonly manners: SimulatedBehaviour;
  readonly start: Millis;
  /** How long is looked ahead at most. */
  readonly horizonMs: Millis;
}

export interface Simulation {
  readonly start: Millis;
  /** When nothing moved any more, or the horizon. */
  readonly end: Millis;
  readonly events: readonly NodeEvent[];
  /** The status of every pool at the end, those that went away in the meantime among them. */
  readonly pools: ReadonlyMap<string, KubeletPoolStatus>;
  /** Without those that never take part. */
  readonly nodes: number;
  /** Pools with errors, or with configs that their nodes refuse: they keep the configs that they have. */
  readonly invalidPools: readonly string[];
}

/** How soon the planner looks again after it did something. */
const LOOK_AGAIN_MS: Millis = 15_000;

/** Of every pool and version: a simulation has as many rounds as the rollout has hours. */
const MOST_VERDICTS = 10_000;

/** The reconciler's own planner, on a simulated fleet. Pure but for the randomness that it is given. */
export function simulate(question: SimulationQuestion): Simulation {
  const { base, head, nodes, manners, start, horizonMs } = question;
  const fleet = createSimulatedFleet(nodes, manners, start);
  const known: KnownPools = new Map();
  const judge = poolJudge(createVerdictCache(MOST_VERDICTS));
  if (base !== null) settle(fleet, base, start, known);
  fleet.events.length = 0;
  const specs = new Map([...known].map(([name, { spec }]) => [name, spec] as const));
  fleet.beAsNow(nodes, specs, refusalsOf(base, head, nodes));
  const inForce: CommitInForce = { oid: 'head', repo: head };
  const counts = podCounts(base, head, nodes);
  const horizon = start + horizonMs;
  let now = start;
  let { pools, refused, moved } = round(fleet, inForce, now, known, judge, counts);
  const seen = new Map(pools);
  while (now < horizon && [...pools.values()].some(isUnderWay)) {
    const events = [
      fleet.nextEnd(),
      fleet.nextSoakEnd(now),
      fleet.nextApproval(),
      nextWindow(head, now),
      moved ? now + LOOK_AGAIN_MS : Infinity,
    ];
    const next = Math.min(...events);
    // Nothing will ever move again: nodes that wait, wait for a person.
    if (next === Infinity) break;
    now = Math.min(next, horizon);
    fleet.pass(now, manners.failureRate);
    ({ pools, refused, moved } = round(fleet, inForce, now, known, judge, counts));
    for (const [name, status] of pools) seen.set(name, status);
  }
  for (const [name, { counts: last, ...status }] of seen) {
    if (!pools.has(name)) seen.set(name, { ...status, ...(last && { counts: { ...last, nodes: 0 } }), ...GONE });
  }
  const counted = nodes.filter((node) => neverReason(node) === null).length;
  return { start, end: now, events: fleet.events, pools: seen, nodes: counted, invalidPools: refused };
}

const GONE = { phase: 'Empty', message: 'it is gone, and no node has its config' } as const;

/** What each node's preflight says, as far as an inventory can tell. */
function refusalsOf(base: LoadedRepo | null, head: LoadedRepo, nodes: readonly InventoryNode[]): RefusalOn {
  const [old, now] = [validPools(base ?? NOTHING), validPools(head)];
  const before = poolMembershipOf(nodes, base ?? NOTHING, new Map());
  const byName = new Map(nodes.map((node) => [node.name, node] as const));
  return (name, { sha256, apply = 'overlay' }) => {
    const node = byName.get(name);
    if (node === undefined) return undefined;
    const given = [...now.values()].map((pool) => poolFor(pool, node));
    const gets = given.find((pool) => pool !== undefined && pool.sha256 === sha256 && pool.spec.apply === apply);
    const had = poolFor(old.get(before.pool.get(name) ?? ''), node);
    return gets === undefined ? undefined : refusalIn(planNode(node, had, gets));
  };
}

const NOTHING: Pick<LoadedRepo, 'pools'> = { pools: [] };

type PodCounts = ReadonlyMap<string, Omit<PodCount, 'at'>>;

/** What was counted on each node; undefined where nothing was. Where no drain is allowed, how many pods run counts for the agent alone: it refuses. */
function podCounts(base: LoadedRepo | null, head: LoadedRepo, nodes: readonly InventoryNode[]): PodCounts | undefined {
  if (nodes.every(({ pods }) => pods === undefined)) return undefined;
  const [old, now] = [validPools(base ?? NOTHING), validPools(head)];
  const { pool } = poolMembershipOf(nodes, head, old);
  return new Map(
    nodes.map(({ name, pods = null, vital, needs }) => {
      const own = now.get(pool.get(name) ?? '') ?? old.get(pool.get(name) ?? '');
      const counted = allowsDrain(own) ? pods : 0;
      return [name, { pods: counted, ...(vital && { vital }), ...(needs && { needs }) }] as const;
    }),
  );
}

const isUnderWay = ({ phase }: KubeletPoolStatus): boolean => phase === 'Progressing' || phase === 'Waiting';

/** The next moment at which the windows of any pool open or close; Infinity where none does. */
function nextWindow({ cluster, pools }: LoadedRepo, now: Millis): Millis {
  const changes = pools.map((pool) => {
    const own = pool.status === 'valid' ? pool.spec.rollout.windows : undefined;
    return windowsState([cluster.windows, own], now).changesAt ?? Infinity;
  });
  return Math.min(Infinity, ...changes);
}

/** What is in force runs everywhere, proved long ago: budgets, waves and windows are of no account for it. */
function settle(fleet: SimulatedFleet, base: LoadedRepo, start: Millis, known: KnownPools): void {
  const open = base.pools.map((pool) =>
    pool.status === 'valid'
      ? {
          ...pool,
          spec: {
            ...pool.spec,
            rollout: {
              maxUnavailable: '100%',
              probation: FULL_PROBATION,
              soak: '0s',
              onFailure: pool.spec.rollout.onFailure,
            },
            trial: { ...pool.spec.trial, duration: '1s' },
          },
        }
      : pool,
  );
  const cluster = { ...base.cluster, maxUnavailable: null, suspend: false, windows: null };
  const inForce: CommitInForce = { oid: 'base', repo: { ...base, pools: open, cluster } };
  for (let now = start - 86_400_000, rounds = 0; rounds < MOST_ROUNDS; rounds += 1, now += 60_000) {
    fleet.pass(now, 0);
    round(fleet, inForce, now, known, () => []);
  }
  // The commit that is simulated is held to what the base says.
  for (const pool of base.pools) {
    const settled = known.get(pool.name);
    if (pool.status === 'valid' && settled !== undefined)
      known.set(pool.name, { ...settled, spec: pool.spec, inGit: pool });
  }
}

/** Nodes of the control plane go one at a time, in the past as well. */
const MOST_ROUNDS = 40;

interface Round {
  readonly pools: ReadonlyMap<string, KubeletPoolStatus>;
  /** Names of pools that the commit is not in force for. */
  readonly refused: readonly string[];
  /** There was more to do than one round may. */
  readonly moved: boolean;
}

/** Pools as the base said them: what is kept of one that the head has errors in. */
type KnownPools = Map<string, DesiredPool>;

function round(
  fleet: SimulatedFleet,
  inForce: CommitInForce,
  now: Millis,
  known: KnownPools,
  judge: JudgePool,
  counts?: PodCounts,
): Round {
  // Writes come true at once, but a config source has to be there before it can be assigned.
  for (let look = 0; look < 3; look += 1) {
    const seen = fleet.at(now);
    const said = desiredState(inForce, seen, judge, undefined, known);
    const desired = withLimitsInForce(said, seen, known, writtenRecords(seen.pools));
    for (const pool of desired.pools.values()) if (pool.origin === 'rendered') known.set(pool.name, pool);
    const planned = plan(desired, seen, SETTINGS, now, {
      ...allQuiet(seen, inForce),
      ...(counts && { pods: new Map([...counts].map(([name, counted]) => [name, { ...counted, at: now }])) }),
    });
    fleet.perform(planned.steps, now);
    const moved = planned.steps.length > 0;
    const names = inForce.repo.pools.map(({ name }) => name);
    const refused = names.filter((name) => desired.pools.get(name)?.origin !== 'rendered');
    if (!moved || look === 2) return { pools: planned.pools, refused, moved };
  }
  return { pools: new Map(), refused: [], moved: false };
}

const SETTINGS = { namespace: 'kubelet-gitops', keepUnusedMs: Number.POSITIVE_INFINITY };

/** Blockers are quiet, and pods leave at once. */
function allQuiet({ nodes, pools }: Fleet, { repo }: CommitInForce): Signals {
  const drains = [...nodes.values()].flatMap(({ name, drain }) =>
    drain === undefined ? [] : [[name, { since: drain.at, drained: true, because: '' }] as const],
  );
  const blockers = repo.pools.map(({ name }) => [name, { quiet: true, because: '' }] as const);
  return { blockers: new Map(blockers), drains: new Map(drains), records: writtenRecords(pools) };
}
