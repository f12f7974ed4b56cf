import { isDeepStrictEqual as equal } from 'node:util';
import type { KubeletPoolSpec } from '#shared/contract/api/kubelet-pool.ts';
import type { Finding } from '#shared/contract/finding.ts';
import type { CommitOid } from '../commit-snapshot.ts';
import type { ValidPool } from '../config-repo/loaded-repo.ts';
import { type Desired, type DesiredPool, poolIn } from '../desired.ts';
import type { Fleet, NodeView } from '../fleet.ts';
import type { SelectingPool } from '../pool-members.ts';
import { selectorMatches } from '../pool-selection/selector.ts';
import type { OwnRecord } from '../proof/own-records.ts';
import { readProof } from '../proof/record.ts';
import { targetWith } from '../payload-classes.ts';
import { isRecordOfTarget, sameTarget } from '../rollout/node-progress.ts';
import { differingLimits, fewerUnavailable, stricter } from './stricter.ts';

type Member = Pick<NodeView, 'name' | 'labels'>;

/** A pool as a commit in force said it, or as only the cluster does. */
export interface PoolBefore {
  /** With the limits that it is held to. */
  readonly spec: KubeletPoolSpec;
  readonly config: { readonly sha256: string } | null;
  /** As the commit says it. */
  readonly inGit?: ValidPool;
}

/** `payload`: nodes have proven it, whichever commit gave it to them. `rollout`: and this commit has none left to give it to. */
export type Proven = 'nothing' | 'payload' | 'rollout';

/** What is known of the pools before a commit. */
export interface BeforeCommit {
  readonly commit: CommitOid;
  /** Pools as commits in force said them since the start, the present one among them once it was kept. */
  readonly known: ReadonlyMap<string, PoolBefore>;
  readonly fleet: Pick<Fleet, 'pools' | 'kubeletNodes'>;
  /** Whether nodes have proven what the commit gives them. */
  readonly proven: (pool: ValidPool) => Proven;
  /** The pools of the commit may select other nodes. */
  readonly movesNodes: boolean;
}

/**
 * What is desired, each pool with the limits that it is held to. A commit that changes what nodes run and loosens limits of their pool at
 * once is held to the stricter of both, until the payload is proven or another commit is in force: otherwise nothing would limit it. The
 * specs are written to the KubeletPools, so that another process goes on from them.
 *
 * @param known   pools as commits in force said them since the start, with the limits that they were held to
 * @param records what this process wrote of pools itself: what they have proven in there counts
 */
export function withLimitsInForce(
  desired: Desired,
  fleet: Fleet,
  known: ReadonlyMap<string, DesiredPool>,
  records: ReadonlyMap<string, OwnRecord>,
): Desired {
  const { commit, choices } = desired;
  if (commit === null) return desired;
  const present = [...desired.pools.values()].filter(({ origin }) => origin !== 'retiring');
  const movesNodes = selectOtherwise(present, { known, fleet });
  const before: BeforeCommit = { commit, known, fleet, proven: provenBy(records, fleet, commit), movesNodes };
  const nodes = [...fleet.nodes.values()];
  const pools = [...desired.pools].map(([name, pool]): readonly [string, DesiredPool] => {
    if (pool.origin !== 'rendered' || pool.inGit === undefined) return [name, pool];
    const members = (): readonly Member[] => nodes.filter((node) => poolIn(choices.get(node.name)) === name);
    const spec = specInForce(pool.inGit, members, before);
    const findings = [...pool.findings, ...heldFindings(pool.inGit, spec)];
    return [name, spec === pool.spec ? pool : { ...pool, spec, findings }];
  });
  return { ...desired, pools: new Map(pools) };
}

/**
 * The spec that one pool is held to.
 *
 * @param members the pool's nodes; asked where it is held to anything
 */
export function specInForce(pool: ValidPool, members: () => readonly Member[], before: BeforeCommit): KubeletPoolSpec {
  const proven = before.proven(pool);
  if (proven === 'rollout') return pool.spec;
  const hold = proven === 'payload' ? fewerUnavailable : stricter;
  return heldTo(formerSpecs(pool, members, before), pool, members, hold);
}

/** The same for a commit that changes what nodes run, whether this one does or not. */
export const stricterThanBefore = (
  pool: ValidPool,
  members: () => readonly Member[],
  before: BeforeCommit,
): KubeletPoolSpec => heldTo(specsBefore(pool, members, before), pool, members, stricter);

const heldTo = (
  formers: readonly KubeletPoolSpec[],
  { spec }: ValidPool,
  members: () => readonly Member[],
  hold: typeof stricter,
): KubeletPoolSpec =>
  formers.reduce((held, former) => (former === spec ? held : hold(withCanary(former, members), held)), spec);

/** That a pool is held to more than its file says. */
function heldFindings(pool: ValidPool, spec: KubeletPoolSpec): readonly Finding[] {
  const limits = differingLimits(pool.spec, spec);
  if (limits.length === 0) return [];
  const message =
    `the commit loosens ${limits.join(', ')} and changes what nodes run at once: ` +
    'until they have proven it, or until the next commit, what held before holds as well';
  const file = pool.file ?? `pools/${pool.name}/pool.yaml`;
  return [{ code: 'limit-not-yet', severity: 'warning', kind: 'security', message, file, field: 'spec' }];
}

/** What this commit is held to: of a commit that was there before, what it is held to already; nothing where no node gets anything else. */
function formerSpecs(
  pool: ValidPool,
  members: () => readonly Member[],
  before: BeforeCommit,
): readonly KubeletPoolSpec[] {
  const own = before.known.get(pool.name);
  if (own?.inGit === pool) return [own.spec];
  const { spec, status } = before.fleet.pools.get(pool.name) ?? {};
  if (own === undefined && spec !== undefined && status?.commit === before.commit) return [spec];
  const was = poolBefore(pool, before);
  const isSame = was?.config?.sha256 === pool.sha256 && was.spec.apply === pool.spec.apply;
  return isSame && !before.movesNodes ? [] : specsBefore(pool, members, before);
}

/** What commits before said of the pool, and of those that its nodes come from. */
function specsBefore(
  pool: ValidPool,
  members: () => readonly Member[],
  before: BeforeCommit,
): readonly KubeletPoolSpec[] {
  const was = poolBefore(pool, before);
  const origins = was === undefined || before.movesNodes ? originsOf(pool, members, before) : [];
  return [...(was === undefined ? [] : [was]), ...origins].map(({ inGit, spec }) => inGit?.spec ?? spec);
}

function poolBefore(
  { name }: Pick<ValidPool, 'name'>,
  { known, fleet }: Pick<BeforeCommit, 'known' | 'fleet'>,
): PoolBefore | undefined {
  const { spec, status } = fleet.pools.get(name) ?? {};
  return known.get(name) ?? (spec && { spec, config: { sha256: status?.sha256 ?? '' } });
}

function originsOf(
  { name: own }: ValidPool,
  members: () => readonly Member[],
  before: BeforeCommit,
): readonly PoolBefore[] {
  const names = new Set(members().flatMap((node) => before.fleet.kubeletNodes.get(node.name)?.spec?.pool ?? []));
  names.delete(own);
  return [...names].flatMap((name) => poolBefore({ name }, before) ?? []);
}

/** Whether the pools of a commit may select other nodes than those before it did. */
export function selectOtherwise(
  pools: readonly SelectingPool[],
  before: Pick<BeforeCommit, 'known' | 'fleet'>,
): boolean {
  const names = new Set([...before.known.keys(), ...before.fleet.pools.keys()]);
  if (names.size !== pools.length) return true;
  return pools.some(({ name, spec }) => {
    const was = poolBefore({ name }, before)?.spec;
    return was?.priority !== spec.priority || !equal(was.nodeSelector, spec.nodeSelector);
  });
}

/** Canaries that no node here can be would never end their wave: one node is asked instead. */
function withCanary(spec: KubeletPoolSpec, members: () => readonly Member[]): KubeletPoolSpec {
  const { selector, ...rest } = spec.rollout.canary ?? {};
  if (selector === undefined || members().some(({ labels }) => selectorMatches(selector, labels))) return spec;
  return { ...spec, rollout: { ...spec.rollout, canary: { ...rest, nodes: 1 } } };
}

/** What this process wrote of a pool itself says so: others may have written what else is there. */
function provenBy(
  records: ReadonlyMap<string, OwnRecord>,
  { pools }: Pick<Fleet, 'pools'>,
  commit: CommitOid,
): BeforeCommit['proven'] {
  return ({ name, sha256, spec }) => {
    const target = targetWith(sha256, spec);
    const own = records.get(name);
    // Of a pool that is left alone because it cannot be read, nor can the record be.
    if (own === undefined || own.uid !== (pools.get(name)?.metadata.uid ?? '')) return 'nothing';
    const { status } = own;
    const classes = [...readProof(status).values()].filter(({ nodes }) => nodes > 0);
    if (classes.length === 0) return 'nothing';
    // A class without nodes is on record with what it proved last.
    const isOver = status.rollout?.finishedAt !== undefined && isRecordOfTarget(status.rollout, target);
    const isAll = status.counts?.pending === 0 && classes.every(({ state }) => state === 'proven');
    if (isOver && isAll && status.commit === commit) return 'rollout';
    const isProven = classes.every(({ proven }) => sameTarget(proven, target));
    return isProven ? 'payload' : 'nothing';
  };
}
