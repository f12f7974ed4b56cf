import type { KubeletPool, KubeletPoolSpec } from '#shared/contract/api/kubelet-pool.ts';
import { type Finding, hasErrors } from '#shared/contract/finding.ts';
import type { FieldPolicy } from '#shared/contract/kubelet-config/field-policy.ts';
import type { Choice } from './pool-selection/choose-pool.ts';
import type { Fleet } from './fleet.ts';
import type { CommitOid } from './commit-snapshot.ts';
import { type ClusterPolicy, policyInForce, policyOf } from './cluster-policy.ts';
import { type FormerLimits, loosenedLimits } from './commit-limits.ts';
import { desiredConfigOf, type DesiredConfig } from './config-map-name.ts';
import { minorsOf, type PoolClasses, recordedClasses, classifyNodes } from './payload-classes.ts';
import { membersOfPools, type PoolMembers, isStillValid } from './pool-members.ts';
import type { JudgePool } from './config-repo/judge-pool.ts';
import type { LoadedPool, LoadedRepo, ValidPool } from './config-repo/loaded-repo.ts';
import { DEFAULT_CLUSTER } from './config-repo/read-cluster.ts';

/**
 * rendered: from the commit in force. kept: the commit says something wrong about this pool (or git was not read yet),
 * so what the cluster has stays in force. retiring: gone from git; its nodes go back to their local config.
 */
export type PoolOrigin = 'rendered' | 'kept' | 'retiring';

export interface DesiredPool {
  readonly name: string;
  readonly origin: PoolOrigin;
  readonly spec: KubeletPoolSpec;
  /** null for retiring pools: the local config. Of a pool with computed values, what tells its rollouts apart: no node gets it. */
  readonly config: DesiredConfig | null;
  /** What each node gets, where values are computed; absent where all get `config`. */
  readonly classes?: PoolClasses;
  /** The pool as a commit says it, where values are computed. */
  readonly template?: ValidPool;
  /** The commit that the config was rendered from, where known. */
  readonly commit: CommitOid | null;
  /** Findings in the commit in force about the pool, warnings included. */
  readonly findings: readonly Finding[];
  /**
   * Only the KubeletPool says so, which others may have written: its nodes keep what they have. Absent once a commit in
   * force said it since the start.
   */
  readonly unverified?: true;
}

export interface Desired {
  readonly commit: CommitOid | null;
  readonly pools: ReadonlyMap<string, DesiredPool>;
  /** What the cluster's file says of rollouts in all pools; as it was last recorded while git was not read. */
  readonly policy: ClusterPolicy;
  /** Unusable pools of the commit: it has errors in them, and the cluster does not know them. */
  readonly unusable: ReadonlySet<string>;
  /** What is wrong and belongs to no pool that exists: the repository's, and those of pools that never were valid. */
  readonly findings: readonly Finding[];
  /** Every node's pool, by node name. */
  readonly choices: ReadonlyMap<string, Choice>;
  /** No commit is in force, so that every node keeps what it has. */
  readonly unverified?: true;
  /** Why the newest commit was refused, if it was: a sentence. */
  readonly refused?: string;
}

/** The commit in force and what it holds. */
export interface CommitInForce {
  readonly oid: CommitOid;
  readonly repo: LoadedRepo;
  /** What the commit before it allowed and denied, by which it was read. Absent: its own file counted. */
  readonly fieldsBefore?: FieldPolicy;
  /** Limits of the commit before it that hold besides its own. */
  readonly former?: FormerLimits;
}

/**
 * What is wanted of the whole fleet. Each pool is judged by itself: one that is invalid keeps what it had, the others
 * go on.
 *
 * @param known pools as commits in force said them since the start
 */
export function desiredState(
  inForce: CommitInForce | null,
  fleet: Fleet,
  judge: JudgePool,
  recorded: ClusterPolicy = policyOf(DEFAULT_CLUSTER),
  known: ReadonlyMap<string, DesiredPool> = new Map(),
): Desired {
  const inCluster = [...fleet.pools.values()];
  if (inForce === null) {
    const pools = inCluster.flatMap((pool) => (isRetiring(pool) ? retire(pool) : keep(pool, [])));
    const about = {
      commit: null,
      unusable: new Set<string>(),
      policy: recorded,
      findings: [],
      unverified: true,
    } as const;
    return assemble(about, pools, fleet, judge);
  }

  const pools: DesiredPool[] = [];
  const unusable = new Set<string>();
  const findings: Finding[] = [...inForce.repo.findings, ...heldTo(inForce)];
  const isValid = (pool: LoadedPool): pool is ValidPool => pool.status === 'valid';
  const within = membersOfPools(inForce.repo.pools.filter(isValid), fleet);
  for (const { pool, verdict } of judgeAll(inForce.repo.pools, within, judge)) {
    const wrong = [...pool.findings, ...verdict];
    if (pool.status === 'valid' && !hasErrors(wrong)) {
      const isTemplate = pool.template !== undefined;
      const config = isTemplate ? identityOf(pool) : desiredConfigOf(pool, fleet.configSources);
      pools.push({
        name: pool.name,
        origin: 'rendered',
        spec: pool.spec,
        config,
        commit: inForce.oid,
        findings: [...wrong, ...squatted(config)],
        ...(isTemplate ? { template: pool } : {}),
      });
      continue;
    }
    const kept = keepKnown(known.get(pool.name), fleet.pools.get(pool.name), wrong);
    if (kept.length === 0) {
      findings.push(...wrong);
      unusable.add(pool.name);
    }
    pools.push(...kept);
  }
  const declared = new Set(inForce.repo.pools.map((pool) => pool.name));
  pools.push(...inCluster.filter((pool) => !declared.has(pool.metadata.name)).flatMap(retire));
  return assemble(
    { commit: inForce.oid, unusable, policy: policyInForce(inForce.repo.cluster, recorded, inForce.former), findings },
    pools,
    fleet,
    judge,
    within,
  );
}

const identityOf = ({ configName: name, sha256 }: ValidPool): DesiredConfig => ({ name, sha256 });

function judgeAll(
  pools: readonly LoadedPool[],
  { members }: PoolMembers,
  judge: JudgePool,
): readonly { readonly pool: LoadedPool; readonly verdict: readonly Finding[] }[] {
  return pools.map((pool) => {
    // What a template's nodes get is judged class by class.
    if (pool.status === 'invalid' || pool.template !== undefined) return { pool, verdict: [] };
    return { pool, verdict: judge(pool, minorsOf(members.get(pool.name) ?? [])) };
  });
}

/** That its config has another name is said for as long as it has. */
function squatted({ name, insteadOf }: DesiredConfig): readonly Finding[] {
  if (insteadOf === undefined) return [];
  const message =
    `a ConfigMap that is not ours had the name ${insteadOf}, so the config is in ${name}: ` +
    'see who may create ConfigMaps in the namespace';
  return [{ code: 'config-name-taken', severity: 'warning', kind: 'security', message }];
}

/** A limit that a commit loosened for itself is said to hold still. */
function heldTo({ repo, former }: CommitInForce): readonly Finding[] {
  if (former === undefined) return [];
  const limits = loosenedLimits(former, repo.cluster).join(' and ');
  const message = `the commit loosens ${limits} of the cluster and changes pools at once: until the next commit, what held before it holds as well`;
  return [{ code: 'limit-not-yet', severity: 'warning', kind: 'security', message, field: 'spec' }];
}

/** A pool with errors as a commit said it last; as the cluster has it where none did since the start. */
function keepKnown(
  known: DesiredPool | undefined,
  present: KubeletPool | undefined,
  findings: readonly Finding[],
): readonly DesiredPool[] {
  if (known !== undefined) return [{ ...known, origin: 'kept', findings }];
  return present === undefined ? [] : keep(present, findings);
}

/** A pool as the cluster has it; nothing where the cluster never had a valid version of it. */
function keep(pool: KubeletPool, findings: readonly Finding[]): readonly DesiredPool[] {
  const { spec, status = {} } = pool;
  if (spec === undefined || status.configName === undefined || status.sha256 === undefined) return [];
  const config = { name: status.configName, sha256: status.sha256 };
  return [
    {
      name: pool.metadata.name,
      origin: 'kept',
      spec,
      config,
      commit: status.commit ?? null,
      findings,
      unverified: true,
    },
  ];
}

/** Whether our own record of a pool says that it left git. One without any record may have lost it. */
const isRetiring = ({ status = {} }: KubeletPool): boolean =>
  status.phase !== undefined && status.configName === undefined;

function retire(pool: KubeletPool): readonly DesiredPool[] {
  if (pool.spec === undefined) return [];
  return [{ name: pool.metadata.name, origin: 'retiring', spec: pool.spec, config: null, commit: null, findings: [] }];
}

function assemble(
  about: Omit<Desired, 'pools' | 'choices'>,
  pools: readonly DesiredPool[],
  fleet: Fleet,
  judge: JudgePool,
  known?: PoolMembers,
): Desired {
  const present = pools.filter((pool) => pool.origin !== 'retiring');
  const within = known !== undefined && isStillValid(known, present) ? known : membersOfPools(present, fleet);
  const sorted = withClasses(pools, within, fleet, judge);
  return { ...about, pools: new Map(sorted.map((pool) => [pool.name, pool])), choices: within.choices };
}

/** The pools with what each of their nodes gets, where values are computed. */
function withClasses(
  pools: readonly DesiredPool[],
  { members }: PoolMembers,
  fleet: Fleet,
  judge: JudgePool,
): readonly DesiredPool[] {
  return pools.map((pool) => {
    const nodes = members.get(pool.name) ?? [];
    if (pool.template !== undefined) {
      const { classes, findings } = classifyNodes(pool.template, nodes, fleet, judge);
      return { ...pool, classes, findings: [...pool.findings, ...findings] };
    }
    const recorded = pool.unverified === true ? fleet.pools.get(pool.name)?.status : undefined;
    const classes = recorded && recordedClasses(recorded, pool.spec.apply, nodes, fleet);
    return classes === undefined ? pool : { ...pool, classes };
  });
}

/** The pool that was chosen for a node; undefined where none or more than one was. */
export function poolIn(choice: Choice | undefined): string | undefined {
  return choice?.choice === 'pool' ? choice.pool : undefined;
}
