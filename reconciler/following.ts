import { isDeepStrictEqual } from 'node:util';
import { type Clock, type Millis, toTimestamp } from '#shared/runtime/clock.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { ChooseCommit } from './branch.ts';
import type { FollowedRepository } from './git/following/followed-repository.ts';
import type { RewritePolicy } from './policy/commit-admission/refuse-commit.ts';
import type { CommitOid } from './policy/commit-snapshot.ts';
import type { Follows, LoadedRepo } from './policy/config-repo/loaded-repo.ts';
import { readsOf } from './policy/following/own-reads.ts';
import { type ClockReading, clockJump } from './policy/first-seen/clock-jump.ts';
import { chooseCommit, type FollowingLook, MOST_CANDIDATES, type SeenNotes } from './policy/following/choose-commit.ts';
import { settledForMs } from './policy/following/follows.ts';
import {
  type FollowingRecord,
  newRecord,
  readFollowing,
  type ReleasedCommit,
  shiftRecord,
  silencesAfter,
  withSettled,
  writeFollowing,
} from './policy/following/record.ts';
import { seenCommits } from './policy/following/seen-commits.ts';
import { readHistory } from './reporting/notes/commit-history.ts';
import type { SourceState } from './reporting/notes/source-state.ts';

/** Chooses the commit that comes into force where that depends on what other clusters say. */
export interface Following {
  /**
   * One look at the line of the branch and at the notes of followed clusters.
   *
   * @returns the commit that is to be in force: the present one while nothing else may be. Rejects with the `GitError` of a line that
   *   cannot be read
   */
  choose(question: FollowingQuestion, signal: AbortSignal): ReturnType<ChooseCommit>;
  /** The cluster follows none any more. */
  forget(): void;
  /** For the KubeletSource; null before the first look of this process. */
  record(): string | null;
}

export interface FollowingQuestion {
  readonly follows: Follows;
  readonly tip: CommitOid;
  readonly inForce: CommitOid;
  /** What that one says. */
  readonly repo: Pick<LoadedRepo, 'pools'>;
  /** As it is in the cluster. */
  readonly recorded: SourceState;
  /** What a person let through last. */
  readonly released: ReleasedCommit | null;
}

interface FollowingPorts {
  /** The name of this one. */
  readonly cluster: string;
  readonly repository: FollowedRepository;
  readonly onRewrite: RewritePolicy;
  readonly clock: Clock;
  readonly log: Log;
  /** How far this machine's clock is ahead of that of the leader before. */
  readonly ahead: () => Millis;
}

export function createFollowing({ cluster, repository, onRewrite, clock, log, ahead }: FollowingPorts): Following {
  let held: FollowingRecord | null = null;
  let clocks: ClockReading | null = null;
  const failing = new Map<string, string>();

  function atPresent({ follows, inForce, recorded }: FollowingQuestion): FollowingRecord {
    const reading = { wall: clock.now(), monotonic: clock.monotonic() };
    const jump = clockJump(clocks, reading);
    clocks = reading;
    const before =
      held === null
        ? shiftRecord(readFollowing(recorded.following) ?? newRecord(follows), ahead())
        : shiftRecord(held, jump);
    const areSame = isDeepStrictEqual(new Set(before.follows.clusters), new Set(follows.clusters));
    return {
      ...before,
      follows,
      // Nobody has seen yet what others say of them.
      candidates: areSame ? before.candidates : [],
      inForce,
      refused: before.inForce === inForce ? refusedAfter(before.refused, recorded.refusedCommit) : [],
    };
  }

  async function notesOf(
    clusters: readonly string[],
    commits: readonly CommitOid[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, SeenNotes>> {
    const notes = new Map<string, SeenNotes>();
    for (const cluster of clusters) {
      try {
        notes.set(cluster, await repository.notes(cluster, commits, signal));
        if (failing.delete(cluster)) log.info({ followed: cluster }, 'notes of the followed cluster can be read again');
      } catch (error) {
        if (signal.aborted) throw error;
        notes.set(cluster, null);
        const because = reasonOf(error);
        if (failing.get(cluster) !== because)
          log.warn({ followed: cluster, err: error }, 'notes of the followed cluster cannot be read');
        failing.set(cluster, because);
      }
    }
    return notes;
  }

  return {
    forget: () => void (held = null),
    record: () => (held === null ? null : writeFollowing(held)),
    async choose(question, signal) {
      const { follows, tip, inForce, recorded, released } = question;
      const before = atPresent(question);
      held = before;
      const isSettled = settledIn(recorded, inForce);
      const layersIn = isSettled ? readsOf(cluster, question.repo).layersIn : before.layersIn;
      const reads = layersIn === null ? undefined : { cluster, layersIn };
      const line = await repository.line(inForce, tip, signal, reads);
      // It is to be read, and refused.
      if (line.isRewritten && onRewrite === 'refuse') return { oid: tip, lineage: 'rewritten' };
      // The one in force only for people to see: it cannot be chosen.
      const commits = [line.inForce, ...line.commits].map(({ oid }) => oid);
      const notes = await notesOf(follows.clusters, commits, signal);
      const now = clock.now();
      const settledHere = isSettled ? withSettled(before.settledHere, line.inForce) : before.settledHere;
      const look: FollowingLook = {
        inForce: line.inForce,
        line: line.commits,
        clusters: follows.clusters,
        settledForMs: settledForMs(follows),
        notes,
        candidates: before.candidates,
        settledHere: new Set(settledHere),
        released: released?.oid ?? null,
        refused: new Set(before.refused),
        now,
      };
      const choice = chooseCommit(look);
      const { candidates, waiting, commit, grounds } = choice;
      const silent = silencesAfter(before.silent, line.commits.at(-1)?.oid, waiting, now);
      const letThrough = grounds === 'released' ? released : before.released;
      held = {
        ...before,
        candidates,
        settledHere,
        layersIn,
        waiting,
        released: letThrough,
        silent,
        seen: seenCommits(look, waiting, before.seen),
      };
      if (commit !== null) log.info({ commit, grounds, candidates: candidates.length }, 'commit chosen');
      else if (!isDeepStrictEqual(before.waiting, waiting)) {
        const next = waiting.next === null ? {} : { next: waiting.next.oid, at: toTimestamp(waiting.next.at) };
        log.info(
          { commits: waiting.commits, ...next, clusters: waiting.clusters },
          'commits wait for followed clusters',
        );
      }
      if (commit === null) return { oid: inForce, lineage: 'same' };
      return { oid: commit, lineage: line.isRewritten ? 'rewritten' : 'descendant' };
    },
  };
}

function refusedAfter(before: readonly CommitOid[], refused: CommitOid): readonly CommitOid[] {
  return refused === '' || before.includes(refused) ? before : [...before, refused].slice(-MOST_CANDIDATES);
}

const settledIn = ({ history }: SourceState, commit: CommitOid): boolean =>
  readHistory(history).some(({ oid, outcome }) => oid === commit && outcome === 'settled');
