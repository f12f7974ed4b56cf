import { setNewest } from '#shared/runtime/set-newest.ts';
import type { CommitOid } from '../../policy/commit-snapshot.ts';
import { NOT_A_NOTE, type SeenNote, UNREADABLE } from '../../policy/following/choose-commit.ts';
import { type PayloadProofs, readProofs } from '../../policy/following/payload-proofs.ts';
import { payloadsEntry } from '../notes/payloads-entry.ts';
import { payloadsText } from '../notes/payloads-file.ts';
import type { SignedNotes } from '../../policy/following/notes-serial.ts';
import { verifyNotes } from '../notes/signed-notes.ts';
import { fetchEach } from '../notes/fetch-note-trees.ts';
import { type NotesAt, openNotes } from '../notes/notes-store.ts';
import { MOST_NOTE_BYTES } from '../notes/stored-note.ts';
import { isUnreadableNote } from '../notes/unreadable-note.ts';
import { createObjectStore, type ObjectStore } from '../objects/git-object-store.ts';
import { isDirectory, parseTree, type TreeEntry } from '../objects/tree.ts';
import { notesRef } from '../ref-name.ts';
import { findTip } from '../wire/find-tip.ts';
import type { GitSession } from '../wire/git-session.ts';

/** Notes that are fetched at a time: the oldest first, and the others count as unreadable until the next look. */
const MOST_FETCHED = 256;
/** Notes whose words are kept, by the names of their files. */
const MOST_KEPT = 20_000;
/** What each tip of the ref brought stays in memory; after so many all of it is fetched again. */
const TIPS_A_STORE = 200;

/** What a cluster's notes say, and who vouches for it. */
export interface FollowedNotes {
  /** Empty where nobody vouches for them who has to. */
  readonly said: ReadonlyMap<CommitOid, SeenNote>;
  /** Where they have to be signed: what is. */
  readonly signed: (SignedNotes & { readonly key: string }) | null;
  /** Why they do not count; completes "its notes …". */
  readonly distrusted: string | null;
  /** What the cluster has proven; null where it does not say so, or that cannot be read. */
  readonly payloads: PayloadProofs | null;
}

export interface NotesQuestion {
  /** The oldest first. */
  readonly commits: readonly CommitOid[];
  /** Public keys with which they have to be signed; none where they need not be. */
  readonly signers: readonly string[];
}

/** Reads what one cluster notes of commits, and after that what it changed since. */
export function createNotesReader(
  cluster: string,
): (session: GitSession, question: NotesQuestion) => Promise<FollowedNotes> {
  const ref = notesRef(`refs/notes/kubelet-gitops/${cluster}`);
  let held: { readonly notes: NotesAt; readonly tips: number } | null = null;
  const words = new Map<string, SeenNote>();
  let proofs: { readonly file: string; readonly read: PayloadProofs | null } | null = null;

  async function open(session: GitSession): Promise<NotesAt | null> {
    const tip = await findTip(session, ref);
    if (tip === null) return (held = null);
    if (held?.notes.tip === tip) return held.notes;
    const before = held !== null && held.tips < TIPS_A_STORE ? held : null;
    const notes = await openNotes(session, before?.notes.objects ?? createObjectStore(), tip);
    held = { notes, tips: (before?.tips ?? 0) + 1 };
    return notes;
  }

  async function read(
    session: GitSession,
    notes: NotesAt,
    commits: readonly CommitOid[],
  ): Promise<Pick<FollowedNotes, 'said' | 'payloads'>> {
    const root = parseTree(notes.tree, await notes.objects.read(notes.tree, 'tree'));
    const file = payloadsEntry(root)?.oid;
    const files = await noteFiles(session, notes, root, commits);
    const seen = new Map<CommitOid, SeenNote>();
    const unread = new Map<string, CommitOid>();
    for (const [commit, note] of files) {
      const word = note === UNREADABLE ? UNREADABLE : words.get(keyOf(commit, note));
      if (word === undefined && unread.size < MOST_FETCHED) unread.set(note, commit);
      else seen.set(commit, word ?? UNREADABLE);
    }
    const isNew = file !== undefined && proofs?.file !== file;
    const wanted = [...unread.keys(), ...(isNew ? [file] : [])];
    const missing = wanted.filter((oid) => !notes.objects.has(oid));
    const failed = missing.length === 0 ? new Map() : await fetchEach(session, notes.objects, missing, notes.tip);
    for (const [note, commit] of unread) {
      const word = failed.has(note) ? UNREADABLE : await wordOf(notes.objects, note, cluster, commit);
      seen.set(commit, word);
      if (word !== UNREADABLE) setNewest(words, keyOf(commit, note), word, MOST_KEPT);
    }
    if (isNew) {
      const text = failed.has(file) ? null : await payloadsText(notes.objects, file);
      // Asked for again where it could not be had.
      proofs = text === null ? null : { file, read: readProofs(text, cluster) };
    }
    return { said: seen, payloads: file === undefined ? null : (proofs?.read ?? null) };
  }

  return async (session, { commits, signers }) => {
    const notes = await open(session);
    const areSigned = signers.length > 0;
    if (notes === null) return { ...NOTHING, distrusted: areSigned ? GONE : null };
    if (!areSigned) return { ...NOTHING, ...(await read(session, notes, commits)) };
    // At every look: the keys may have changed.
    const verdict = verifyNotes(await notes.objects.read(notes.tip, 'commit'), cluster, signers);
    if (verdict.verdict === 'untrusted') return { ...NOTHING, distrusted: `${verdict.because}. ${REMEDY}` };
    const signed = { serial: verdict.serial, tip: notes.tip, key: verdict.key };
    return { ...NOTHING, ...(await read(session, notes, commits)), signed };
  };
}

const NOTHING: FollowedNotes = { said: new Map(), signed: null, distrusted: null, payloads: null };
const GONE =
  'do not exist: its reconciler has not written any yet, or the ref was deleted and is written again within the hour';
const REMEDY =
  'See who may push its notes ref; if it is the cluster itself, give it its key (NOTES_SIGNING_KEY_PATH), or name that key under follows.signers';

/** Two commits may have notes of the same bytes: one of them is not its own. */
const keyOf = (commit: CommitOid, file: string): string => `${commit} ${file}`;

/** The names of the files for programs, or that their folder cannot be read, in the order of the commits. */
async function noteFiles(
  session: GitSession,
  { objects, tip }: NotesAt,
  root: readonly TreeEntry[],
  commits: readonly CommitOid[],
): Promise<ReadonlyMap<CommitOid, string>> {
  const folders = new Map(root.filter(isDirectory).map((entry) => [entry.name.toString('latin1'), entry.oid]));
  const wanted = [...new Set(commits.flatMap((commit) => folders.get(commit.slice(0, 2)) ?? []))];
  const missing = wanted.filter((folder) => !objects.has(folder));
  if (missing.length > 0) await fetchEach(session, objects, missing, tip);
  const entries = new Map<string, ReadonlyMap<string, TreeEntry> | null>();
  for (const folder of wanted) entries.set(folder, await entriesOf(objects, folder));
  return new Map(
    commits.flatMap((commit): (readonly [CommitOid, string])[] => {
      const inside = entries.get(folders.get(commit.slice(0, 2)) ?? '');
      if (inside === null) return [[commit, UNREADABLE]];
      const file = inside?.get(`${commit.slice(2)}.json`);
      return file === undefined ? [] : [[commit, file.oid]];
    }),
  );
}

async function entriesOf(objects: ObjectStore, folder: string): Promise<ReadonlyMap<string, TreeEntry> | null> {
  try {
    const entries = parseTree(folder, await objects.read(folder, 'tree'));
    return new Map(entries.map((entry) => [entry.name.toString('latin1'), entry]));
  } catch (error) {
    if (isUnreadableNote(error)) return null;
    throw error;
  }
}

/** What is no note of this cluster on this commit says nothing that counts. */
async function wordOf(objects: ObjectStore, file: string, cluster: string, commit: CommitOid): Promise<SeenNote> {
  try {
    const bytes = await objects.read(file, 'blob');
    if (bytes.length > MOST_NOTE_BYTES) return NOT_A_NOTE;
    const note = JSON.parse(bytes.toString('utf8')) as Readonly<Record<string, unknown>>;
    const { schema, cluster: by, commit: on, outcome } = note;
    const isOurs = schema === 'kubelet-gitops.dev/note/v1' && by === cluster && on === commit;
    return isOurs && typeof outcome === 'string' && outcome !== UNREADABLE ? outcome.slice(0, 64) : NOT_A_NOTE;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return NOT_A_NOTE;
    if (isUnreadableNote(error)) return UNREADABLE;
    throw error;
  }
}
