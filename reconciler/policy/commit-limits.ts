import { isDeepStrictEqual as equal } from 'node:util';
import type { Amount } from '#shared/contract/api/kubelet-pool.ts';
import { parseDuration } from '#shared/runtime/duration.ts';
import { type FieldPolicy, NO_FIELD_POLICY } from '#shared/contract/kubelet-config/field-policy.ts';
import type { ClusterConfig, LoadedRepo, PoolBounds, TrialLimits } from './config-repo/loaded-repo.ts';
import { DEFAULT_CLUSTER } from './config-repo/read-cluster.ts';

/** Limits of rollouts that a commit which changes pools cannot loosen for itself. */
export type FormerLimits = Pick<ClusterConfig, 'maxUnavailable' | 'maxUnassign' | 'windows'>;

/** What the cluster's file of the commit in force holds the next commit to. */
export type Limits = FormerLimits & Pick<ClusterConfig, 'maxChange'> & PoolBounds;

export const limitsOf = ({
  maxUnavailable,
  maxUnassign,
  maxChange,
  windows,
  fields,
  trial,
}: ClusterConfig): Required<Limits> => ({
  maxUnavailable,
  maxUnassign,
  maxChange,
  windows,
  fields,
  trial,
});

/** What is known where nothing was ever in force: the very first commit allows itself no field either. */
export const NOTHING_BEFORE: PoolBounds = { fields: NO_FIELD_POLICY };

/**
 * The limits before a commit that have to hold besides its own: a commit that changes pools and loosens a limit at once
 * would otherwise have no limit.
 *
 * @param before what was in force; null if its pools are no longer known, so that every commit counts as one that changes some
 * @returns undefined if its own limits are enough
 */
export function formerLimits(limits: Limits, before: LoadedRepo | null, now: LoadedRepo): FormerLimits | undefined {
  const { maxUnavailable, maxUnassign, windows } = limits;
  const former = { maxUnavailable, maxUnassign, windows };
  if (before !== null && equal(wordsOf(before), wordsOf(now))) return undefined;
  return loosenedLimits(former, now.cluster).length === 0 ? undefined : former;
}

/** What a repository says of its pools. */
const wordsOf = ({ pools }: LoadedRepo): unknown =>
  pools.map((pool) => (pool.status === 'valid' ? [pool.name, pool.sha256, pool.spec] : [pool.name]));

/** Which limits are looser than they were, or may be: amounts of different kinds and other windows cannot be compared. */
export function loosenedLimits(former: FormerLimits, now: FormerLimits): readonly (keyof FormerLimits)[] {
  const wider: readonly (keyof FormerLimits)[] = [
    ...(isWider(former.maxUnavailable, now.maxUnavailable) ? (['maxUnavailable'] as const) : []),
    ...(isWider(former.maxUnassign, now.maxUnassign) ? (['maxUnassign'] as const) : []),
    ...(former.windows !== null && !equal(former.windows, now.windows) ? (['windows'] as const) : []),
  ];
  return wider;
}

/** @param before null for no bound */
export function isWider(before: Amount | null, now: Amount | null): boolean {
  if (before === null || before === '100%') return false;
  if (typeof before === 'number' && typeof now === 'number') return now > before;
  if (typeof before === 'string' && typeof now === 'string')
    return Number.parseInt(now, 10) > Number.parseInt(before, 10);
  return now !== 0 && now !== '0%';
}

/** What the record in the cluster says of the limits of the commit in force. */
export interface RecordedLimits {
  /** What the commit before it let pools say, by which it was judged. */
  readonly boundsBefore: PoolBounds;
  /** What it holds the next one to. */
  readonly limits: Limits;
}

export const writeLimits = (limits: Limits, boundsBefore: PoolBounds | undefined): string =>
  JSON.stringify({ limits, boundsBefore });

/** Reads the record back. A damaged record allows nothing. */
export function readLimits(text: string): RecordedLimits {
  try {
    const { limits, boundsBefore } = JSON.parse(text) as Partial<RecordedLimits>;
    return {
      boundsBefore: boundsIn(boundsBefore),
      limits: isLimits(limits)
        ? { ...limits, ...boundsIn(limits), trial: trialIn(limits.trial) ?? DEFAULT_CLUSTER.trial }
        : limitsOf(DEFAULT_CLUSTER),
    };
  } catch {
    return { boundsBefore: NOTHING_BEFORE, limits: limitsOf(DEFAULT_CLUSTER) };
  }
}

const isLimits = (value: Partial<Limits> | null | undefined): value is Limits =>
  isFormerLimits(value) && isAmountOrNull((value as Partial<Limits>).maxChange);

/** Whether what was read from a record can be used as limits. */
export function isFormerLimits(value: Partial<FormerLimits> | null | undefined): value is FormerLimits {
  const { maxUnavailable, maxUnassign, windows } = value ?? {};
  const areWindows = windows === null || (Array.isArray(windows?.allow) && Array.isArray(windows.deny));
  return isAmountOrNull(maxUnavailable) && isAmount(maxUnassign) && areWindows;
}

const isAmount = (value: unknown): value is Amount => typeof value === 'number' || typeof value === 'string';
const isAmountOrNull = (value: unknown): value is Amount | null => value === null || isAmount(value);

function boundsIn(value: Partial<PoolBounds> | null | undefined): PoolBounds {
  const trial = trialIn(value?.trial);
  return { fields: fieldsIn(value?.fields), ...(trial && { trial }) };
}

function trialIn(value: Partial<TrialLimits> | null | undefined): TrialLimits | undefined {
  const { minDuration = '', maxStartTimeout = '' } = value ?? {};
  const isRight = [minDuration, maxStartTimeout].every((each) => parseDuration(each) !== undefined);
  return isRight ? { minDuration, maxStartTimeout } : undefined;
}

const fieldsIn = (value: Partial<FieldPolicy> | null | undefined): FieldPolicy => ({
  allow: words(value?.allow),
  deny: words(value?.deny),
});

const words = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((word) => typeof word === 'string') : [];
