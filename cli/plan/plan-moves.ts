import type { RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';
import { STEADY_MS } from '#shared/contract/api/probation.ts';
import type { Finding } from '#shared/contract/finding.ts';
import { mostDisruptiveCost, diffPayloads } from '#shared/contract/kubelet-config/field-diff.ts';
import { limitOf } from '#reconciler/policy/rollout/amount.ts';
import { isFull, occupy } from '#reconciler/policy/rollout/places.ts';
import { isControlPlane } from '#reconciler/policy/rollout/quorum.ts';
import { inFolder } from '#reconciler/policy/in-folder.ts';
import type { LoadedRepo, ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import type { InventoryNode } from '../inventory/inventory-node.ts';
import { type PoolMembership, validPools } from './pool-membership.ts';
import { unsetMeaning, withoutDrain } from './unset-meaning.ts';
import type { MovePlan, PoolPlan } from './merge-plan.ts';
import { poolFor, poolValueForDisplay } from '../class-of-node.ts';
import { isSameConfig } from './same-config.ts';
import { planNode } from './plan-node.ts';
import { isUnavailable, type OverallBound, type WhoCanBegin, whoCanBegin } from './who-can-begin.ts';
import { type Spread, spreadOf } from '#reconciler/policy/forecast/duration-range.ts';

export interface Move {
  readonly node: string;
  readonly from: string | null;
  readonly to: string | null;
  readonly contested?: readonly string[];
}

/** Nodes that change their pool, whatever the reason: a selector, a priority, a pool that comes or goes. */
export const movesBetween = (
  nodes: readonly InventoryNode[],
  before: PoolMembership,
  after: PoolMembership,
): readonly Move[] =>
  nodes.flatMap(({ name }): readonly Move[] => {
    const [from, to] = [before.pool.get(name) ?? null, after.pool.get(name) ?? null];
    if (from === to || after.untouched.has(name)) return [];
    const contested = before.conflicts.get(name);
    return [{ node: name, from, to, ...(contested === undefined ? {} : { contested }) }];
  });

/**
 * What moving does to the nodes: to them it is a change of the config like any other, though no pool changes.
 *
 * @param pools plans of the pools that change; a new pool that is compared with where its nodes come from says their fields itself
 */
export function planMoves(
  moves: readonly Move[],
  nodes: readonly InventoryNode[],
  base: LoadedRepo,
  head: LoadedRepo,
  pools: readonly PoolPlan[],
  before: PoolMembership,
  overall: OverallBound | null,
): readonly MovePlan[] {
  const [old, now] = [validPools(base), validPools(head)];
  const byName = new Map(nodes.map((node) => [node.name, node] as const));
  const moving = new Set(moves.map(({ node }) => node));
  const staying = (pool: string | null): readonly InventoryNode[] =>
    nodes.filter(({ name }) => before.pool.get(name) === pool && !moving.has(name));
  const groups = Map.groupBy(moves, ({ from, to, contested }) => JSON.stringify([from, to, contested]));
  return [...groups.values()].flatMap((group): readonly MovePlan[] => {
    const [{ from, to, contested } = { from: null, to: null, contested: undefined }] = group;
    const had = from === null ? undefined : old.get(from);
    const gets = to === null ? undefined : (now.get(to) ?? old.get(to));
    const target = pools.find(({ name }) => name === to);
    const isSaid = target?.change === 'added' && (target.from === from || from === null);
    const isUnknown = contested !== undefined || isSaid;
    const changes =
      isUnknown || isSameConfig(had, gets) ? [] : diffPayloads(poolValueForDisplay(had), poolValueForDisplay(gets));
    const fields = from === null || to === null ? withoutDrain(changes) : changes;
    const members = group.flatMap(({ node }) => byName.get(node) ?? []);
    return [
      {
        from,
        to,
        ...(contested === undefined ? {} : { contested }),
        nodes: group.map(({ node }) => node),
        fields,
        unset: unsetMeaning(had, gets),
        // The way back to what nobody here knows counts as a restart (`rollout/node-disruption.ts`).
        cost: to === null && fields.length > 0 ? 'restart' : mostDisruptiveCost(fields),
        leaving: to === null ? members.map((node) => planNode(node, poolFor(had, node), undefined)) : [],
        ...wayBack(
          to === null ? members : [],
          from === null ? undefined : (now.get(from) ?? had),
          staying(from),
          overall,
        ),
      },
    ];
  });
}

/**
 * Nodes go back to their local config within the budget of the pool that they leave, of which they are counted among the members until
 * then; those of the control plane one at a time.
 *
 * @param staying the nodes that the pool keeps
 */
function wayBack(
  leaving: readonly InventoryNode[],
  pool: ValidPool | undefined,
  staying: readonly InventoryNode[],
  overall: OverallBound | null,
): Pick<MovePlan, 'budget' | 'going' | 'absent' | keyof Spread> {
  if (pool === undefined || leaving.length === 0) return { budget: 0, going: [], ...NO_TIME };
  const { rollout } = pool.spec;
  const members = [...staying, ...leaving];
  const { going, turns, atOnce, explain } = turnsOf(leaving, members, rollout, overall);
  const servers = going.filter(({ labels }) => isControlPlane(labels)).length;
  const steps = Math.max(turns, servers);
  const times = spreadOf((restartMs) => steps * (restartMs + STEADY_MS));
  const begins = new Set(going);
  const absent = explain(leaving.filter((node) => !begins.has(node)));
  return {
    budget: Math.min(going.length - servers + Math.min(1, servers), atOnce),
    going: going.map(({ name }) => name),
    ...(absent.length > 0 && { absent }),
    ...(times ?? NO_TIME),
  };
}

/** Who goes, in order. */
interface Turns extends Pick<WhoCanBegin, 'explain'> {
  readonly going: readonly InventoryNode[];
  /** How often some go together. */
  readonly turns: number;
  /** How many go first. */
  readonly atOnce: number;
}

/** Those that are gone are counted no more: where they were unavailable, others go in the places that they took. */
function turnsOf(
  leaving: readonly InventoryNode[],
  members: readonly InventoryNode[],
  rollout: RolloutSpec,
  overall: OverallBound | null,
): Turns {
  const { able, explain } = whoCanBegin(rollout, members, leaving, overall);
  const kinds = [true, false].map((isReady) => able.filter(({ ready }) => ready === isReady).values());
  const next = kinds.map((kind) => kind.next().value);
  const going: InventoryNode[] = [];
  let away = members.filter(isUnavailable).length;
  let [turns, atOnce] = [0, 0];
  for (let gone = -1; gone < going.length; turns += 1) {
    gone = going.length;
    const most = limitOf(rollout.maxUnavailable, members.length - gone);
    const places = {
      free: Math.min(overall?.free ?? Infinity, most - away),
      forNotReady: Math.min(overall?.forNotReady ?? Infinity, most),
    };
    for (const [index, kind] of kinds.entries()) {
      for (let node = next[index]; node !== undefined && !isFull(places, node); node = next[index]) {
        occupy(places, node);
        going.push(node);
        next[index] = kind.next().value;
      }
    }
    away -= going.slice(gone).filter(isUnavailable).length;
    if (gone === 0) atOnce = going.length;
  }
  const freed = going.filter(isUnavailable).length;
  if (freed === 0) return { going, turns: turns - 1, atOnce, explain };
  const gone = new Set(going);
  const stays = (node: InventoryNode): boolean => !gone.has(node);
  const bound = overall && {
    ...overall,
    free: overall.free + freed,
    unavailable: overall.unavailable.filter(stays),
  };
  // The control plane counts its own wherever they are (`rollout/quorum.ts`).
  const isQuorumShort = going.some(({ ready, labels }) => !ready && isControlPlane(labels));
  const left = leaving.filter((node) => stays(node) && !(isQuorumShort && isControlPlane(node.labels)));
  const later = turnsOf(left, members.filter(stays), rollout, bound);
  return { explain, going: [...going, ...later.going], turns: turns - 1 + later.turns, atOnce };
}

const NO_TIME: Spread = { expectedMs: 0, quickMs: 0, slowMs: 0 };

/** Pools that are still there and lose all their nodes: a label that is misspelled in a selector looks like that. */
export function emptied(
  head: LoadedRepo,
  before: PoolMembership,
  after: PoolMembership,
  folder: string,
): readonly Finding[] {
  const stay = [...before.pool].flatMap(([node, pool]) => (after.untouched.has(node) ? [pool] : []));
  const [had, has] = [Map.groupBy(before.pool.values(), (pool) => pool), new Set([...after.pool.values(), ...stay])];
  return head.pools.flatMap(({ name }): readonly Finding[] => {
    const count = had.get(name)?.length ?? 0;
    if (count === 0 || has.has(name)) return [];
    const nodes = count === 1 ? 'its one node' : `all of its ${count} nodes`;
    return [
      {
        code: 'pool-becomes-empty',
        severity: 'warning',
        message: `pool ${name} loses ${nodes}`,
        suggestion: 'check nodeSelector and priority; delete the folder of the pool if this is what you want',
        file: inFolder(folder, `pools/${name}/pool.yaml`),
      },
    ];
  });
}
