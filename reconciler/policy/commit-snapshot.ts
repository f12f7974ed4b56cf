import type { Finding } from '#shared/contract/finding.ts';

/** Full SHA-1 of a commit, forty lower-case hex digits. */
export type CommitOid = string;

export interface Commit {
  readonly oid: CommitOid;
  readonly parents: readonly CommitOid[];
  readonly author: { readonly name: string; readonly email: string; readonly at: string };
  /** First line of the message, control characters taken out, at most 200 characters. */
  readonly subject: string;
  /** The commit object's bytes as the server sent them, for the check of signatures. */
  readonly raw: Uint8Array;
}

/** A regular file of the commit's tree. Symbolic links and submodules never become one: they are findings. */
export interface RepoFile {
  /** From the root of the repository, `/` between the parts. For people: a folder that is followed stands in front. */
  readonly path: string;
  /** The blob's object name: equal names mean equal bytes. */
  readonly oid: string;
  /** May be unpacked again at each reading. */
  readonly bytes: Uint8Array;
}

/** How the commit relates to the one that was last taken up. */
export type Lineage = 'first' | 'same' | 'descendant' | 'rewritten';

export interface Snapshot {
  /** The one that the files are of: with a folder to follow, the last one that changed it. */
  readonly commit: Commit;
  /** The branch's tip, where that is a later one which left the folder as it is. */
  readonly tip?: CommitOid;
  /** The commit that changed the folder last is unknown: it is further back than is searched, and `commit` is the tip. */
  readonly isFarBack?: true;
  readonly lineage: Lineage;
  /** By path from the folder that is followed, which is the root of the repository usually. */
  readonly files: ReadonlyMap<string, RepoFile>;
  /** What was left out of `files`, and why (symlinks, submodules, files that are too big), with the path. */
  readonly findings: readonly Finding[];
}

/** What is known of the person behind a commit. */
export type SignatureVerdict =
  /** Signatures are not asked for. */
  | { readonly verdict: 'not-required' }
  /** A trusted key signed it. */
  | { readonly verdict: 'trusted'; readonly signer: string; readonly key: string }
  | { readonly verdict: 'unsigned' }
  /** Signed, but not by a trusted key, or not as it should be. `because` completes "its signature …". */
  | { readonly verdict: 'untrusted'; readonly because: string };

export const untrusted = (because: string): SignatureVerdict => ({ verdict: 'untrusted', because });

/** A commit that was read, and whether a trusted person vouches for it. */
export interface JudgedSnapshot extends Snapshot {
  readonly signature: SignatureVerdict;
  /** The commit in force that its lineage was judged against; null for none. */
  readonly since: CommitOid | null;
}
