import type { Approval, AwaitedApproval } from '#shared/contract/api/approval.ts';
import { type Millis, toTimestamp } from '#shared/runtime/clock.ts';
import { firstFew } from '#shared/runtime/first-few.ts';
import type { CommitOid } from '../commit-snapshot.ts';
import type { ChangedPool } from './changed-pools.ts';
import { payloadId, type PayloadProofs, proofId } from './payload-proofs.ts';

/** A pool of a commit of which no followed cluster has proven what its nodes get. */
export interface UnprovedPool extends AwaitedApproval, Pick<ApprovedPool, 'pool' | 'payload'> {
  /** Whether a followed cluster has proven anything of a pool of this name. */
  readonly isKnown: boolean;
  /** A few of the classes that lack it; none for a pool that computes nothing. */
  readonly classes: readonly string[];
}

/** A pool of the commit that is next which a person let through. */
export interface ApprovedPool {
  readonly pool: string;
  /** A short name for the payload as the pool applies it: in another way, it asks again. */
  readonly payload: string;
  /** Who, as the annotation says; '' where it does not. */
  readonly by: string;
  /** When it was seen, RFC 3339. */
  readonly at: string;
}

/** What a person wrote onto a pool. */
export interface GivenApproval extends Approval {
  /** Who they say they are; '' where they do not. */
  readonly by: string;
}

/** Pools that followed clusters have not proven. */
export interface JudgedPools {
  readonly waiting: readonly UnprovedPool[];
  readonly approved: readonly ApprovedPool[];
}

/** What followed clusters have no counterpart for. */
export interface Counterparts {
  readonly commit: CommitOid;
  /** Those that nobody approved, the longest first, as many as are named. */
  readonly pools: readonly UnprovedPool[];
  /** How many more there are: each is named when one before it is approved. */
  readonly more: number;
  readonly approved: readonly ApprovedPool[];
  /** Whether the commit, and what it would change, could be read. Otherwise it waits, with what was found at the look before. */
  readonly isRead: boolean;
  /** They hold the commit up until a person approves. */
  readonly isHeld: boolean;
}

const MOST_NAMES = 3;
export const MOST_POOLS = 20;
/** As many as a repository has pools: what is approved is not asked for again. */
export const MOST_APPROVED = 1_000;

/**
 * The pools that a commit changes and that no followed cluster has proven: neither this payload nor this class will do. A list that is not
 * whole, or cannot be read, proves nothing.
 *
 * @param here   what this cluster has proven itself, see `proofId`
 * @param before what was found at the last look: what waits since then still does
 */
export function unprovedPools(
  changed: readonly ChangedPool[],
  proven: ReadonlyMap<string, PayloadProofs | null>,
  here: ReadonlySet<string>,
  before: readonly UnprovedPool[],
  now: Millis,
): readonly UnprovedPool[] {
  const whole = [...proven.values()].flatMap((each) => (each?.isWhole === true ? each.proofs : []));
  const pairs = new Set(whole.map((proof) => proofId(proof.payload, proof.class)));
  const known = new Set(whole.map(({ pool }) => pool));
  return changed.flatMap(({ pool, configName, sha256, payload: identity, classes }) => {
    const missing = classes.filter(
      ({ name, payloads }) =>
        !payloads.some((payload) => pairs.has(proofId(payload, name)) || here.has(proofId(payload, name))),
    );
    if (missing.length === 0) return [];
    const names = missing.flatMap(({ name }) => (name === '' ? [] : [name])).slice(0, MOST_NAMES);
    const payload = payloadId(identity);
    const { since = toTimestamp(now) } = before.find((each) => each.pool === pool && each.payload === payload) ?? {};
    return [{ pool, configName, sha256, payload, since, isKnown: known.has(pool), classes: names }];
  });
}

/**
 * Which pools wait, and which a person let through.
 *
 * @param before    what was approved already: the annotation has room for one approval
 * @param approvals by pool, what a person let go on last
 */
export function judgeApprovals(
  pools: readonly UnprovedPool[],
  before: readonly ApprovedPool[],
  approvals: ReadonlyMap<string, GivenApproval>,
  now: Millis,
): JudgedPools {
  const known = new Map(before.map((each) => [each.pool, each]));
  const waiting: UnprovedPool[] = [];
  const approved: ApprovedPool[] = [];
  for (const each of pools) {
    const { pool, sha256, payload, since } = each;
    const approval = approvals.get(pool);
    const isMeant = approval?.sha256 === sha256 && approval.since === since && approval.wave === undefined;
    const last = known.get(pool);
    if (last?.payload === payload) approved.push(last);
    else if (isMeant) approved.push({ pool, payload, by: approval.by, at: toTimestamp(now) });
    else waiting.push(each);
  }
  return { waiting, approved };
}

/** @param found null where the commit, or what it would change, cannot be read: what was asked and approved before stays */
export function nextCounterparts(
  commit: CommitOid,
  found: readonly UnprovedPool[] | null,
  before: Counterparts | null,
  approvals: ReadonlyMap<string, GivenApproval>,
  isHeld: boolean,
  now: Millis,
): Counterparts {
  const { pools = [], more = 0, approved: last = [] } = before ?? {};
  const { waiting, approved } = judgeApprovals(found ?? pools, last, approvals, now);
  if (found === null)
    return {
      commit,
      pools: waiting,
      more,
      approved: [...last, ...approved].slice(-MOST_APPROVED),
      isRead: false,
      isHeld,
    };
  const named = waiting.toSorted((one, other) => one.since.localeCompare(other.since)).slice(0, MOST_POOLS);
  return {
    commit,
    pools: named,
    more: waiting.length - named.length,
    approved: approved.slice(-MOST_APPROVED),
    isRead: true,
    isHeld,
  };
}

/** With what was approved of another commit. */
export function withApproved(counterparts: Counterparts, others: readonly ApprovedPool[]): Counterparts {
  const known = new Set(counterparts.approved.map(({ pool }) => pool));
  const more = others.filter(({ pool }) => !known.has(pool));
  return { ...counterparts, approved: [...counterparts.approved, ...more].slice(-MOST_APPROVED) };
}

/** What a person is asked for, by pool. */
export const awaitedIn = (counterparts: Counterparts | null): ReadonlyMap<string, AwaitedApproval> =>
  new Map(
    (counterparts?.isHeld === true ? counterparts.pools : []).map(
      ({ pool, configName, sha256, since }) => [pool, { configName, sha256, since }] as const,
    ),
  );

/** `staging proves nothing of gpu`; '' for nothing. For a condition, `plan` and the status page. */
export function sayUnproved(pools: readonly UnprovedPool[], clusters: readonly string[]): string {
  const names = clusters.join(' and ');
  const [known, unknown] = [true, false].map((is) => pools.filter(({ isKnown }) => isKnown === is));
  const one = clusters.length === 1;
  return [
    ...(unknown?.length ? [`${names} ${one ? 'proves' : 'prove'} nothing of ${listed(unknown)}`] : []),
    ...(known?.length ? [`${names} ${one ? 'has' : 'have'} not proven what ${listed(known)} would get`] : []),
  ].join('; ');
}

const listed = (pools: readonly UnprovedPool[]): string =>
  firstFew(
    pools.map(({ pool, classes }) => (classes.length === 0 ? pool : `${pool} (${classes.join('; ')})`)),
    5,
  );
