import { isAncestor } from '#sandbox/git-server/objects/commit-walk.ts';
import type { ObjectLookup, Oid } from '#sandbox/git-server/objects/oid.ts';
import { NO_OID } from '#sandbox/git-server/objects/oid.ts';

/** One ref's change, as a push asks for it. `NO_OID` as `from` means "must not exist", as `to` "delete". */
export interface RefChange {
  readonly ref: string;
  readonly from: Oid;
  readonly to: Oid;
}

export interface RefPolicy {
  /** Whether a branch may be moved to a commit that does not descend from its tip. */
  readonly allowRewrite: boolean;
  /** Whether refs may be deleted. */
  readonly allowDelete: boolean;
}

/**
 * Why a change is refused, in the words that git clients print after `! [remote rejected]`, or undefined.
 *
 * The tip must still be the one that the client saw (compare and swap); branches only go forward and only name commits.
 * Notes and tags may move anywhere from a tip that the client knew, as on a git server with default settings.
 */
export function refusalOf(
  change: RefChange,
  refs: ReadonlyMap<string, Oid>,
  lookup: ObjectLookup,
  policy: RefPolicy,
): string | undefined {
  const current = refs.get(change.ref) ?? NO_OID;
  if (!isRefName(change.ref)) return 'funny refname';
  if (current !== change.from) return 'stale info: the ref has moved, fetch first';
  if (change.to === NO_OID) return policy.allowDelete ? undefined : 'deletion prohibited';
  const target = lookup(change.to);
  if (target === undefined) return 'missing necessary objects';
  if (blockedBy(change.ref, refs) !== undefined) return `cannot exist beside ${blockedBy(change.ref, refs)}`;
  if (!change.ref.startsWith('refs/heads/')) return undefined;
  if (target.type !== 'commit') return 'a branch can only name a commit';
  if (current === NO_OID || policy.allowRewrite || isAncestor(lookup, current, change.to)) return undefined;
  return 'non-fast-forward';
}

/** The rules of git-check-ref-format, for names under `refs/`. */
export function isRefName(ref: string): boolean {
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  if (/[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{|\.$/.test(ref)) return false;
  const parts = ref.split('/');
  return (
    parts[0] === 'refs' && parts.length >= 3 && parts.every((part) => /^[^.]/.test(part) && !part.endsWith('.lock'))
  );
}

/** Refs are files in git's storage: `refs/notes/a` and `refs/notes/a/b` cannot both exist. */
function blockedBy(ref: string, refs: ReadonlyMap<string, Oid>): string | undefined {
  return [...refs.keys()].find((other) => other.startsWith(`${ref}/`) || ref.startsWith(`${other}/`));
}
