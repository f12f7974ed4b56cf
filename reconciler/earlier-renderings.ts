import type { ReadEarlier } from './candidate-changes.ts';
import { setNewest } from '#shared/runtime/set-newest.ts';
import { MACHINE_ANNOTATION } from '#shared/contract/api/group.ts';
import { askedToWaitMs } from '#shared/kube/kube-error.ts';
import type { Clock, Millis } from '#shared/runtime/clock.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import { withLifetime } from '#shared/runtime/lifetime.ts';
import type { Log } from '#shared/runtime/log.ts';
import { permanentFailure } from './git/errors.ts';
import type { GitSource } from './git/source-port.ts';
import type { CommitOid } from './policy/commit-snapshot.ts';
import { desiredConfigOf } from './policy/config-map-name.ts';
import type { LoadedRepo, ValidPool } from './policy/config-repo/loaded-repo.ts';
import { createClassifier } from './policy/config-repo/pool-of-class.ts';
import type { Fleet } from './policy/fleet.ts';
import type { CommitToRender } from './policy/rollout/commits-to-render.ts';
import type { Rendered } from './policy/proof/record.ts';
import { membersOfPools } from './policy/pool-members.ts';

/** What earlier commits render, read from git again: others may write the record in the cluster that names them. */
export interface EarlierRenderings {
  /**
   * By pool, what each commit renders whose record names it: where values are computed, for each node that the pool selects and the
   * cluster has. None where the commit lacks the pool or the pool is invalid in it. Absent while the commit could not be read: only so
   * many are read at a time, and all have their turn. What no revert waits for is read last, and once. Takes at most `READING_MS`.
   * Never rejects.
   *
   * @param inForce only what this commit comes from is read: one that was refused vouches for nothing
   */
  ask(
    asked: readonly CommitToRender[],
    inForce: OidInForce,
    fleet: Fleet,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, Rendered>>;
}

/** The commit in force; null for none. */
interface OidInForce {
  readonly commit: CommitOid | null;
  /** It does not come from the one before. */
  readonly isRewritten: boolean;
}

/** So many commits are read at a time. */
const MOST_READ = 3;
/** So many pools of commits are kept. Records of more are answered for in turn. */
const MOST_KEPT = 30;
/** A pass waits for it: a slow server must not hold up the fleet. */
const READING_MS: Millis = 30_000;
/** The same where no revert waits. */
const LOOKING_MS: Millis = 5_000;
const AGAIN_MS: Millis = 60_000;

export function createEarlierRenderings(
  source: Pick<GitSource, 'earlier'>,
  load: ReadEarlier,
  clock: Clock,
  log: Log,
): EarlierRenderings {
  /** By commit and pool, in the order in which they were read; null for a pool that the commit has nothing valid of. */
  const kept = new Map<string, ValidPool | null>();
  /** What commits rendered that no revert waits for; null for one that nobody can have. */
  const seen = new Map<string, ReadonlySet<string> | null>();
  let since: CommitOid = '';
  /** The commit that was read last. */
  let last: CommitOid = '';
  /** When commits that could not be read may be read again, and what was said of them. */
  const missing = new Map<CommitOid, Missing>();

  async function readMissing(asked: readonly CommitToRender[], life: AbortSignal, parent: AbortSignal): Promise<void> {
    const now = clock.monotonic();
    const byCommit = Map.groupBy(asked, ({ commit }) => commit);
    for (const [commit, { from }] of missing) if (now >= from && !byCommit.has(commit)) missing.delete(commit);
    const wanted = [...byCommit].filter(
      ([commit, all]) => !all.every((each) => kept.has(keyOf(each))) && now >= (missing.get(commit)?.from ?? now),
    );
    for (const [commit, all] of inTurn(wanted, last).slice(0, MOST_READ)) {
      if (life.aborted) return;
      last = commit;
      const repo = await read(commit, life, parent);
      if (repo === undefined) continue;
      missing.delete(commit);
      for (const each of all) keep(each, repo);
    }
  }

  function keep(asked: CommitToRender, repo: LoadedRepo): void {
    const pool = repo.pools.find(({ name }) => name === asked.pool);
    setNewest(kept, keyOf(asked), pool?.status === 'valid' ? withoutSource(pool) : null, MOST_KEPT);
  }

  async function read(commit: CommitOid, life: AbortSignal, parent: AbortSignal): Promise<LoadedRepo | undefined> {
    try {
      const snapshot = await source.earlier(commit, since, life);
      // By its own file: what the commit before it allowed is not known any more.
      if (snapshot !== null) return await load(snapshot, life);
      missed(commit, NOT_SERVED);
    } catch (error) {
      if (!parent.aborted) missed(commit, error);
    }
    return undefined;
  }

  function missed(commit: CommitOid, error: unknown): void {
    const because = reasonOf(error);
    if (missing.get(commit)?.because !== because) log.warn({ commit, err: error }, 'earlier commit cannot be read');
    const waitMs = permanentFailure(error) === undefined ? (askedToWaitMs(error) ?? 0) : Number.POSITIVE_INFINITY;
    const isGone = because === NOT_SERVED;
    missing.set(commit, { from: clock.monotonic() + Math.max(AGAIN_MS, waitMs), because, isGone });
  }

  return {
    async ask(asked, { commit: inForce, isRewritten }, fleet, signal) {
      const keys = new Set(asked.map(keyOf));
      for (const key of seen.keys()) if (!keys.has(key)) seen.delete(key);
      if (asked.length === 0 || inForce === null) return new Map();
      if (inForce !== since) kept.clear();
      if (inForce !== since && isRewritten) seen.clear();
      since = inForce;
      const awaited = asked.filter(({ isAwaited }) => isAwaited);
      const wanted = awaited.length > 0 ? awaited : asked.filter((each) => !seen.has(keyOf(each)));
      const ms = awaited.length > 0 ? READING_MS : LOOKING_MS;
      const reason = (): string => `the git server took longer than ${ms / 1000} s`;
      const term = { clock, parent: signal, onParent: () => 'shutting down', ms, reason };
      await withLifetime(term, (life) => readMissing(wanted, life.signal, signal));
      const answer = new Map<string, Map<CommitOid, ReadonlySet<string> | null>>();
      for (const each of asked) {
        const payloads = answerFor(each, fleet);
        if (payloads === undefined) continue;
        if (!each.isAwaited) seen.set(keyOf(each), payloads);
        answer.set(each.pool, (answer.get(each.pool) ?? new Map()).set(each.commit, payloads));
      }
      return answer;
    },
  };

  function answerFor(asked: CommitToRender, fleet: Fleet): ReadonlySet<string> | null | undefined {
    const pool = kept.get(keyOf(asked));
    const known = asked.isAwaited ? undefined : seen.get(keyOf(asked));
    if (known !== undefined) return known;
    if (pool === undefined) return missing.get(asked.commit)?.isGone === true ? null : undefined;
    try {
      return new Set(pool === null ? [] : rendered(pool, fleet));
    } catch (error) {
      missed(asked.commit, error);
      return undefined;
    }
  }
}

/** Of a commit that could not be read. */
interface Missing {
  /** When it may be read again. */
  readonly from: Millis;
  readonly because: string;
  /** Not for want of an answer: there is none to be had. */
  readonly isGone: boolean;
}

const keyOf = ({ pool, commit }: CommitToRender): string => `${commit} ${pool}`;

/** In the order of their names, those first that follow the one that was last: however many there are, each has its turn. */
function inTurn<T>(
  commits: readonly (readonly [CommitOid, T])[],
  last: CommitOid,
): readonly (readonly [CommitOid, T])[] {
  const sorted = commits.toSorted(([a], [b]) => (a < b ? -1 : 1));
  return [...sorted.filter(([commit]) => commit > last), ...sorted.filter(([commit]) => commit <= last)];
}

/** Where its fields were written holds on to all of its files. */
function withoutSource(pool: ValidPool): ValidPool {
  const { positionOf: _, ...rest } = pool;
  return rest;
}

const NOT_SERVED =
  'the branch no longer has it, the git server does not serve it, or the folder of the configuration was not there yet';

/** In the bytes of this release and, where the cluster has the same in those of another one, in these. */
function rendered(pool: ValidPool, fleet: Fleet): readonly string[] {
  const payloads = pool.template === undefined ? [pool] : payloadsOfNodes(pool, fleet);
  return payloads.flatMap((each) => [each.sha256, desiredConfigOf(each, fleet.configSources).sha256]);
}

function payloadsOfNodes(pool: ValidPool, fleet: Fleet): readonly ValidPool[] {
  const sort = createClassifier(pool);
  const payloads = new Set<ValidPool>();
  for (const node of membersOfPools([pool], fleet).members.get(pool.name) ?? []) {
    const { metadata, status } = fleet.kubeletNodes.get(node.name) ?? {};
    const machine = { ...node, numaNodes: status?.numaNodes };
    const { pool: filled } = sort(machine, metadata?.annotations?.[MACHINE_ANNOTATION]).class;
    if (filled !== undefined) payloads.add(filled);
  }
  return [...payloads];
}
