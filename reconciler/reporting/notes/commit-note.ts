import type {
  Amount,
  ClassStatus,
  Halt,
  HaltImpact,
  KubeletPool,
  KubeletPoolSpec,
  KubeletPoolStatus,
  PoolCounts,
  PoolFailure,
  PoolPhase,
  Released,
  WaveStatus,
} from '#shared/contract/api/kubelet-pool.ts';
import { type Finding, formatFinding, hasErrors } from '#shared/contract/finding.ts';
import type { Desired, DesiredPool, PoolOrigin } from '../../policy/desired.ts';
import { plainLine } from '../../git/plain-text.ts';
import type { CommitOid } from '../../policy/commit-snapshot.ts';
import type { ClusterConfig } from '../../policy/config-repo/loaded-repo.ts';
import { readProof } from '../../policy/proof/record.ts';
import { DEFAULT_MAX_CHANGE } from '../../policy/config-repo/read-cluster.ts';
import { byUrgency } from '../pool-status/class-summary.ts';

/**
 * How a commit fared in one cluster. settled: all its pools run what it says, and a node has proven some of it. progressing: under
 * way, or waiting for nodes.
 * halted: failures stopped at least one pool. partly-refused: settled but for what was invalid, and for nodes of
 * which it does not say clearly whose they are. refused: never came into
 * force. superseded: another commit took its place before it was settled.
 */
export type CommitOutcome = 'settled' | 'progressing' | 'halted' | 'partly-refused' | 'refused' | 'superseded';

export interface NotedPool {
  readonly name: string;
  readonly origin: PoolOrigin;
  readonly config: string | null;
  readonly phase: PoolPhase;
  /** Why windows do not count for the pool; null where they do. */
  readonly emergency: string | null;
  /** Whether a person holds it up. */
  readonly suspended: boolean;
  /** The way of the payload through the pool; none if no node had to change. */
  readonly waves: readonly WaveStatus[];
  /** What stopped it, and whether it is taken back. */
  readonly halt: NotedHalt | null;
  /** That a person let a halted payload go on, and on how many nodes failures are forgiven by that. */
  readonly released: { readonly haltedAt: string; readonly nodes: number } | null;
  readonly counts: PoolCounts | null;
  /** Of a pool with computed values: its classes of machines, the held and unfinished ones first. Absent for others. */
  readonly classes?: readonly NotedClass[];
  readonly failures: readonly PoolFailure[];
  readonly findings: readonly string[];
}

/** `updated` and `config`: null where there is no config for the class, for which `message` says why. */
export interface NotedClass {
  readonly name: string;
  readonly nodes: number;
  readonly updated: number | null;
  readonly config: string | null;
  readonly message: string;
}

type NotedHalt = Pick<Halt, 'config' | 'at' | 'message' | 'action' | 'cause'> & {
  /** What the halt means for what runs. */
  readonly impact?: HaltImpact;
};

/** How much one commit may do at once in this cluster, as that commit itself says. */
interface NotedLimits {
  readonly maxChange: Amount;
  readonly maxUnassign: Amount;
}

/** The same as a cluster's file has it. */
export type CommitLimits = Pick<ClusterConfig, 'maxChange' | 'maxUnassign'>;

/** Everything that a note says. Holds no time of its own: equal states give equal notes, and an equal note is not written again. */
export interface CommitNote {
  readonly cluster: string;
  readonly commit: CommitOid;
  readonly outcome: CommitOutcome;
  /** For people: why, where the outcome alone does not tell. */
  readonly message: string;
  /** null if unknown, as of a commit that never came into force. */
  readonly limits: NotedLimits | null;
  readonly pools: readonly NotedPool[];
  /** How many pools more there are, for which there was no room. Absent for none. */
  readonly omittedPools?: number;
  /** What is wrong with the repository beyond its pools. */
  readonly findings: readonly string[];
}

const MOST_FINDINGS = 10;
/** Ten of them stand in a note twice, and it is whole only where all of that fits. */
const LONGEST_FINDING = 500;
const MOST_FAILURES = 5;
const MOST_CLASSES = 20;
const LONGEST_MESSAGE = 400;
/** Room for the kubelet's last errors, which stand at the end. */
const LONGEST_FAILURE = 1200;

const shortFinding = (finding: Finding): string => plainLine(formatFinding(finding), LONGEST_FINDING);

/**
 * The note of the commit in force.
 *
 * @param released  who let it through past the clusters that are followed, and why; '' for nobody
 * @param leftAlone remarks on nodes that must not be changed, because the commit's pools do not say which pool they belong to
 */
export function noteInForce(
  cluster: string,
  commit: CommitOid,
  desired: Desired,
  statuses: ReadonlyMap<string, KubeletPoolStatus>,
  limits: CommitLimits | null = null,
  leftAlone: readonly string[] = [],
  released = '',
): CommitNote {
  const pools = [...desired.pools.values()].map((pool) => notedPool(pool, statuses.get(pool.name)));
  const unclear = leftAlone.map((line) => plainLine(line, LONGEST_FINDING));
  const findings = [...desired.findings.map(shortFinding), ...unclear].slice(0, MOST_FINDINGS);
  const refused = pools.filter((pool) => pool.findings.length > 0).map((pool) => pool.name);
  const isWrong = hasErrors(desired.findings) || unclear.length > 0 || [...desired.pools.values()].some(wasRefused);
  const hasProof = pools.some(({ name }) => isProven(statuses.get(name)));
  const outcome = outcomeOf(pools, isWrong, hasProof);
  const kept = outcome === 'partly-refused' && refused.length > 0 ? `kept as they were: ${refused.join(', ')}` : '';
  const message = [released, kept].filter((text) => text !== '').join('; ');
  return { cluster, commit, outcome, message, limits: limits === null ? null : limitsOf(limits), pools, findings };
}

/**
 * What the cluster itself tells of a commit that another process had in force: without findings, which are nowhere but
 * in the commit.
 */
export function noteOfPredecessor(cluster: string, commit: CommitOid, present: readonly KubeletPool[]): CommitNote {
  const its = present.filter(({ status }) => status?.commit === commit);
  const pools = its.map(({ metadata: { name }, spec, status }): NotedPool => {
    const config = status?.configName ?? null;
    return { name, origin: 'rendered', config, ...standingOf(spec, status, config), findings: [] };
  });
  const hasProof = its.some(({ status }) => isProven(status));
  const outcome = outcomeOf(pools, false, hasProof);
  return { cluster, commit, outcome, message: '', limits: null, pools, findings: [] };
}

/** Nothing more will happen to a commit that fared like this, as long as it is in force. */
export const isFinal = ({ outcome }: CommitNote): boolean => outcome === 'settled' || outcome === 'partly-refused';

/**
 * What to say of the commit in force after what was said last. Of a commit that is done nothing more is said because nodes come
 * and go, which may happen every few minutes: only what failed, stopped, or was ordered since.
 *
 * @param last what was said last of any commit, by this process
 * @param done whether it is on record that this commit was done, said by whatever process
 * @returns null for nothing at all
 */
export function nextNote(last: CommitNote | null, next: CommitNote, done: boolean): CommitNote | null {
  const before = last?.commit === next.commit ? last : null;
  if (next.outcome === 'halted' || (before === null ? !done : !isFinal(before))) return next;
  if (before === null) return isFinal(next) ? next : null;
  return newsIn(before) === newsIn(next) ? before : next;
}

/** A note without what changes when nodes join and leave. */
function newsIn({ limits, findings, pools }: CommitNote): string {
  const lasting = pools.map(({ counts, ...pool }) => ({
    ...pool,
    phase: undefined,
    classes: undefined,
    waves: undefined,
    failed: counts?.failed ?? 0,
  }));
  return JSON.stringify({ limits, findings, lasting });
}

/** The note of a commit that was not let into force. */
export function noteRefused(
  cluster: string,
  commit: CommitOid,
  message: string,
  findings: readonly Finding[] = [],
): CommitNote {
  return {
    cluster,
    commit,
    outcome: 'refused',
    message: plainLine(message, 2 * LONGEST_MESSAGE),
    limits: null,
    pools: [],
    findings: findings.slice(0, MOST_FINDINGS).map(shortFinding),
  };
}

/** The last note of a commit that another one displaced before it was settled. */
export function noteSuperseded(last: CommitNote, by: CommitOid): CommitNote {
  return { ...last, outcome: 'superseded', message: `replaced by ${by.slice(0, 12)} while ${last.outcome}` };
}

function outcomeOf(pools: readonly NotedPool[], refusals: boolean, hasProof: boolean): CommitOutcome {
  if (pools.some((pool) => pool.phase === 'Halted')) return 'halted';
  if (pools.some((pool) => pool.phase === 'Progressing' || pool.phase === 'Waiting')) return 'progressing';
  if (refusals) return 'partly-refused';
  return hasProof ? 'settled' : 'progressing';
}

/** Clusters that follow this one go by it: where no class of machines has proven its config, nothing is settled. */
const isProven = (status: KubeletPoolStatus | undefined): boolean =>
  [...readProof(status).values()].some(({ state }) => state === 'proven');

const wasRefused = (pool: DesiredPool): boolean => pool.origin === 'kept' && hasErrors(pool.findings);

function notedPool(pool: DesiredPool, status: KubeletPoolStatus | undefined): NotedPool {
  const config = pool.config?.name ?? null;
  const findings = pool.findings.slice(0, MOST_FINDINGS).map(shortFinding);
  return { name: pool.name, origin: pool.origin, config, ...standingOf(pool.spec, status, config), findings };
}

type Standing = Omit<NotedPool, 'name' | 'origin' | 'config' | 'findings'>;

/** What a person ordered and what came of it. The rollout of another config is no news of this commit. */
function standingOf(
  spec: Pick<KubeletPoolSpec, 'rollout' | 'suspend'> | undefined,
  status: KubeletPoolStatus | undefined,
  config: string | null,
): Standing {
  const {
    phase = 'Progressing',
    counts = null,
    failures = [],
    halt,
    impact,
    released,
    rollout,
    classes,
  } = status ?? {};
  return {
    phase,
    emergency: spec?.rollout.emergency ?? null,
    suspended: spec?.suspend === true,
    waves: rollout !== undefined && rollout.configName === config ? rollout.waves : [],
    halt: halt === undefined ? null : haltOf(halt, impact),
    released: released === undefined ? null : releaseOf(released),
    counts,
    ...(classes === undefined ? {} : { classes: byUrgency(classes).slice(0, MOST_CLASSES).map(notedClass) }),
    failures: failures.slice(0, MOST_FAILURES).map(shorten),
  };
}

const notedClass = ({ name, nodes, updated, configName, message = '' }: ClassStatus): NotedClass => ({
  name: plainLine(name, LONGEST_MESSAGE),
  nodes,
  updated: updated ?? null,
  config: configName ?? null,
  message: plainLine(message, LONGEST_MESSAGE),
});

const haltOf = ({ config, at, message, action, cause }: Halt, impact: HaltImpact | undefined): NotedHalt => ({
  config,
  at,
  action,
  message: message.slice(0, LONGEST_MESSAGE),
  ...(cause === undefined ? {} : { cause }),
  ...(impact === undefined ? {} : { impact: { ...impact, message: impact.message.slice(0, LONGEST_MESSAGE) } }),
});

const releaseOf = ({ haltedAt, failures }: Released): NonNullable<NotedPool['released']> => ({
  haltedAt,
  nodes: failures.length,
});

const limitsOf = ({ maxChange, maxUnassign }: CommitLimits): NotedLimits => ({
  maxChange: maxChange ?? DEFAULT_MAX_CHANGE,
  maxUnassign,
});

const shorten = (failure: PoolFailure): PoolFailure => ({
  ...failure,
  message: failure.message.slice(0, LONGEST_FAILURE),
});
