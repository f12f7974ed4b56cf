import type { KubeletPoolSpec } from '#shared/contract/api/kubelet-pool.ts';
import { RESTART_MS } from '#reconciler/policy/forecast/duration-range.ts';
import { forecast } from '#reconciler/policy/forecast/forecast.ts';
import type { LoadedRepo, ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { type BeforeCommit, selectOtherwise, stricterThanBefore } from '#reconciler/policy/pool-limits/held-limits.ts';
import { differingLimits } from '#reconciler/policy/pool-limits/stricter.ts';
import type { InventoryNode } from '../inventory/inventory-node.ts';
import { INJECTED_FAULTS } from '../injected-faults.ts';
import type { LoosenedLimit } from './merge-plan.ts';
import { plannedRollout } from './plan-rollout.ts';
import { type PoolMembership, validPools } from './pool-membership.ts';

/** What is in force before a change, as the reconciler would know it: all nodes run what the base gives them. */
export function beforeChange(base: LoadedRepo, head: LoadedRepo, { pool: pools }: PoolMembership): BeforeCommit {
  const was = validPools(base);
  const known = new Map([...was].map(([name, pool]) => [name, { spec: pool.spec, config: pool, inGit: pool }]));
  const assigned = [...pools].map(([name, pool]) => [name, { metadata: { name }, spec: { pool } }] as const);
  const fleet = { pools: new Map(), kubeletNodes: new Map(assigned) };
  const proven: BeforeCommit['proven'] = ({ name, sha256, spec: { apply } }) =>
    was.get(name)?.sha256 === sha256 && was.get(name)?.spec.apply === apply ? 'payload' : 'nothing';
  return {
    commit: '',
    known,
    fleet,
    proven,
    movesNodes: selectOtherwise([...validPools(head).values()], { known, fleet }),
  };
}

/** Every limit of a pool that is looser than before, and last all together; none for a pool that loosens nothing. */
export function loosenedLimits(
  pool: ValidPool,
  members: readonly InventoryNode[],
  before: BeforeCommit,
): readonly LoosenedLimit[] {
  const former = stricterThanBefore(pool, () => members, before);
  const limits = differingLimits(pool.spec, former);
  if (limits.length === 0) return [];
  const had = reachOf(pool, former, members);
  const each = limits.map((limit) => ({
    limit,
    before: had,
    after: reachOf(pool, withLimit(former, limit, pool.spec), members),
  }));
  return [...each, { limit: 'all', before: had, after: reachOf(pool, pool.spec, members) }];
}

/** One spec with a single limit of another one. */
function withLimit(spec: KubeletPoolSpec, limit: string, other: KubeletPoolSpec): KubeletPoolSpec {
  const [part = '', key = ''] = limit.split('.');
  if (part !== 'rollout' && part !== 'trial') return { ...spec, drift: other.drift };
  const kept = Object.entries(spec[part]).filter(([name]) => name !== key);
  const looser = Object.entries(other[part]).filter(([name]) => name === key);
  return { ...spec, [part]: Object.fromEntries([...kept, ...looser]) };
}

/** How many nodes get a config that kills every kubelet, at worst. */
function reachOf(pool: ValidPool, spec: KubeletPoolSpec, members: readonly InventoryNode[]): number {
  const { rollout } = plannedRollout({ ...pool, spec }, members, members, null);
  const reached = INJECTED_FAULTS.filter(({ byChance }) => byChance !== true).map(({ failsAfter }) =>
    forecast({ ...rollout(RESTART_MS), failsAfter: () => failsAfter(0) }).turns.flat(),
  );
  return Math.max(0, ...reached.map(({ length }) => length));
}
