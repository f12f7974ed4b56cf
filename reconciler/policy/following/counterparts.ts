import type { Approval, AwaitedApproval } from '#shared/contract/api/approval.ts';
import { type Millis, toTimestamp } from '#shared/runtime/clock.ts';
import { firstFew } from '#shared/runtime/first-few.ts';
import type { CommitOid } from '../commit-snapshot.ts';
import type { ChangedPool } from './changed-pools.ts';
import { type PayloadProofs, proofId } from './payload-proofs.ts';

/** A pool of a commit of which no followed cluster has proven what its nodes get. */
export interface UnprovedPool extends AwaitedApproval {
  readonly pool: string;
  /** Whether a followed cluster has proven anything of a pool of this name. */
  readonly isKnown: boolean;
  /** A person let it through. */
  readonly isApproved: boolean;
  /** A few of the classes that lack it; none for a pool that computes nothing. */
  readonly classes: readonly string[];
}

/** What followed clusters have no counterpart for. */
export interface Counterparts {
  readonly commit: CommitOid;
  /** null where the commit, or what it would change, could not be read. */
  readonly pools: readonly UnprovedPool[] | null;
  /** They hold the commit up until a person approves. */
  readonly isHeld: boolean;
}

const MOST_NAMES = 3;
/** Of those beyond, each is named when one before it is approved. */
export const MOST_POOLS = 20;

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
  return changed.flatMap(({ pool, configName, sha256, classes }) => {
    const missing = classes.filter(
      ({ name, payloads }) =>
        !payloads.some((payload) => pairs.has(proofId(payload, name)) || here.has(proofId(payload, name))),
    );
    if (missing.length === 0) return [];
    const names = missing.flatMap(({ name }) => (name === '' ? [] : [name])).slice(0, MOST_NAMES);
    const { since = toTimestamp(now), isApproved = false } =
      before.find((each) => each.pool === pool && each.sha256 === sha256) ?? {};
    return [{ pool, configName, sha256, since, isKnown: known.has(pool), isApproved, classes: names }];
  });
}

/** @param approvals by pool, what a person let go on last. The pools that still wait come first */
export function withApprovals(
  pools: readonly UnprovedPool[],
  approvals: ReadonlyMap<string, Approval>,
): readonly UnprovedPool[] {
  const judged = pools.map((each): UnprovedPool => {
    const approval = approvals.get(each.pool);
    // The annotation has room for one: what was approved before stays so.
    const isMeant =
      each.isApproved ||
      (approval?.sha256 === each.sha256 && approval.since === each.since && approval.wave === undefined);
    return { ...each, isApproved: isMeant };
  });
  return judged.toSorted((one, other) => Number(one.isApproved) - Number(other.isApproved));
}

/** What a person is asked for, by pool. */
export const awaitedIn = (counterparts: Counterparts | null): ReadonlyMap<string, AwaitedApproval> =>
  new Map(
    (counterparts?.isHeld === true ? (counterparts.pools ?? []) : []).flatMap(
      ({ pool, configName, sha256, since, isApproved }) =>
        isApproved ? [] : [[pool, { configName, sha256, since }] as const],
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
