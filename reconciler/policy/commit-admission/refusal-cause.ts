import type { CommitReference } from '#shared/contract/api/kubelet-pool.ts';
import { commitReference, commitText } from '../commit-reference.ts';
import type { Commit, CommitOid } from '../commit-snapshot.ts';
import type { RefusalReason } from './refuse-commit.ts';

/** The commit that a refusal is due to; later ones contain it, and are refused with it until it is taken back. */
export interface RefusalCause extends CommitReference {
  /** How many later commits wait behind it; absent where not all of them were seen. */
  readonly behind?: number;
  /** Names of the pools that it is refused for. */
  readonly pools: readonly string[];
}

/** A tip that is not let into force, and why. */
export interface RefusedCommit {
  readonly commit: CommitOid;
  readonly reason: RefusalReason;
  readonly message: string;
  /** The commit that it is due to; absent where that is the tip itself, or unknown. */
  readonly cause?: RefusalCause;
}

/** Every other refusal is due to the tip itself, or to no commit's content. */
const INHERITED: ReadonlySet<RefusalReason> = new Set([
  'no-pools',
  'unassigns-too-many',
  'changes-too-many',
  'too-large',
]);

type Refusal = Pick<RefusedCommit, 'reason' | 'message'> & { readonly pools?: readonly string[] };

/**
 * A refusal of the tip, with the commit that it is due to in its message. A tip that follows a refused one is refused for the same while
 * the reason and one of the pools are the same. Pure.
 *
 * @param before  the refusal before this one; null for none
 * @param against the commit in force; null for none
 */
export function explainRefusal(
  tip: Commit,
  { reason, message, pools = [] }: Refusal,
  before: RefusedCommit | null,
  against: CommitOid | null,
): RefusedCommit {
  const refusal = { commit: tip.oid, reason, message };
  if (!INHERITED.has(reason) || against === null) return refusal;
  const isRow = before !== null && before.reason === reason && isSameRow(before, pools);
  const cause = isRow ? before.cause && passedOn(before.cause, before, tip) : firstOf(tip, pools, against);
  if (cause === undefined) {
    const range = `git log ${against.slice(0, 12)}..${tip.oid.slice(0, 12)}`;
    return {
      ...refusal,
      message: `${message}. The cause is it or a commit before it that is not in force either: ${range}`,
    };
  }
  if (cause.commit === tip.oid) return { ...refusal, cause };
  const { behind } = cause;
  const waiting =
    behind === undefined
      ? 'later commits wait'
      : behind === 1
        ? '1 later commit waits'
        : `${behind} later commits wait`;
  return {
    ...refusal,
    cause,
    message: `it contains ${commitText(cause)}, which is the cause; ${waiting} behind that. ${message}`,
  };
}

const isSameRow = ({ cause }: RefusedCommit, pools: readonly string[]): boolean =>
  cause === undefined ||
  (cause.pools.length === 0 && pools.length === 0) ||
  cause.pools.some((pool) => pools.includes(pool));

/** More than one commit may have come since the last look. */
function passedOn(cause: RefusalCause, before: RefusedCommit, tip: Commit): RefusalCause {
  if (before.commit === tip.oid) return cause;
  const { behind, ...rest } = cause;
  const isNext = tip.parents.length === 1 && tip.parents[0] === before.commit;
  return isNext && behind !== undefined ? { ...rest, behind: behind + 1 } : rest;
}

/** Of several that came at once, nobody has judged those before the tip. */
function firstOf(tip: Commit, pools: readonly string[], against: CommitOid): RefusalCause | undefined {
  const isAlone = tip.parents.length === 1 && tip.parents[0] === against;
  return isAlone ? { ...commitReference(tip), behind: 0, pools } : undefined;
}

/** As the record has it; undefined for what was damaged by hand. */
export function readRefusalCause(text: string): RefusalCause | undefined {
  try {
    const { commit, subject, author, behind, pools } = JSON.parse(text) as Partial<RefusalCause>;
    if (typeof commit !== 'string' || !/^[0-9a-f]{40}$/.test(commit) || !Array.isArray(pools)) return undefined;
    return {
      commit,
      ...(typeof subject === 'string' ? { subject } : {}),
      ...(typeof author === 'string' ? { author } : {}),
      ...(typeof behind === 'number' ? { behind } : {}),
      pools: pools.map(String),
    };
  } catch {
    return undefined;
  }
}
