import { type Finding, formatFinding } from '#shared/contract/finding.ts';
import type { LoadedPool, LoadedRepo, ValidPool } from '#reconciler/repo/loaded.ts';
import { limitOf } from '#reconciler/rollout/amount.ts';
import { massChangeOf, sayMassChange } from '#reconciler/takeup/mass-change.ts';
import { choosePool } from '#reconciler/assign/choose-pool.ts';
import type { InventoryNode } from '../inventory/node.ts';
import { dearest, diffPayloads } from '#shared/contract/kubelet-config/field-diff.ts';
import type { Move, Plan, PoolPlan } from './plan.ts';
import { planNode } from './plan-node.ts';
import { planRollout } from './plan-rollout.ts';
import { specChanges } from './spec-changes.ts';

export interface PlanQuestion {
  readonly base: { readonly name: string; readonly repo: LoadedRepo };
  readonly head: { readonly name: string; readonly repo: LoadedRepo };
  readonly cluster: string;
  /** Undefined where there is no inventory. */
  readonly nodes: readonly InventoryNode[] | undefined;
}

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
  const plans = touched.map((node) => planNode(node, validOf(poolIn(base, before.pool.get(node.name) ?? '')), valid));
  const isAdopted = old === undefined && plans.length > 0 && plans.every(({ runsAlready }) => runsAlready);
  const isCompared = (now === undefined || valid !== undefined) && !isAdopted;
  const fields = isCompared ? diffPayloads(then?.value ?? null, valid?.value ?? null) : [];
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
      nodes: plans,
      rollout:
        valid === undefined || touched.length === 0
          ? undefined
          : planRollout(valid, members, touched, head.cluster.maxUnavailable),
    },
  ];
}

const poolIn = ({ pools }: LoadedRepo, name: string): LoadedPool | undefined =>
  pools.find((pool) => pool.name === name);
const validOf = (pool: LoadedPool | undefined): ValidPool | undefined => (pool?.status === 'valid' ? pool : undefined);

/** The limits that the reconciler would hold the commit to. */
function refusalOf({ cluster, pools }: LoadedRepo, moves: readonly Move[], before: Places): string | undefined {
  if (pools.length === 0) return 'there is no pool in it: an empty repository never unassigns a fleet';
  const assigned = before.pool.size;
  const lost = moves.filter(({ from, to }) => from !== null && to === null).length;
  const most = limitOf(cluster.maxUnassign, assigned);
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
  const adopted = new Set(pools.filter(isAdopted).map(({ name }) => name));
  const rest = moves.filter(({ from, to }) => from !== null || !adopted.has(to ?? ''));
  const changed = pools.length - adopted.size;
  return changed + rest.length + conflicts.length + findings.length === 0 && refusal === undefined;
}

/** A new pool that says of its nodes what they run already. */
export const isAdopted = ({ change, nodes }: PoolPlan): boolean =>
  change === 'added' &&
  nodes.length > 0 &&
  nodes.every(({ runsAlready, warnings }) => runsAlready && warnings.length === 0);
