import { MACHINE_ANNOTATION } from '#shared/contract/api/group.ts';
import { askedToWaitMs } from '#shared/kube/kube-error.ts';
import type { Clock, Millis } from '#shared/runtime/clock.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import { withLifetime } from '#shared/runtime/lifetime.ts';
import type { Log } from '#shared/runtime/log.ts';
import { permanentFailure } from './git/errors.ts';
import type { GitSource } from './git/source-port.ts';
import type { AcceptedCommitsOptions } from './policy/commit-admission/accepted-commits.ts';
import type { CommitOid } from './policy/commit-snapshot.ts';
import { desiredConfigOf } from './policy/config-map-name.ts';
import type { LoadedRepo, ValidPool } from './policy/config-repo/loaded-repo.ts';
import { createClassifier } from './policy/config-repo/pool-of-class.ts';
import type { Fleet } from './policy/fleet.ts';
import type { CommitToRender } from './policy/rollout/commits-to-render.ts';
import { membersOfPools } from './policy/pool-members.ts';

/** What earlier commits render, read from git again: others may write the record in the cluster that names them. */
export interface EarlierRenderings {
  /**
   * By pool, the SHA-256s of the payloads that the commit renders for it: of a pool with computed values, for each node that it selects
   * and the cluster has. None of a pool that the commit lacks or that is invalid in it. A pool is not in the answer while its commit
   * cannot be read. Takes at most `READING_MS`. Never rejects.
   *
   * @param inForce only what this commit comes from is read: one that was refused vouches for nothing
   */
  ask(
    asked: readonly CommitToRender[],
    inForce: CommitOid | null,
    fleet: Fleet,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, ReadonlySet<string>>>;
}

/** So many commits are kept, and answered for at a time. */
const MOST_COMMITS = 3;
/** A pass waits for it: a slow server must not hold up the fleet. */
const READING_MS: Millis = 30_000;
const AGAIN_MS: Millis = 60_000;

export function createEarlierRenderings(
  source: Pick<GitSource, 'earlier'>,
  load: AcceptedCommitsOptions['load'],
  clock: Clock,
  log: Log,
): EarlierRenderings {
  /** In the order in which they were read. */
  const kept = new Map<CommitOid, LoadedRepo>();
  let since: CommitOid = '';
  /** When commits that could not be read may be read again, and what was said of them. */
  const missing = new Map<CommitOid, { readonly from: Millis; readonly because: string }>();

  async function readMissing(wanted: ReadonlySet<CommitOid>, life: AbortSignal, parent: AbortSignal): Promise<void> {
    const now = clock.monotonic();
    for (const [commit, { from }] of missing) if (now >= from && !wanted.has(commit)) missing.delete(commit);
    for (const commit of wanted) {
      const spare = [...kept.keys()].find((each) => !wanted.has(each));
      const isFull = kept.size >= MOST_COMMITS;
      if (life.aborted || (isFull && spare === undefined)) return;
      if (kept.has(commit) || now < (missing.get(commit)?.from ?? now)) continue;
      const repo = await read(commit, life, parent);
      if (repo === undefined) continue;
      missing.delete(commit);
      if (isFull && spare !== undefined) kept.delete(spare);
      kept.set(commit, repo);
    }
  }

  async function read(commit: CommitOid, life: AbortSignal, parent: AbortSignal): Promise<LoadedRepo | undefined> {
    try {
      const snapshot = await source.earlier(commit, since, life);
      // By its own file: what the commit before it allowed is not known any more.
      if (snapshot !== null) return load(snapshot);
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
    missing.set(commit, { from: clock.monotonic() + Math.max(AGAIN_MS, waitMs), because });
  }

  return {
    async ask(asked, inForce, fleet, signal) {
      if (asked.length === 0 || inForce === null) return new Map();
      if (inForce !== since) kept.clear();
      since = inForce;
      const wanted = new Set(asked.map(({ commit }) => commit));
      const term = {
        clock,
        parent: signal,
        onParent: () => 'shutting down',
        ms: READING_MS,
        reason: () => TOOK_TOO_LONG,
      };
      await withLifetime(term, (life) => readMissing(wanted, life.signal, signal));
      const answer = new Map<string, ReadonlySet<string>>();
      for (const { pool: name, commit } of asked) {
        const repo = kept.get(commit);
        if (repo === undefined) continue;
        const pool = repo.pools.find((each) => each.name === name);
        try {
          const payloads = pool?.status === 'valid' ? rendered(pool, fleet) : [];
          answer.set(name, new Set([...(answer.get(name) ?? []), ...payloads]));
        } catch (error) {
          missed(commit, error);
        }
      }
      return answer;
    },
  };
}

const NOT_SERVED =
  'the branch no longer has it, the git server does not serve it, or the folder of the configuration was not there yet';
const TOOK_TOO_LONG = `the git server took longer than ${READING_MS / 1000} s`;

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
