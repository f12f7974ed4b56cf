import { fromTimestamp, type Millis, toTimestamp } from '#shared/runtime/clock.ts';
import type { CommitOid } from '../commit-snapshot.ts';
import type { Follows } from '../config-repo/loaded-repo.ts';
import { isMap } from '#shared/runtime/maps.ts';
import { type Candidate, type LineCommit, MOST_CANDIDATES, type Waiting } from './choose-commit.ts';
import { type Counterparts, MOST_APPROVED, MOST_POOLS, type UnprovedPool } from './counterparts.ts';
import { MOST_SEEN, type SeenCommit } from './seen-commits.ts';
import type { SeenSerial } from './notes-serial.ts';

/** What is kept over restarts and takeovers of a cluster that follows others. */
export interface FollowingRecord {
  readonly follows: Follows;
  readonly candidates: readonly Candidate[];
  /** What settled in this cluster, by tree and by what it reads of it; the newest last. */
  readonly settledHere: readonly string[];
  /** Where the layers lie of the commit that settled here last; null before the first. */
  readonly layersIn: readonly string[] | null;
  /** The commit in force at the last look, and what was refused since it is. */
  readonly inForce: CommitOid;
  readonly refused: readonly CommitOid[];
  readonly waiting: Waiting;
  /** What a person let through last; null for nothing. */
  readonly released: ReleasedCommit | null;
  /** Followed clusters that say nothing of newer commits, since when, and the newest that they spoke of; '' for none. */
  readonly silent: readonly Silence[];
  /** The newest first. */
  readonly seen: readonly SeenCommit[];
  /** The newest signed notes that were seen of each cluster, by key. */
  readonly serials: readonly SeenSerial[];
  /** What they prove nothing of in the commit that is next; null for no commit. */
  readonly counterparts: Counterparts | null;
  /** What this cluster has proven itself, see `proofId`; nothing where it need not be proven elsewhere. */
  readonly provenHere: readonly string[];
}

export interface ReleasedCommit {
  readonly oid: CommitOid;
  /** Who, when and why. */
  readonly said: string;
  /** Others settled it, and a person approved what they have not proven of it. Absent: it did not wait for them. */
  readonly isApproved?: true;
}

export interface Silence {
  readonly cluster: string;
  readonly after: CommitOid;
  readonly since: Millis;
}

/** Two names for a commit. */
const MOST_NAMES = 128;

const NOBODY_WAITS: Waiting = { commits: 0, next: null, clusters: [] };

export const newRecord = (follows: Follows): FollowingRecord => ({
  follows,
  candidates: [],
  settledHere: [],
  layersIn: null,
  inForce: '',
  refused: [],
  waiting: NOBODY_WAITS,
  released: null,
  silent: [],
  seen: [],
  serials: [],
  counterparts: null,
  provenHere: [],
});

export const withSettled = (names: readonly string[], { tree, here = tree }: LineCommit): readonly string[] =>
  [...new Set([...names.filter((each) => each !== tree && each !== here), here, tree])].slice(-MOST_NAMES);

/** The record as if the clock had always shown its present time. */
export function shiftRecord(record: FollowingRecord, by: Millis): FollowingRecord {
  if (by === 0) return record;
  const later = <T extends { readonly since: Millis }>(each: T): T => ({ ...each, since: each.since + by });
  const { candidates, silent, seen, serials } = record;
  return {
    ...record,
    candidates: candidates.map(later),
    silent: silent.map(later),
    serials: serials.map(later),
    seen: seen.map((each) => ({ ...each, said: each.said.map(later) })),
  };
}

/** The silences after one more look. Only a word on a newer commit ends one: notes that cannot be read, and what came into force, do not. */
export function silencesAfter(
  before: readonly Silence[],
  tip: CommitOid | undefined,
  { clusters }: Waiting,
  now: Millis,
): readonly Silence[] {
  return clusters.flatMap(({ cluster, newest }): readonly Silence[] => {
    if (tip === undefined || newest?.oid === tip) return [];
    const last = before.find((each) => each.cluster === cluster);
    const after = newest?.oid ?? last?.after ?? '';
    return [{ cluster, after, since: Math.min(last?.after === after ? last.since : now, now) }];
  });
}

/** Times are RFC 3339. */
export function writeFollowing(record: FollowingRecord): string {
  const { candidates, silent, seen, serials, waiting } = record;
  // Rounded up: no second of the time is given away.
  const text = (at: Millis): string => toTimestamp(Math.ceil(at / 1000) * 1000);
  const dated = (each: { readonly since: Millis }): unknown => ({ ...each, since: text(each.since) });
  const next = waiting.next === null ? null : { ...waiting.next, at: text(waiting.next.at) };
  return JSON.stringify({
    ...record,
    candidates: candidates.map(dated),
    silent: silent.map(dated),
    seen: seen.map((each) => ({ ...each, said: each.said.map(dated) })),
    serials: serials.map(dated),
    waiting: { ...waiting, next },
  });
}

/**
 * Reads the record back. What is damaged in it counts as not seen yet.
 *
 * @returns null where there is none, undefined where it says no more whom the cluster follows
 */
export function readFollowing(text: string): FollowingRecord | null | undefined {
  if (text === '') return null;
  try {
    const read = JSON.parse(text) as Readonly<Record<string, unknown>>;
    const { clusters, settledFor, signers, require } = (read as unknown as FollowingRecord).follows;
    const released = read['released'] as Readonly<Record<string, unknown>> | null | undefined;
    if (!Array.isArray(clusters) || clusters.length === 0 || typeof settledFor !== 'string') return undefined;
    return {
      follows: {
        clusters: clusters.map(String),
        settledFor,
        ...(signers && { signers: signersIn(signers) }),
        ...(require === 'payloads' && { require }),
      },
      candidates: datedIn(read['candidates']).flatMap(({ oid, since }) =>
        typeof oid === 'string' ? [{ oid, since }] : [],
      ),
      settledHere: textsIn(read['settledHere']).slice(-MOST_NAMES),
      layersIn: Array.isArray(read['layersIn']) ? textsIn(read['layersIn']) : null,
      inForce: String(read['inForce']),
      refused: textsIn(read['refused']).slice(0, MOST_CANDIDATES),
      waiting: waitingIn(read['waiting']),
      released: released
        ? { ...textsOf(released, 'oid', 'said'), ...(released['isApproved'] === true && { isApproved: true }) }
        : null,
      silent: datedIn(read['silent']).map(({ cluster, after, since }) => ({
        cluster: String(cluster),
        after: String(after),
        since,
      })),
      seen: seenIn(read['seen']),
      provenHere: textsIn(read['provenHere']),
      counterparts: counterpartsIn(read['counterparts']),
      serials: datedIn(read['serials']).flatMap(({ cluster, key, serial, tip, since }) =>
        typeof serial === 'number'
          ? [{ cluster: String(cluster), key: String(key), serial, tip: String(tip), since }]
          : [],
      ),
    };
  } catch {
    return undefined;
  }
}

function counterpartsIn(value: unknown): Counterparts | null {
  if (!isMap(value) || typeof value['commit'] !== 'string') return null;
  const { commit, more } = value;
  const pools = mapsIn(value['pools'], MOST_POOLS).map((each): UnprovedPool => ({
    ...textsOf(each, 'pool', 'payload', 'configName', 'sha256', 'since'),
    isKnown: each['isKnown'] === true,
    classes: textsIn(each['classes']),
  }));
  return {
    commit,
    pools,
    more: typeof more === 'number' ? more : 0,
    approved: mapsIn(value['approved'], MOST_APPROVED).map((each) => textsOf(each, 'pool', 'payload', 'by', 'at')),
    isRead: value['isRead'] === true,
    isHeld: value['isHeld'] === true,
  };
}

const mapsIn = (value: unknown, most: number): readonly Readonly<Record<string, unknown>>[] =>
  Array.isArray(value) ? value.slice(0, most).filter(isMap) : [];

const textsOf = <K extends string>(
  value: Readonly<Record<string, unknown>>,
  ...keys: readonly K[]
): Readonly<Record<K, string>> =>
  Object.fromEntries(keys.map((key) => [key, String(value[key])])) as Readonly<Record<K, string>>;

const signersIn = (signers: object): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries(Object.entries(signers).map(([cluster, keys]) => [cluster, textsIn(keys)]));

type Dated = Readonly<Record<string, unknown>> & { readonly since: Millis };

function datedIn(value: unknown): readonly Dated[] {
  if (!Array.isArray(value)) return [];
  return value.slice(0, MOST_CANDIDATES).flatMap((each: Readonly<Record<string, unknown>> | null) => {
    const since = typeof each?.['since'] === 'string' ? fromTimestamp(each['since']) : undefined;
    return since === undefined ? [] : [{ ...each, since }];
  });
}

function seenIn(value: unknown): readonly SeenCommit[] {
  if (!Array.isArray(value)) return [];
  return value.slice(0, MOST_SEEN).flatMap((each: Readonly<Record<string, unknown>> | null) => {
    const { oid, subject, said } = each ?? {};
    if (typeof oid !== 'string' || typeof subject !== 'string') return [];
    const words = datedIn(said).map(({ cluster, note, since }) => ({
      cluster: String(cluster),
      note: String(note),
      since,
    }));
    return [{ oid, subject, said: words }];
  });
}

function waitingIn(value: unknown): Waiting {
  const { commits, clusters, held, ...rest } = (value ?? {}) as Partial<Waiting>;
  const next = rest.next as Readonly<Record<string, unknown>> | null | undefined;
  const at = typeof next?.['at'] === 'string' ? fromTimestamp(next['at']) : undefined;
  if (typeof commits !== 'number' || !Array.isArray(clusters)) return NOBODY_WAITS;
  return {
    commits,
    next: !next || at === undefined ? null : { oid: String(next['oid']), at },
    ...(Array.isArray(held) && { held: textsIn(held).slice(0, MOST_CANDIDATES) }),
    clusters,
  };
}

const textsIn = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
