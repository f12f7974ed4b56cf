import type { CommitOid } from '../../policy/commit-snapshot.ts';

/** An annotated tag of a commit, taken apart the way git does it. Not yet believed. */
interface SignedTag {
  /** The commit that it names. */
  readonly commit: CommitOid;
  /** `release/2026-03`, as the signer wrote it: anyone who may push can give the object another name. */
  readonly name: string;
  readonly payload: Buffer;
  readonly signature: string;
  /** In seconds since the epoch; null without a date. */
  readonly taggedAt: number | null;
}

/** What git itself takes for a tag object (fsck), and nothing between: a reader that sees other headers would see another tag. */
const HEAD = /^object ([0-9a-f]{40})\ntype commit\ntag ([^\n\0]{1,250})\ntagger [^\n]{0,1000}\n\n/;
const BEGINNINGS = ['-----BEGIN PGP SIGNATURE-----', '-----BEGIN SSH SIGNATURE-----'] as const;

/**
 * A tag's signature stands behind its message, and is over all that stands before it.
 *
 * @returns undefined where the object is not a signed tag of a commit: one of a tree, a file or another tag vouches for no commit
 */
export function splitTag(raw: Uint8Array): SignedTag | undefined {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
  const text = bytes.toString('latin1');
  const head = HEAD.exec(text);
  // Like git, which takes the last: what looks like one before it belongs to the message.
  const begin = Math.max(...BEGINNINGS.map((line) => text.lastIndexOf(`\n${line}`))) + 1;
  if (head === null || begin < head[0].length) return undefined;
  const [whole, commit = '', name = ''] = head;
  const seconds = /> (\d{1,12}) [+-]\d{4}\n\n$/.exec(whole)?.[1];
  return {
    commit,
    name: Buffer.from(name, 'latin1').toString('utf8'),
    payload: bytes.subarray(0, begin),
    signature: text.slice(begin),
    taggedAt: seconds === undefined ? null : Number(seconds),
  };
}
