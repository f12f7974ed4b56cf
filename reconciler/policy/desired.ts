import type { CommitReference, KubeletPool, KubeletPoolSpec } from '#shared/contract/api/kubelet-pool.ts';
import type { Finding } from '#shared/contract/finding.ts';
import type { Choice } from './pool-selection/choose-pool.ts';
import type { Fleet } from './fleet.ts';
import type { CommitOid } from './commit-snapshot.ts';
import { type ClusterPolicy, policyInForce, policyOf } from './cluster-policy.ts';
import { type FormerLimits, loosenedLimits } from './commit-limits.ts';
import { desiredConfigOf, type DesiredConfig } from './config-map-name.ts';
import { isOutvoted, judgeNodes, type NodesVerdict } from './judge-nodes.ts';
import { type PoolClasses, recordedClasses, classifyNodes } from './payload-classes.ts';
import { withSettledKeep } from './settled-keep.ts';
import { membersOfPools, type PoolMembers, isStillValid } from './pool-members.ts';
import type { JudgePool } from './config-repo/judge-pool.ts';
import type { LoadedPool, LoadedRepo, PoolBounds, ValidPool } from './config-repo/loaded-repo.ts';
import { DEFAULT_CLUSTER } from './config-repo/read-cluster.ts';

/**
 * rendered: from the commit in force. kept: the commit says something wrong about this pool (or git was not read yet),
 * so what the cluster has stays in force. retiring: gone from git; its nodes go back to their local config.
 */
export type PoolOrigin = 'rendered' | 'kept' | 'retiring';

export interface DesiredPool {
  readonly name: string;
  readonly origin: PoolOrigin;
  /** Of a pool in force, with the limits that it is held to, which may be stricter than those of its file (`pool-limits`). */
  readonly spec: KubeletPoolSpec;
  /** null for retiring pools: the local config. Of a pool with computed values, what tells its rollouts apart: no node gets it. */
  readonly config: DesiredConfig | null;
  /** What each node gets, where values are computed; absent where all get `config`. */
  readonly classes?: PoolClasses;
  /** By node name, why its kubelet would refuse what it is to get: it keeps what it has. Absent where only the cluster says what it is. */
  readonly unfit?: ReadonlyMap<string, string>;
  /** The pool as a commit says it; absent where only the cluster does. */
  readonly inGit?: ValidPool;
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
  /** The commit in force, for people. Absent where nobody needs to be told. */
  readonly by?: CommitReference;
}

/** The commit in force and what it holds. */
export interface CommitInForce {
  readonly oid: CommitOid;
  readonly repo: LoadedRepo;
  /** What the commit before it let pools say, by which it was read. Absent: its own file counted. */
  readonly boundsBefore?: PoolBounds;
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
  const verdicts = new Map<ValidPool, PoolVerdict>();
  for (const loaded of inForce.repo.pools) {
    const [before, present] = [known.get(loaded.name), fleet.pools.get(loaded.name)];
    const wrong = [...loaded.findings];
    if (loaded.status === 'valid') {
      const isSame = isInForce(renderedAs(loaded, inForce.oid, fleet), before, present);
      const pool = isSame ? withSettledKeep(loaded, before?.spec, present?.spec, fleet) : loaded;
      const rendered = renderedAs(pool, inForce.oid, fleet);
      const verdict = judgeMembers(pool, within, fleet, judge);
      verdicts.set(pool, verdict);
      if (!isOutvoted(verdict.votes) || isSame) {
        pools.push(rendered);
        continue;
      }
      wrong.push(...verdict.refusal);
    }
    const kept = keepKnown(before, present, wrong);
    if (kept.length === 0) {
      findings.push(...wrong);
      unusable.add(loaded.name);
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
    { within, verdicts },
  );
}

interface RenderedPool extends DesiredPool {
  readonly config: DesiredConfig;
  readonly inGit: ValidPool;
}

function renderedAs(pool: ValidPool, commit: CommitOid, fleet: Fleet): RenderedPool {
  const { name, spec, configName, sha256, findings, template } = pool;
  const config = template === undefined ? desiredConfigOf(pool, fleet.configSources) : { name: configName, sha256 };
  return { name, origin: 'rendered', spec, config, inGit: pool, commit, findings: [...findings, ...squatted(config)] };
}

interface PoolVerdict extends NodesVerdict {
  readonly classes?: PoolClasses;
}

function judgeMembers(pool: ValidPool, { members }: PoolMembers, fleet: Fleet, judge: JudgePool): PoolVerdict {
  const nodes = members.get(pool.name) ?? [];
  return pool.template === undefined ? judgeNodes(pool, nodes, fleet, judge) : classifyNodes(pool, nodes, fleet, judge);
}

/** The pool was let have this config before: nodes that were given another version since hold themselves, and take it from nobody. */
function isInForce({ config, spec }: RenderedPool, known: DesiredPool | undefined, present?: KubeletPool): boolean {
  const { sha256, apply } =
    known === undefined
      ? { sha256: present?.status?.sha256, apply: present?.spec?.apply }
      : { sha256: known.config?.sha256, apply: known.spec.apply };
  return sha256 === config.sha256 && apply === spec.apply;
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
  known?: { readonly within: PoolMembers; readonly verdicts: ReadonlyMap<ValidPool, PoolVerdict> },
): Desired {
  const present = pools.filter((pool) => pool.origin !== 'retiring');
  const last = known !== undefined && isStillValid(known.within, present) ? known : undefined;
  const within = last?.within ?? membersOfPools(present, fleet);
  const judged = pools.map((pool) => {
    if (pool.inGit === undefined) return withRecordedClasses(pool, within, fleet);
    const verdict = last?.verdicts.get(pool.inGit) ?? judgeMembers(pool.inGit, within, fleet, judge);
    const { classes, unfit } = verdict;
    const findings = [...pool.findings, ...verdict.findings];
    return { ...pool, ...(classes === undefined ? {} : { classes }), unfit, findings };
  });
  return { ...about, pools: new Map(judged.map((pool) => [pool.name, pool])), choices: within.choices };
}

function withRecordedClasses(pool: DesiredPool, { members }: PoolMembers, fleet: Fleet): DesiredPool {
  const recorded = pool.unverified === true ? fleet.pools.get(pool.name)?.status : undefined;
  const classes = recorded && recordedClasses(recorded, pool.spec, members.get(pool.name) ?? [], fleet);
  return classes === undefined ? pool : { ...pool, classes };
}

/** The pool that was chosen for a node; undefined where none or more than one was. */
export function poolIn(choice: Choice | undefined): string | undefined {
  return choice?.choice === 'pool' ? choice.pool : undefined;
}
