import type { CommitOid } from '../../policy/commit-snapshot.ts';
import { readSshSignature } from '../trust/sshsig.ts';
import type { SigningKey } from '../trust/signing-key.ts';
import type { NotesAuthor } from './notes-store.ts';

/** What the signature of a commit of notes is made for, so that it is none for a commit of the branch, and the other way round. */
export const NOTES_NAMESPACE = 'kubelet-gitops-notes';

export const SUBJECT = 'Notes added by kubelet-gitops';
/** As `signedNotesCommit` writes it, up to the signature: everything that the commit says is read from what was signed. */
const SIGNED =
  /^tree ([0-9a-f]{40})\n(?:parent [0-9a-f]{40}\n)?author [^\n]{1,200}\ncommitter [^\n]{1,200}\n\nNotes added by kubelet-gitops\n\ncluster: ([a-z0-9.-]{1,63})\nserial: ([1-9][0-9]{0,14})\n/;
const MOST_BYTES = 4096;

/** A commit of notes, as its cluster vouches for it: its tree holds all notes and proofs. */
interface NotesCommit {
  readonly tree: string;
  readonly parent: CommitOid | null;
  readonly author: NotesAuthor;
  /** Since the epoch. */
  readonly seconds: number;
  readonly cluster: string;
  readonly serial: number;
}

/** The bytes of the commit object. The signature stands behind the message, and is over all that stands before it. */
export function signedNotesCommit(commit: NotesCommit, key: SigningKey): Buffer {
  const { tree, parent, author, seconds, cluster, serial } = commit;
  const by = `${author.name} <${author.email}> ${seconds} +0000`;
  const head = [`tree ${tree}`, ...(parent === null ? [] : [`parent ${parent}`]), `author ${by}`, `committer ${by}`];
  const payload = Buffer.from(`${[...head, '', SUBJECT, '', `cluster: ${cluster}`, `serial: ${serial}`].join('\n')}\n`);
  return Buffer.concat([payload, Buffer.from(key.sign(payload, NOTES_NAMESPACE))]);
}

type NotesVerdict =
  /** `key` is the one of them that vouches, without what stands behind it. */
  | { readonly verdict: 'trusted'; readonly serial: number; readonly tree: string; readonly key: string }
  /** `because` completes "its notes …". */
  | { readonly verdict: 'untrusted'; readonly because: string };

const untrusted = (because: string): NotesVerdict => ({ verdict: 'untrusted', because });

/**
 * Whether one of the keys vouches for a commit of notes of this cluster.
 *
 * @param signers public keys: `ssh-ed25519 AAAA…`, perhaps with a comment
 */
export function verifyNotes(raw: Uint8Array, cluster: string, signers: readonly string[]): NotesVerdict {
  const text = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).toString('latin1');
  const [head = '', tree = '', of = '', serial = ''] = (text.length <= MOST_BYTES && SIGNED.exec(text)) || [];
  if (head === '') return untrusted('are not signed');
  let signature;
  try {
    signature = readSshSignature(text.slice(head.length));
  } catch {
    return untrusted('have a signature that cannot be read');
  }
  const { key, keyBlob, namespace } = signature;
  if (namespace !== NOTES_NAMESPACE || !signature.isCanonical || !signature.verifies(Buffer.from(head, 'latin1')))
    return untrusted('have a signature that does not fit: they were changed');
  const signer = signers.find((line) => Buffer.from(line.split(' ')[1] ?? '', 'base64').equals(keyBlob));
  if (signer === undefined) return untrusted(`are signed with ${key.fingerprint}, a key that is not named for it`);
  if (of !== cluster) return untrusted(`are those of ${of}`);
  return { verdict: 'trusted', serial: Number(serial), tree, key: signer.split(' ', 2).join(' ') };
}

/** Longer ones are not read. */
const HIGHEST_SERIAL = 999_999_999_999_999;

/**
 * The serial after this one. Where it was lost with the record and the ref, the time is more than any before. None comes after the highest,
 * which only a thief of the key gives: with another key, the time is enough.
 */
export const nextSerial = (last: number, seconds: number): number =>
  last < HIGHEST_SERIAL ? Math.max(last + 1, seconds) : seconds;
