import { inFolder } from '#reconciler/policy/in-folder.ts';
import { distinctFindings, type Finding, formatFinding } from '#shared/contract/finding.ts';
import type { LoadedPool, LoadedRepo, ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { limitOf } from '#reconciler/policy/rollout/amount.ts';
import { isOutvoted } from '#reconciler/policy/judge-nodes.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import type { InventoryNode } from '../inventory/inventory-node.ts';
import { mostDisruptiveCost, diffPayloads, type FieldChange } from '#shared/contract/kubelet-config/field-diff.ts';
import { type PoolMembership, poolMembershipOf, validPools } from './pool-membership.ts';
import type { MergePlan, PoolPlan, RolloutPlan } from './merge-plan.ts';
import { emptied, movesBetween, planMoves } from './plan-moves.ts';
import { clusterHold, hasFileErrors, massRefusal, commitRefusal } from './predicted-refusals.ts';
import { type PlannedPool, summaryOf } from './plan-summary.ts';
import { widenedAccess } from './widened-access.ts';
import { poolOriginOf } from './pool-origin.ts';
import { poolFor, poolValueForDisplay } from '../class-of-node.ts';
import { computedForNone, planClasses } from './plan-classes.ts';
import { unsetMeaning, withoutDrain } from './unset-meaning.ts';
import { heldByVersion } from './held-by-version.ts';
import { isSameConfig } from './same-config.ts';
import { planNode, refusalIn } from './plan-node.ts';
import { plannedRollout, planRollout } from './plan-rollout.ts';
import { type OverallBound, isUnavailable } from './who-can-begin.ts';
import { beforeChange, loosenedLimits } from './loosened-limits.ts';
import { weakerSafety } from './weaker-safety.ts';
import { type BeforeCommit, specInForce } from '#reconciler/policy/pool-limits/held-limits.ts';
import { notEstimatedIn } from './not-estimated.ts';
import { comingVersions } from './coming-versions.ts';
import { withRunningValues } from './running-values.ts';
import { barOf, closedForGood, disruptionFor, lackOfCanaries, OUTVOTED, SUSPENDED_IN_GIT } from './wait-reasons.ts';
import { clusterChanges, isNewCluster, NEW_CLUSTER, specChanges } from './spec-changes.ts';

interface PlanQuestion {
  readonly base: {
    readonly name: string;
    readonly commit: string | undefined;
    readonly repo: LoadedRepo;
    /** Pools that have errors there, with the commit of what they keep. */
    readonly kept: ReadonlyMap<string, string>;
  };
  readonly head: { readonly name: string; readonly repo: LoadedRepo };
  readonly cluster: string;
  /** The folder of the repository that they are of. Default: its root. */
  readonly folder?: string;
  /** Undefined where there is no inventory. */
  readonly nodes: readonly InventoryNode[] | undefined;
  /** The commit that the cluster says it has in force; undefined if not asked. */
  readonly inForce: string | undefined;
  /** When it would be merged, for windows that never open. Absent: no window is looked at. */
  readonly now?: Millis;
}

/** Compares two revisions. Pure: the same files and nodes give the same plan. */
export function makePlan(question: PlanQuestion): MergePlan {
  const { base, head, cluster, folder = '', nodes: inventory, inForce, now } = question;
  const nodes = inventory ?? [];
  const file = inFolder(folder, `clusters/${cluster}.yaml`);
  const before = poolMembershipOf(nodes, base.repo, new Map());
  // A pool that is invalid now keeps what it had.
  const after = poolMembershipOf(nodes, head.repo, validPools(base.repo));
  const moves = movesBetween(nodes, before, after);
  const names = [...new Set([...base.repo.pools, ...head.repo.pools].map(({ name }) => name))].sort();
  const overall = overallBound(base.repo, head.repo, nodes, homesOf(before, after));
  const limits = beforeChange(base.repo, head.repo, before);
  const planned = names.flatMap((name) =>
    planPool(name, base.kept.get(name), base.repo, head.repo, nodes, before, after, overall, limits, now),
  );
  const pools = planned.map(({ plan }) => plan);
  const known = new Set(findingsIn(base.repo).map(formatFinding));
  const coming = comingVersions(base.repo, head.repo);
  const movePlans = planMoves(moves, nodes, base.repo, head.repo, pools, before, overall);
  return {
    base: base.name,
    head: head.name,
    ...(inForce === undefined || inForce === base.commit ? {} : { inForce }),
    cluster,
    knowsNodes: inventory !== undefined,
    pools,
    moves: movePlans,
    conflicts: [...after.conflicts].map(([node, pools_]) => ({ node, pools: pools_ })),
    ...(after.unsupported.length > 0 && { unsupported: after.unsupported }),
    clusterSpec:
      base.repo.pools.length === 0 || hasFileErrors(head.repo, file)
        ? []
        : isNewCluster(base.repo)
          ? [NEW_CLUSTER]
          : clusterChanges(base.repo.cluster, head.repo.cluster),
    ...(coming.length > 0 && { comingVersions: coming }),
    held: clusterHold(head.repo.cluster),
    refusal:
      commitRefusal(base.repo, head.repo, file, moves, before) ??
      massRefusal(base.repo, head.repo, file, nodes, before, after),
    findings: distinctFindings([
      ...widenedAccess(base.repo, head.repo, file, pools, movePlans),
      ...emptied(head.repo, before, after, folder),
      ...findingsIn(head.repo).filter((finding) => !known.has(formatFinding(finding))),
    ]),
    summary: summaryOf(planned, movePlans, overall),
  };
}

function planPool(
  name: string,
  keptFrom: string | undefined,
  base: LoadedRepo,
  head: LoadedRepo,
  nodes: readonly InventoryNode[],
  before: PoolMembership,
  after: PoolMembership,
  overall: OverallBound | null,
  limits: BeforeCommit,
  at: Millis | undefined,
): readonly PlannedPool[] {
  const [old, now] = [poolIn(base, name), poolIn(head, name)];
  const [valid, then] = [validOf(now), validOf(old)];
  const stillHasErrors = now?.status === 'invalid' && keptFrom !== undefined;
  if (stillHasErrors) return [];
  const members = nodes.filter((node) => after.pool.get(node.name) === name);
  const poolBefore = (node: InventoryNode): ValidPool | undefined =>
    validOf(poolIn(base, before.pool.get(node.name) ?? ''));
  const had = (node: InventoryNode): ValidPool | undefined => poolFor(poolBefore(node), node);
  const isSame = (node: InventoryNode): boolean => {
    const [has, gets] = [had(node), poolFor(valid, node)];
    // One for whose machine there is no config keeps what it has.
    return gets === undefined || isSameConfig(has, gets);
  };
  const touched = valid === undefined ? [] : members.filter((node) => !isSame(node));
  const from =
    old === undefined && valid !== undefined ? poolOriginOf(valid, base, head, members, before.pool) : undefined;
  const compared = then ?? from;
  const spec = compared !== undefined && valid !== undefined ? specChanges(compared.spec, valid.spec) : [];
  const isUnchanged = then?.sha256 === valid?.sha256 && spec.length === 0 && touched.length === 0;
  if (now !== undefined && old !== undefined && isUnchanged && now.status === old.status) return [];
  const plans = touched.map((node) => planNode(node, had(node), poolFor(valid, node)));
  const classes = planClasses(valid, members, had);
  const hadIt = then !== undefined && then.sha256 === valid?.sha256 && then.spec.apply === valid.spec.apply;
  const takenOver = new Set(plans.flatMap((plan) => (plan.runsAlready ? [plan.name] : [])));
  const isAdopted = old === undefined && plans.length > 0 && plans.every(({ runsAlready }) => runsAlready);
  // What the nodes of a pool that goes were provisioned with is unknown here.
  const isCompared = valid !== undefined && !isAdopted;
  const compare = (): readonly FieldChange[] =>
    withRunningValues(diffPayloads(poolValueForDisplay(compared), poolValueForDisplay(valid)), touched);
  const changes = isCompared ? compare() : [];
  const isFirst = compared === undefined && touched.every((node) => had(node) === undefined);
  const fields = isFirst ? withoutDrain(changes) : changes;
  const isHeld = heldByVersion();
  const held = new Set(
    touched.flatMap((node) => {
      const gets = poolFor(valid, node);
      return gets !== undefined && isHeld(node, gets) ? [node.name] : [];
    }),
  );
  const bars = new Map(
    touched.flatMap((node) => {
      const [has, gets] = [had(node), poolFor(valid, node)];
      const bar = gets === undefined ? null : barOf(node, has, gets);
      return bar === null ? [] : [[node.name, bar] as const];
    }),
  );
  const locked = new Map(plans.flatMap((plan) => (plan.held === undefined ? [] : [[plan.name, plan.held] as const])));
  const isNeverTold = ({ name: each }: InventoryNode): boolean => held.has(each) || locked.has(each);
  const refuses = new Set(plans.flatMap((plan) => (refusalIn(plan) === undefined ? [] : [plan.name])));
  const waits = (): string | undefined => {
    if (valid === undefined) return undefined;
    const isOfWindows = spec.some((line) => line.startsWith('rollout.windows'));
    if (fields.length + touched.length === 0)
      return isOfWindows && at !== undefined ? closedForGood(valid, head, at) : undefined;
    if (!hadIt && isOutvoted({ counted: members.length, against: held.size })) return OUTVOTED;
    const able = members.filter(({ name: each }) => !held.has(each));
    const lack =
      hadIt || isAdopted
        ? undefined
        : lackOfCanaries(
            specInForce(valid, () => members, limits),
            able,
          );
    if (lack !== undefined) return lack;
    if (valid.spec.suspend === true) return SUSPENDED_IN_GIT;
    const closed = at === undefined ? undefined : closedForGood(valid, head, at);
    if (closed !== undefined) return closed;
    const none = computedForNone(classes);
    if (none !== undefined) return none;
    if (touched.length > 0) return bars.size < touched.length ? undefined : bars.values().next().value;
    // Unknown nodes count as having what the pool said.
    const had_ = members.length === 0 && isPlain(then) ? then : undefined;
    return barOf(undefined, had_, valid) ?? undefined;
  };
  const rollout =
    valid === undefined || touched.every(isNeverTold)
      ? undefined
      : plannedRollout({ ...valid, spec: specInForce(valid, () => members, limits) }, members, touched, overall, {
          takenOver,
          held,
          refuses,
          kept: new Map([...bars, ...locked]),
          isProven: hadIt,
        });
  const loosened = valid === undefined ? [] : loosenedLimits(valid, members, limits);
  const weakened = valid === undefined ? [] : weakerSafety(then?.spec, valid.spec);
  const untimed = (): RolloutPlan['untimed'] => {
    if (valid === undefined) return [];
    const classes = touched.flatMap((node) => {
      const [has, gets] = [had(node), poolFor(valid, node)];
      if (has === undefined || gets === undefined) return [];
      const { class: needed, podLimit = Infinity } = disruptionFor(node, has, gets);
      return [needed === 'restart' && (node.pods ?? 0) > podLimit ? 'drain' : needed];
    });
    return notEstimatedIn({ ...valid, spec: specInForce(valid, () => members, limits) }, head.cluster, classes);
  };
  const plan: PoolPlan = {
    name,
    change: changeOf(old, now),
    from: from?.name,
    ...(old?.status === 'invalid' ? { keptFrom: null } : keptFrom === undefined ? {} : { keptFrom }),
    configBefore: then?.configName,
    configAfter: valid?.configName,
    fields,
    unset: unsetMeaning(compared, valid),
    ...(classes.length === 0 ? {} : { classes }),
    cost: mostDisruptiveCost(fields),
    spec,
    members: members.length,
    nodes: plans.map((each) => (bars.has(each.name) ? { ...each, held: bars.get(each.name) ?? '' } : each)),
    waits: waits(),
    rollout: rollout && planRollout(rollout, untimed()),
    ...(loosened.length === 0 ? {} : { loosened }),
    ...(weakened.length === 0 ? {} : { weakened }),
  };
  return [{ plan, rollout }];
}

/** By node, the pool whose budget pays for it: who leaves for none is counted where it was until it is gone. */
const homesOf = (before: PoolMembership, after: PoolMembership): ReadonlyMap<string, string> =>
  new Map([...[...before.pool].filter(([node]) => !after.untouched.has(node)), ...after.pool]);

/** Of the nodes in all pools, as `reconciler/policy/rollout/max-unavailable.ts` has it. */
function overallBound(
  base: LoadedRepo,
  head: LoadedRepo,
  nodes: readonly InventoryNode[],
  homes: ReadonlyMap<string, string>,
): OverallBound | null {
  const { maxUnavailable } = head.cluster;
  if (maxUnavailable === null) return null;
  const [old, now] = [validPools(base), validPools(head)];
  const unavailable = nodes.filter((node) => {
    const home = homes.get(node.name) ?? '';
    return (now.has(home) || old.has(home)) && isUnavailable(node);
  });
  const allowed = limitOf(maxUnavailable, homes.size);
  return { free: allowed - unavailable.length, forNotReady: allowed, unavailable };
}

const changeOf = (old: LoadedPool | undefined, now: LoadedPool | undefined): PoolPlan['change'] => {
  if (now === undefined) return 'removed';
  if (now.status === 'invalid') return 'invalid';
  return old === undefined ? 'added' : 'changed';
};

const poolIn = ({ pools }: LoadedRepo, name: string): LoadedPool | undefined =>
  pools.find((pool) => pool.name === name);
/** What a template's nodes have, each of them says. */
const isPlain = (pool: ValidPool | undefined): boolean => pool?.template === undefined;

const validOf = (pool: LoadedPool | undefined): ValidPool | undefined => (pool?.status === 'valid' ? pool : undefined);

function findingsIn(repo: LoadedRepo): readonly Finding[] {
  return [...repo.findings, ...repo.pools.flatMap(({ findings }) => findings)];
}

/** Whether there is anything to report. */
export function isEmptyPlan({ pools, moves, conflicts, findings, refusal, clusterSpec }: MergePlan): boolean {
  const adopted = new Set(pools.filter(isAdopted).map(({ name }) => name));
  const rest = moves.filter(({ from, to }) => from !== null || !adopted.has(to ?? ''));
  const changed = pools.length - adopted.size;
  return changed + rest.length + conflicts.length + findings.length + clusterSpec.length === 0 && refusal === undefined;
}

/** A new pool that says of its nodes what they run already. */
export const isAdopted = ({ change, nodes }: PoolPlan): boolean =>
  change === 'added' &&
  nodes.length > 0 &&
  nodes.every(({ runsAlready, warnings }) => runsAlready && warnings.length === 0);
