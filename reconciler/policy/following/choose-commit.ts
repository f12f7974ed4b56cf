import type { Millis } from '#shared/runtime/clock.ts';
import type { CommitOid } from '../commit-snapshot.ts';

/** A commit of the branch. */
export interface LineCommit {
  readonly oid: CommitOid;
  /** Names what clusters read of it: where it is equal, they read the same. */
  readonly tree: string;
  /** Names what this cluster reads of it, as `OwnReads` says. Absent where that is unknown. */
  readonly here?: string;
  /** Its first line, for people. Absent where it was not read. */
  readonly subject?: string;
}

/** What the note of a followed cluster says of a commit: an outcome, or that its place on the ref cannot be read. */
export type SeenNote = string;
export const UNREADABLE: SeenNote = 'unreadable';
/** The entry for the commit is not a note that this version can read. */
export const NOT_A_NOTE: SeenNote = 'not-a-note';

/** Notes of a followed cluster by commit, no entry for none; null where its notes cannot be read just now. */
export type SeenNotes = ReadonlyMap<CommitOid, SeenNote> | null;

/** A commit that all followed clusters call settled. */
export interface Candidate {
  readonly oid: CommitOid;
  /** Since when that was seen at every look, by our own clock. */
  readonly since: Millis;
}

/** What one look at the branch and at the notes of followed clusters shows. */
export interface FollowingLook {
  readonly inForce: LineCommit;
  /** First parents after the one in force up to the tip, the oldest first. */
  readonly line: readonly LineCommit[];
  /** At least one. */
  readonly clusters: readonly string[];
  readonly settledForMs: Millis;
  readonly notes: ReadonlyMap<string, SeenNotes>;
  /** By cluster, why its notes do not count: they are not in `notes`. */
  readonly distrusted: ReadonlyMap<string, string>;
  /** As the last look left them. */
  readonly candidates: readonly Candidate[];
  /** What settled in this cluster, by `tree` and by `here`. */
  readonly settledHere: ReadonlySet<string>;
  /** What a person let through. */
  readonly released: CommitOid | null;
  /** Refused while the present commit is in force, by limits or for want of a signature. */
  readonly refused: ReadonlySet<CommitOid>;
  /** That followed clusters settled without having proven what they change here, and nobody approved. */
  readonly held: ReadonlySet<CommitOid>;
  readonly now: Millis;
}

/** Why a commit may come into force now. */
export type Grounds = 'settled' | 'settled-here' | 'released' | 'unchanged';

export interface FollowingChoice {
  /** To bring into force; null: the present one stays. */
  readonly commit: CommitOid | null;
  readonly grounds: Grounds | null;
  readonly candidates: readonly Candidate[];
  readonly waiting: Waiting;
}

/** What is not in force yet, and for whom it waits. */
export interface Waiting {
  /** Commits ahead of the one that stays or comes into force. */
  readonly commits: number;
  /** The candidate whose time is over first; where all of them wait for a person, the newest. */
  readonly next: { readonly oid: CommitOid; readonly at: Millis } | null;
  /** Candidates whose time is over and that wait for a person. Absent for none. */
  readonly held?: readonly CommitOid[];
  readonly clusters: readonly WaitsFor[];
}

/** The newest commit of the line that a cluster says anything of; null for none. */
export interface WaitsFor {
  readonly cluster: string;
  readonly newest: { readonly oid: CommitOid; readonly note: SeenNote } | null;
  /** Its notes cannot be read. */
  readonly unreadable: boolean;
  /** Why they do not count; completes "its notes …". Absent: they do. */
  readonly distrusted?: string;
}

export const MOST_CANDIDATES = 64;

/** Commits that clusters read the same of. */
interface Group {
  readonly tree: string;
  readonly here: string | undefined;
  /** The oldest first. */
  readonly members: readonly CommitOid[];
  readonly newest: CommitOid;
}

type Verdict = 'settled' | 'unknown' | 'other';

/**
 * The commit that is to come into force: the newest of the line that all followed clusters call settled and did for long enough at every
 * look, that settled in this cluster before, or that a person released. Where the newest of these is refused, the older ones in order; where
 * all are, the newest again: so it stays said that it is refused, and it is judged by the keys that are trusted by now.
 */
export function chooseCommit(look: FollowingLook): FollowingChoice {
  const groups = groupsOf(look.line);
  const verdicts = new Map(groups.map((group) => [group.tree, verdictOn(group, look)]));
  const candidates = nextCandidates(groups, verdicts, look);
  const since = new Map(candidates.map((candidate) => [candidate.oid, candidate.since]));

  const groundsOf = ({ tree, here, members, newest }: Group): Grounds | null => {
    if (tree === look.inForce.tree) return 'unchanged';
    if (look.settledHere.has(tree) || (here !== undefined && look.settledHere.has(here))) return 'settled-here';
    const from = verdicts.get(tree) === 'settled' ? since.get(newest) : undefined;
    if (from !== undefined && look.now - from >= look.settledForMs && !look.held.has(newest)) return 'settled';
    return members.some((oid) => oid === look.released) ? 'released' : null;
  };
  const ripe = groups.flatMap((group) => {
    const grounds = groundsOf(group);
    return grounds === null ? [] : [{ oid: group.newest, grounds }];
  });
  const isRefused = ({ oid }: { readonly oid: CommitOid }): boolean => look.refused.has(oid);
  const newest = ripe.at(-1);
  const chosen = newest !== undefined && isRefused(newest) ? (ripe.find((each) => !isRefused(each)) ?? newest) : newest;
  const behind = chosen === undefined ? look.line : look.line.slice(positionOf(look.line, chosen.oid) + 1);
  return {
    commit: chosen?.oid ?? null,
    grounds: chosen?.grounds ?? null,
    candidates,
    waiting: waitingOf(behind, candidates, look),
  };
}

/** In the order of their newest members. */
function groupsOf(line: readonly LineCommit[]): readonly Group[] {
  const byTree = Map.groupBy(line, ({ tree }) => tree);
  const groups = [...byTree].map(([tree, all]) => {
    const members = all.map(({ oid }) => oid);
    return { tree, here: all[0]?.here, members, newest: members.at(-1) ?? '' };
  });
  const position = new Map(line.map(({ oid }, index) => [oid, index]));
  return groups.sort((a, b) => (position.get(a.newest) ?? 0) - (position.get(b.newest) ?? 0));
}

const positionOf = (line: readonly LineCommit[], oid: CommitOid): number => line.findIndex((each) => each.oid === oid);

/**
 * By the newest member that each cluster has a note of: what it said of an older one may have changed with it. Nothing is settled where
 * notes do not count: who hides newer ones could show some of before that nobody has seen, and these would seem to be fresh.
 */
function verdictOn({ members }: Group, { clusters, notes, distrusted }: FollowingLook): Verdict {
  const each = clusters.map((cluster): Verdict => {
    const seen = notes.get(cluster) ?? null;
    if (seen === null) return distrusted.has(cluster) ? 'other' : 'unknown';
    const newest = members.findLast((oid) => seen.has(oid));
    const note = newest === undefined ? undefined : seen.get(newest);
    return note === 'settled' ? 'settled' : note === UNREADABLE ? 'unknown' : 'other';
  });
  if (each.includes('other')) return 'other';
  return each.includes('unknown') ? 'unknown' : 'settled';
}

/** What could not be seen changes nothing of what is recorded, and adds nothing. */
function nextCandidates(
  groups: readonly Group[],
  verdicts: ReadonlyMap<string, Verdict>,
  { candidates, held, now }: FollowingLook,
): readonly Candidate[] {
  const recorded = new Map(candidates.map(({ oid, since }) => [oid, since]));
  const kept: Candidate[] = [];
  let fresh: Candidate[] = [];
  for (const { tree, members, newest } of groups) {
    const verdict = verdicts.get(tree);
    const times = members.flatMap((oid) => recorded.get(oid) ?? []);
    if (times.length > 0 && verdict !== 'other') {
      kept.push({ oid: newest, since: Math.min(now, ...times) });
      // Only what is newer than all of them takes the place of one.
      if (kept.length >= MOST_CANDIDATES) fresh = [];
    } else if (verdict === 'settled') fresh.push({ oid: newest, since: now });
  }
  const room = MOST_CANDIDATES - kept.length;
  // Of those that are seen at once, the newest stand for the older ones.
  if (room > 0) return [...kept, ...fresh.slice(-room)];
  // Who waits for a person may do so for good: the oldest of them make room, since the newer ones are on top of them.
  const leaving = kept.filter(({ oid }) => held.has(oid)).slice(0, fresh.length);
  const left = kept.filter((each) => !leaving.includes(each));
  return [...left, ...(leaving.length > 0 ? fresh.slice(-leaving.length) : [])].slice(0, MOST_CANDIDATES);
}

function waitingOf(
  behind: readonly LineCommit[],
  candidates: readonly Candidate[],
  { clusters, notes, distrusted, line, settledForMs, held }: FollowingLook,
): Waiting {
  const ahead = new Set(behind.map(({ oid }) => oid));
  const times = candidates
    .filter(({ oid }) => ahead.has(oid))
    .map(({ oid, since }) => ({ oid, at: since + settledForMs }));
  const waiting = times.filter(({ oid }) => held.has(oid));
  const next = times
    .filter((each) => !waiting.includes(each))
    .reduce<Waiting['next']>((first, each) => (first === null || each.at < first.at ? each : first), null);
  const waits = clusters.map((cluster): WaitsFor => {
    const seen = notes.get(cluster) ?? null;
    const oid = seen === null ? undefined : line.findLast((each) => seen.has(each.oid))?.oid;
    return {
      cluster,
      newest: oid === undefined ? null : { oid, note: seen?.get(oid) ?? '' },
      unreadable: seen === null && !distrusted.has(cluster),
      ...(distrusted.has(cluster) ? { distrusted: distrusted.get(cluster) ?? '' } : {}),
    };
  });
  return {
    commits: behind.length,
    next: next ?? waiting.at(-1) ?? null,
    ...(waiting.length === 0 ? {} : { held: waiting.map(({ oid }) => oid) }),
    clusters: waits,
  };
}
