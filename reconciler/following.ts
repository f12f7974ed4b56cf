import { isDeepStrictEqual } from 'node:util';
import { type Clock, type Millis, toTimestamp } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { ChooseCommit } from './branch.ts';
import { createNotesLook, type LookedAt } from './followed-notes.ts';
import type { CandidateChanges } from './candidate-changes.ts';
import type { FollowedRepository } from './git/following/followed-repository.ts';
import type { RewritePolicy } from './policy/commit-admission/refuse-commit.ts';
import type { CommitOid } from './policy/commit-snapshot.ts';
import type { Follows, LoadedRepo } from './policy/config-repo/loaded-repo.ts';
import { readsOf } from './policy/following/own-reads.ts';
import { type ClockReading, clockJump } from './policy/first-seen/clock-jump.ts';
import {
  chooseCommit,
  type FollowingChoice,
  type FollowingLook,
  MOST_CANDIDATES,
} from './policy/following/choose-commit.ts';
import {
  type Counterparts,
  type GivenApproval,
  judgeApprovals,
  type JudgedPools,
  nextCounterparts,
  type UnprovedPool,
  unprovedPools,
  withApproved,
} from './policy/following/counterparts.ts';
import { type PayloadProof, provenHere } from './policy/following/payload-proofs.ts';
import { isSameEvidence, settledForMs } from './policy/following/follows.ts';
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
import { letThrough } from './policy/following/let-through.ts';
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
  readonly changes: CandidateChanges;
  /** What nodes of this cluster have proven, as its pools say. */
  readonly proven: () => readonly PayloadProof[];
  /** By pool, what a person let go on last, as the annotations have it. */
  readonly approvals: () => ReadonlyMap<string, GivenApproval>;
  /** How far this machine's clock is ahead of that of the leader before. */
  readonly ahead: () => Millis;
}

export function createFollowing(ports: FollowingPorts): Following {
  const { cluster, repository, onRewrite, clock, log, ahead } = ports;
  let held: FollowingRecord | null = null;
  let clocks: ClockReading | null = null;
  const notesOf = createNotesLook(ports);

  function atPresent({ follows, inForce, recorded }: FollowingQuestion): FollowingRecord {
    const reading = { wall: clock.now(), monotonic: clock.monotonic() };
    const jump = clockJump(clocks, reading);
    clocks = reading;
    const before =
      held === null
        ? shiftRecord(readFollowing(recorded.following) ?? newRecord(follows), ahead())
        : shiftRecord(held, jump);
    return {
      ...before,
      follows,
      // Nobody has seen yet what others say of them.
      candidates: isSameEvidence(before.follows, follows) ? before.candidates : [],
      inForce,
      refused: before.inForce === inForce ? refusedAfter(before.refused, recorded.refusedCommit) : [],
    };
  }

  /** The newest commit of which followed clusters have proven what it changes here, where they have to; and what they lack for the next one. */
  async function chosen(
    look: FollowingLook,
    follows: Follows,
    before: FollowingRecord,
    proven: LookedAt['proven'],
    signal: AbortSignal,
  ): Promise<{
    readonly choice: FollowingChoice;
    readonly counterparts: Counterparts | null;
    readonly judged: JudgedPools | null;
  }> {
    const approvals = ports.approvals();
    const here = new Set(before.provenHere);
    const { pools: asked = [], approved = [] } = before.counterparts ?? {};
    const lacking = async (commit: CommitOid, isFresh: boolean): Promise<readonly UnprovedPool[] | null> => {
      const changed = await ports.changes.of(commit, isFresh, signal);
      return changed && unprovedPools(changed, proven, here, asked, look.now);
    };
    const judge = (pools: readonly UnprovedPool[] | null): JudgedPools | null =>
      pools && judgeApprovals(pools, approved, approvals, look.now);
    const isLet = (pools: readonly UnprovedPool[] | null): boolean => judge(pools)?.waiting.length === 0;
    const isAsked = follows.require === 'payloads';
    const counted = (commit: CommitOid, pools: readonly UnprovedPool[] | null): Counterparts =>
      nextCounterparts(commit, pools, before.counterparts, approvals, isAsked, look.now);
    const held = new Set<CommitOid>();
    let counterparts: Counterparts | null = null;
    let judged: JudgedPools | null = null;
    let choice = chooseCommit(look);
    while (follows.require === 'payloads' && choice.grounds === 'settled' && choice.commit !== null) {
      const { commit } = choice;
      const known = await lacking(commit, false);
      // What lets a commit into force is read of the nodes that there are now.
      // One that is refused is tried again at every look.
      const pools = isLet(known) && !look.refused.has(commit) ? await lacking(commit, true) : known;
      if (isLet(pools)) {
        judged = judge(pools);
        break;
      }
      counterparts ??= counted(commit, pools);
      choice = chooseCommit({ ...look, held: held.add(commit) });
    }
    if (isAsked && choice.grounds === 'released' && choice.commit !== null)
      judged = judge(await lacking(choice.commit, true));
    const through = judged?.approved ?? [];
    const next = choice.waiting.next?.oid ?? (through.length > 0 ? choice.commit : null);
    if (counterparts === null && next !== null) counterparts = counted(next, await lacking(next, false));
    // Nothing was seen: what a person said of the commit stays.
    const isAhead = look.line.some(({ oid }) => oid === before.counterparts?.commit);
    if (counterparts === null && isAhead && [...look.notes.values()].includes(null)) counterparts = before.counterparts;
    // It may take some time until what was chosen can be read: until it is in force, nobody is asked again.
    return { choice, judged, counterparts: counterparts && withApproved(counterparts, through) };
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
      const { notes, distrusted, serials, proven } = await notesOf(follows, commits, before.serials, signal);
      const now = clock.now();
      const settledHere = isSettled ? withSettled(before.settledHere, line.inForce) : before.settledHere;
      const look: FollowingLook = {
        inForce: line.inForce,
        line: line.commits,
        clusters: follows.clusters,
        settledForMs: settledForMs(follows),
        notes,
        distrusted,
        candidates: before.candidates,
        settledHere: new Set(settledHere),
        released: released?.oid ?? null,
        refused: new Set(before.refused),
        held: new Set(),
        now,
      };
      const own = follows.require === undefined ? [] : provenHere(before.provenHere, ports.proven());
      const { choice, counterparts, judged } = await chosen(
        look,
        follows,
        { ...before, provenHere: own },
        proven,
        signal,
      );
      const { candidates, waiting, commit, grounds } = choice;
      const silent = silencesAfter(before.silent, line.commits.at(-1)?.oid, waiting, now);
      held = {
        ...before,
        candidates,
        settledHere,
        layersIn,
        waiting,
        released: letThrough(choice, released, judged) ?? before.released,
        silent,
        seen: seenCommits(look, waiting, before.seen),
        serials,
        counterparts,
        provenHere: own,
      };
      const isNew = commit !== null && !look.refused.has(commit);
      if (isNew) log.info({ commit, grounds, candidates: candidates.length }, 'commit chosen');
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
