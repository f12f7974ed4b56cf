import { parseDuration } from '#shared/contract/duration.ts';
import { type Finding, formatFinding } from '#shared/contract/finding.ts';
import { validateForVersions } from '#shared/contract/kubelet-config/validate-versions.ts';
import { minorName, minorNumber } from '#shared/contract/kubelet-config/minor.ts';
import type { LoadedPool, LoadedRepo, ValidPool } from '#reconciler/repo/loaded.ts';
import { amountOf, budgetOf } from '#reconciler/rollout/amount.ts';
import { massChangeOf, sayMassChange } from '#reconciler/takeup/mass-change.ts';
import { choosePool } from '#reconciler/assign/choose-pool.ts';
import type { InventoryNode } from '../inventory/node.ts';
import { allocatableEffect } from './capacity.ts';
import { dearest, diffPayloads } from '#shared/contract/kubelet-config/field-diff.ts';
import type { Move, NodePlan, Plan, PoolPlan, RolloutPlan } from './plan.ts';
import { specChanges } from './spec-changes.ts';

export interface PlanQuestion {
  readonly base: { readonly name: string; readonly repo: LoadedRepo };
  readonly head: { readonly name: string; readonly repo: LoadedRepo };
  readonly cluster: string;
  /** Undefined where there is no inventory. */
  readonly nodes: readonly InventoryNode[] | undefined;
}

/** A restart of a kubelet and what the agent does around it; measured, see docs/benchmarks. */
const RESTART_MS = 10_000;

/** Compares two revisions. Pure: the same files and nodes give the same plan. */
export function makePlan({ base, head, cluster, nodes: inventory }: PlanQuestion): Plan {
  const nodes = inventory ?? [];
  const before = placesOf(nodes, base.repo, new Map());
  // A pool that is invalid now keeps what it had.
  const after = placesOf(nodes, head.repo, validPools(base.repo));
  const moves = nodes.flatMap(({ name }): readonly Move[] => {
    const [from, to] = [before.pool.get(name) ?? null, after.pool.get(name) ?? null];
    return from === to || after.untouched.has(name) ? [] : [{ node: name, from, to }];
  });
  const names = [...new Set([...base.repo.pools, ...head.repo.pools].map(({ name }) => name))].sort();
  const pools = names.flatMap((name) => planPool(name, base.repo, head.repo, nodes, before, after));
  const known = new Set(findingsIn(base.repo).map(formatFinding));
  return {
    base: base.name,
    head: head.name,
    cluster,
    knowsNodes: inventory !== undefined,
    pools,
    moves,
    conflicts: [...after.conflicts].map(([node, pools_]) => ({ node, pools: pools_ })),
    refusal: refusalOf(head.repo, moves, before) ?? massRefusal(base.repo, head.repo, nodes, before, after),
    findings: findingsIn(head.repo).filter((finding) => !known.has(formatFinding(finding))),
  };
}

interface Places {
  readonly pool: ReadonlyMap<string, string>;
  readonly conflicts: ReadonlyMap<string, readonly string[]>;
  /** Conflicting and opted out: they stay as they are. */
  readonly untouched: ReadonlySet<string>;
}

const validPools = ({ pools }: LoadedRepo): ReadonlyMap<string, ValidPool> =>
  new Map(pools.flatMap((pool) => (pool.status === 'valid' ? [[pool.name, pool] as const] : [])));

function placesOf(nodes: readonly InventoryNode[], repo: LoadedRepo, kept: ReadonlyMap<string, ValidPool>): Places {
  const valid = validPools(repo);
  const candidates = repo.pools.flatMap(({ name }) => {
    const pool = valid.get(name) ?? kept.get(name);
    return pool === undefined ? [] : [{ name, priority: pool.spec.priority, nodeSelector: pool.spec.nodeSelector }];
  });
  const choices = nodes.map(({ name, labels }) => [name, choosePool(labels, candidates)] as const);
  return {
    pool: new Map(
      choices.flatMap(([name, choice]) => (choice.choice === 'pool' ? [[name, choice.pool] as const] : [])),
    ),
    conflicts: new Map(
      choices.flatMap(([name, choice]) => (choice.choice === 'conflict' ? [[name, choice.pools] as const] : [])),
    ),
    untouched: new Set(
      choices.flatMap(([name, { choice }]) => (choice === 'conflict' || choice === 'opted-out' ? [name] : [])),
    ),
  };
}

function planPool(
  name: string,
  base: LoadedRepo,
  head: LoadedRepo,
  nodes: readonly InventoryNode[],
  before: Places,
  after: Places,
): readonly PoolPlan[] {
  const [old, now] = [poolIn(base, name), poolIn(head, name)];
  const [valid, then] = [validOf(now), validOf(old)];
  const members = nodes.filter((node) => after.pool.get(node.name) === name);
  const isSame = (node: InventoryNode): boolean => {
    const had = validOf(poolIn(base, before.pool.get(node.name) ?? ''));
    return had?.sha256 === valid?.sha256 && had?.spec.apply === valid?.spec.apply;
  };
  const touched = valid === undefined ? [] : members.filter((node) => !isSame(node));
  const spec = then !== undefined && valid !== undefined ? specChanges(then.spec, valid.spec) : [];
  const isUnchanged = then?.sha256 === valid?.sha256 && spec.length === 0 && touched.length === 0;
  if (now !== undefined && old !== undefined && isUnchanged && now.status === old.status) return [];
  const fields =
    now === undefined || valid !== undefined ? diffPayloads(then?.value ?? null, valid?.value ?? null) : [];
  return [
    {
      name,
      change:
        now === undefined ? 'removed' : now.status === 'invalid' ? 'invalid' : old === undefined ? 'added' : 'changed',
      configBefore: then?.configName,
      configAfter: valid?.configName,
      fields,
      cost: dearest(fields),
      spec,
      nodes: touched.map((node) => planNode(node, validOf(poolIn(base, before.pool.get(node.name) ?? '')), valid)),
      rollout: valid === undefined || touched.length === 0 ? undefined : rolloutOf(valid, members.length, touched),
    },
  ];
}

const poolIn = ({ pools }: LoadedRepo, name: string): LoadedPool | undefined =>
  pools.find((pool) => pool.name === name);
const validOf = (pool: LoadedPool | undefined): ValidPool | undefined => (pool?.status === 'valid' ? pool : undefined);

function planNode(node: InventoryNode, before: ValidPool | undefined, after: ValidPool | undefined): NodePlan {
  const { name, kubeletVersion, pods } = node;
  const minor = minorNumber(kubeletVersion);
  const value = after?.value ?? {};
  const judged = minor === undefined || after === undefined ? [] : judge(value, minorName(minor), after);
  const allocatable = allocatableEffect(node, before?.value ?? null, value);
  const limit = allocatable.find(({ resource }) => resource === 'pods')?.after;
  const tooMany = limit !== undefined && pods !== undefined && pods > limit;
  const starved = allocatable
    .filter(({ after: left }) => left <= 0)
    .map(({ resource }) => `nothing is left of its ${resource}`);
  return {
    name,
    kubeletVersion,
    allocatable,
    warnings: [
      ...judged,
      ...(tooMany ? [`${pods} pods run there, and maxPods allows ${limit}: it would be refused`] : []),
      ...starved,
    ],
  };
}

function judge(value: Readonly<Record<string, unknown>>, minor: string, { spec }: ValidPool): readonly string[] {
  return validateForVersions(value, [minor], { apply: spec.apply })
    .filter(({ severity }) => severity === 'error')
    .map(({ field, message }) => `${field === undefined ? '' : `${field}: `}${message}: it would be refused`);
}

/** The order of the reconciler: by zone, then by name where the age is not known. */
function rolloutOf(pool: ValidPool, members: number, touched: readonly InventoryNode[]): RolloutPlan {
  const { rollout, trial } = pool.spec;
  const budget = budgetOf(rollout.maxUnavailable, members);
  const zone = ({ labels }: InventoryNode): string => labels['topology.kubernetes.io/zone'] ?? '';
  const ordered = [...touched].sort(
    (a, b) => zone(a).localeCompare(zone(b)) || a.name.localeCompare(b.name, 'en', { numeric: true }),
  );
  const waves = Array.from({ length: budget === 0 ? 0 : Math.ceil(ordered.length / budget) }, (_, index) =>
    ordered.slice(index * budget, (index + 1) * budget).map(({ name }) => name),
  );
  const eachMs = (parseDuration(trial.duration) ?? 0) + (parseDuration(rollout.soak) ?? 0) + RESTART_MS;
  return { budget, waves, expectedMs: waves.length * eachMs };
}

/** The limits that the reconciler would hold the commit to. */
function refusalOf({ cluster, pools }: LoadedRepo, moves: readonly Move[], before: Places): string | undefined {
  if (pools.length === 0) return 'there is no pool in it: an empty repository never unassigns a fleet';
  const assigned = before.pool.size;
  const lost = moves.filter(({ from, to }) => from !== null && to === null).length;
  const most = amountOf(cluster.maxUnassign, assigned, 'down');
  return lost > most
    ? `it would send ${lost} of ${assigned} nodes back to their local config, and maxUnassign allows ${most}`
    : undefined;
}

/** The guard against changing too much at once, as the reconciler would see it if every node ran what the base says. */
function massRefusal(
  base: LoadedRepo,
  head: LoadedRepo,
  nodes: readonly InventoryNode[],
  before: Places,
  after: Places,
): string | undefined {
  const [old, now] = [validPools(base), validPools(head)];
  const inPools = nodes.filter(({ name }) => after.pool.has(name));
  const changed = inPools.flatMap(({ name }) => {
    const [from, pool] = [before.pool.get(name) ?? '', after.pool.get(name) ?? ''];
    const [had, gets] = [old.get(from), now.get(pool) ?? old.get(pool)];
    const isOther = had !== undefined && (had.sha256 !== gets?.sha256 || had.spec.apply !== gets.spec.apply);
    return isOther ? [pool] : [];
  });
  const mass = massChangeOf(changed, inPools.length, head.cluster.maxChange);
  return mass === undefined ? undefined : sayMassChange(mass);
}

function findingsIn(repo: LoadedRepo): readonly Finding[] {
  return [...repo.findings, ...repo.pools.flatMap(({ findings }) => findings)];
}

/** Whether there is anything to report. */
export function isEmptyPlan({ pools, moves, conflicts, findings, refusal }: Plan): boolean {
  return pools.length + moves.length + conflicts.length + findings.length === 0 && refusal === undefined;
}
