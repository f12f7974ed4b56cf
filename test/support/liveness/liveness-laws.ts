import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';
import type { plan } from '#reconciler/policy/plan.ts';
import { fc } from '../property.ts';
import { holds, type Replay } from '../replayable.ts';
import { HOUR, type LivingPool, LivingWorld, MINUTE, type Trouble } from './living-world.ts';

const TRIAL_MS = 10 * MINUTE;
const DEAD_MS = 15 * MINUTE;
/** Steps of the world, and turns that cross. */
const SLACK_MS = 5 * MINUTE;
const POOLS = ['blue', 'green', 'red'] as const;

/** One pool, as it is drawn. */
interface Drawn {
  readonly nodes: number;
  readonly maxUnavailable: number;
  readonly probation: string;
  readonly canarySoak: number | null;
  readonly drainTimeout: number | null;
  /** In hours; null for nodes that stay. Only where nothing is the matter with any of them. */
  readonly lifetime?: number | null | undefined;
  /** Which node, counted from the oldest, has which trouble. */
  readonly troubles: readonly (readonly [number, Trouble])[];
}

export interface Setting {
  readonly pools: readonly Drawn[];
  /** Over all pools; null for no bound. */
  readonly overall: number | null;
}

const drawn: fc.Arbitrary<Drawn> = fc.record({
  nodes: fc.integer({ min: 4, max: 16 }),
  maxUnavailable: fc.integer({ min: 1, max: 4 }),
  probation: fc.constantFrom('full', '1m', '1m'),
  canarySoak: fc.option(fc.constantFrom(0, 30), { freq: 2 }),
  drainTimeout: fc.option(fc.constantFrom(10, 30), { freq: 2 }),
  lifetime: fc.option(fc.constantFrom(24, 48, 168), { freq: 1 }),
  troubles: fc.array(
    fc.tuple(
      fc.nat(15),
      fc.constantFrom<Trouble[]>(
        ...(['drains', 'drains', 'dead', 'silent', 'bad', 'dies', 'leaves', 'going', 'virtual', 'old'] as const),
      ),
    ),
    { maxLength: 4 },
  ),
});

const settings: fc.Arbitrary<Setting> = fc.record({
  pools: fc.array(drawn, { minLength: 1, maxLength: 3 }),
  overall: fc.option(fc.integer({ min: 1, max: 6 }), { freq: 2 }),
});

/** Without what no bound is promised for: as many unavailable nodes as there are places, and two machines that die of one config. */
function bounded({ pools, overall }: Setting): Setting {
  let left = (overall ?? Infinity) - 1;
  return {
    overall,
    pools: pools.map((pool) => {
      let own = Math.min(pool.maxUnavailable - 1, left);
      let hasDied = false;
      let old = 0;
      const seen = new Set<number>();
      const troubles = pool.troubles.filter(([number, trouble]) => {
        if (number >= pool.nodes || seen.has(number)) return false;
        if (trouble === 'drains') return pool.drainTimeout !== null && seen.add(number);
        if (trouble === 'old' && (old + 1) * 2 >= pool.nodes) return false;
        if (trouble === 'old') old += 1;
        if (!HOLDS.has(trouble)) return seen.add(number);
        const isDeath = trouble === 'dies' || trouble === 'leaves';
        if (own <= 0 || (isDeath && hasDied)) return false;
        hasDied ||= isDeath;
        own -= 1;
        left -= 1;
        return seen.add(number);
      });
      return { ...pool, troubles };
    }),
  };
}

const livingPool = (pool: Drawn, name: string, hasTroubles: boolean): LivingPool => ({
  name,
  nodes: pool.nodes,
  needsDrain: pool.drainTimeout !== null,
  troubles: hasTroubles ? Object.fromEntries(pool.troubles) : {},
  ...(hasTroubles && pool.lifetime && pool.troubles.length === 0 ? { lifetimeMs: pool.lifetime * HOUR } : {}),
  spec: {
    rollout: rolloutOf(pool),
    nodeSelector: { matchLabels: { pool: name } },
    ...(pool.drainTimeout === null
      ? {}
      : { disruption: { allow: ['restart', 'drain'], drainTimeout: `${pool.drainTimeout}m` } }),
  },
});

const rolloutOf = ({ maxUnavailable, probation, canarySoak }: Drawn): RolloutSpec => ({
  maxUnavailable,
  probation,
  soak: '0s',
  onFailure: { threshold: 3, action: 'halt' },
  ...(canarySoak === null ? {} : { canary: { nodes: 1, soak: `${canarySoak}m` } }),
});

/** They take a place for good. */
const HOLDS: ReadonlySet<Trouble> = new Set(['dead', 'silent', 'bad', 'dies', 'leaves']);

const isHolding = ([, trouble]: readonly [number, Trouble]): boolean => HOLDS.has(trouble);

/** How much longer it may take than the same world without troubles. */
function limitOf({ pools, overall }: Setting, calmMs: number): number {
  const holding = pools.map(({ troubles }) => troubles.filter(isHolding).length);
  const all = holding.reduce((sum, each) => sum + each, 0);
  const shares = pools.map(({ maxUnavailable }, index) => maxUnavailable / (maxUnavailable - (holding[index] ?? 0)));
  const factor = Math.max(1.5, ...shares, overall === null ? 1 : overall / (overall - all));
  const each = pools.flatMap(({ troubles, drainTimeout, canarySoak }) =>
    troubles.map(([, trouble]) => {
      if (trouble === 'drains') return (drainTimeout ?? 0) * MINUTE;
      if (trouble !== 'bad' && trouble !== 'dies' && trouble !== 'leaves') return 0;
      return DEAD_MS + TRIAL_MS + (canarySoak ?? 0) * MINUTE;
    }),
  );
  return factor * calmMs + each.reduce((sum, ms) => sum + ms, 0) + SLACK_MS;
}

/** Lets a world settle, and holds it to its bound. @throws AssertionError that names who waits */
export function checkSettles(drawnSetting: Setting, planner?: typeof plan): LivingWorld {
  const setting = bounded(drawnSetting);
  const worldOf = (hasTroubles: boolean): LivingWorld => {
    const pools = setting.pools.map((pool, index) => livingPool(pool, POOLS[index] ?? 'blue', hasTroubles));
    const world = new LivingWorld(pools, setting.overall);
    if (planner !== undefined && hasTroubles) world.sim.planner = planner;
    return world;
  };
  const calmMs = worldOf(false).settlesWithin(24 * HOUR);
  assert.ok(calmMs !== null, 'a world without troubles settles');
  const limitMs = limitOf(setting, calmMs);
  const world = worldOf(true);
  const took = world.settlesWithin(limitMs);
  const why = [...world.sim.fleet.pools.values()].map(({ status }) => status?.message).join('; ');
  assert.ok(
    took !== null,
    `not within ${limitMs / MINUTE} min (${calmMs / MINUTE} without troubles): ${world.waiting().join()}: ${why}`,
  );
  return world;
}

/** @throws AssertionError or fast-check's report */
export function holdLiveness(t: TestContext, atLeast: number, replay: Replay): void {
  let [steps, worlds] = [0, 0];
  const seen = new Map<string, number>();
  holds(
    'every pool settles within its bound, whatever some of its nodes do',
    fc.property(settings, (setting) => {
      steps += checkSettles(setting).steps;
      worlds += 1;
      for (const { troubles } of bounded(setting).pools)
        for (const [, trouble] of troubles) seen.set(trouble, (seen.get(trouble) ?? 0) + 1);
    }),
    Math.ceil(atLeast / STEPS_OF_A_WORLD),
    replay,
  );
  t.diagnostic(`${steps} steps in ${worlds} worlds, seed ${replay.seed}: ${JSON.stringify(Object.fromEntries(seen))}`);
  if (replay.path === undefined) assert.ok(steps >= atLeast, `${steps} steps`);
}

const STEPS_OF_A_WORLD = 150;
