import type { Annotated, Annotator, BesideNotes, NoteContent } from './annotator.ts';
import type { GitError } from '../errors.ts';
import { createRemote } from '../create-remote.ts';
import type { RemoteOptions } from '../remote.ts';
import type { GitSession } from '../wire/git-session.ts';
import { storedNote } from './stored-note.ts';
import type { SignedNotes } from '../../policy/following/notes-serial.ts';
import type { SigningKey } from '../trust/signing-key.ts';
import { assertCommitOid, commitNotes, loadNotes, type NotesAuthor } from './notes-store.ts';
import { type OwnNotes, ownNotes } from './own-notes.ts';
import { nextSerial, signedNotesCommit, SUBJECT } from './signed-notes.ts';
import { retryRaces } from './notes-race.ts';
import { isUnreadableNote } from './unreadable-note.ts';
import { fetchNoteTrees } from './fetch-note-trees.ts';
import { withPayloads } from './payloads-file.ts';
import { pushNotes } from './push-notes.ts';
import { type NoteFiles, setNotes } from './set-notes.ts';
import type { ObjectStore } from '../objects/git-object-store.ts';
import { notesRef } from '../ref-name.ts';
import type { CommitOid } from '../../policy/commit-snapshot.ts';

/** The credential has to be one that may push. */
export interface AnnotatorOptions extends RemoteOptions {
  /** `refs/notes/…`; one writer a ref, usually. */
  readonly ref: string;
  /** Of the notes' commits. */
  readonly author?: NotesAuthor;
  /** Numbers in [0, 1). */
  readonly random: () => number;
  /** With which key notes are signed, read at every use, and as whose. Absent: they are not. */
  readonly signing?: { readonly cluster: string; readonly key: () => Promise<SigningKey> } | undefined;
}

const AUTHOR: NotesAuthor = { name: 'kubelet-gitops', email: 'kubelet-gitops@noreply.invalid' };
/** Every push leaves its objects in memory; after so many all of it is fetched again. */
const PUSHES_A_STORE = 200;

/**
 * Writes notes onto a ref over HTTP. What the ref held is kept in memory between calls, so that a note costs one push.
 *
 * @throws GitError `GIT_URL_UNUSABLE`, `GIT_REF_NAME_INVALID`
 */
export function createAnnotator(options: AnnotatorOptions): Annotator {
  const { author = AUTHOR, clock, random, signing } = options;
  const remote = createRemote(options);
  const ref = notesRef(options.ref);
  let held: { readonly own: OwnNotes; readonly pushes: number } | null = null;
  /** Whether what was signed last is looked for where somebody took it from the ref; not after that failed. */
  let restores = true;
  let queue: Promise<unknown> = Promise.resolve();

  /** Without a key, the notes of others on the ref are kept. */
  async function load(session: GitSession, key: SigningKey | null, recorded: SignedNotes | null): Promise<OwnNotes> {
    const store = await loadNotes(session, ref);
    if (signing === undefined || key === null) return { store, serial: 0, isOwn: true };
    return ownNotes(session, store, { cluster: signing.cluster, key, recorded, restores });
  }

  async function attempt(
    session: GitSession,
    notes: ReadonlyMap<CommitOid, NoteFiles>,
    beside: BesideNotes,
  ): Promise<Annotated> {
    const before = held;
    // Held again only after it went well: after any error, what the server has is unknown.
    held = null;
    const key = signing === undefined ? null : await signing.key();
    const own = before?.own ?? (await load(session, key, beside.signed ?? null));
    const { store } = own;
    const pushes = before?.pushes ?? 0;
    const { tip: from, tree: root } = store;
    const isPart = store.sparse && from !== null && root !== null;
    const unfetched = isPart
      ? await fetchNoteTrees(session, store.objects, { tip: from, tree: root }, [...notes.keys()])
      : new Map<CommitOid, GitError>();
    const { objects, written } = recordedWrites(store.objects);
    const fetched = new Map([...notes].filter(([commit]) => !unfetched.has(commit)));
    const noted = await setNotes(objects, store.tree, fetched);
    const { unreadable: unset } = noted;
    const tree = await withPayloads(session, objects, noted.tree, beside.payloads);
    const unreadable = new Map([...unfetched, ...unset]);
    // Not kept where something is wrong with it: what was repaired since is seen by reading the ref again.
    const keep = (next: { readonly own: OwnNotes; readonly pushes: number }): void => {
      held = unreadable.size > 0 || next.pushes >= PUSHES_A_STORE ? null : next;
    };
    if (!own.isOwn && unreadable.size > 0) {
      restores = false;
      return attempt(session, notes, beside);
    }
    const signsAnew =
      key !== null && (beside.anew === true || (notes.size === 0 && beside.payloads === undefined) || !own.isOwn);
    if (!signsAnew && (tree === store.tree || (unreadable.size > 0 && unreadable.size === notes.size))) {
      keep({ own, pushes });
      const stands = key === null || from === null ? {} : { signed: { serial: own.serial, tip: from } };
      return { written: false, unreadable, ...stands };
    }
    const seconds = Math.floor(clock.now() / 1000);
    const serial = nextSerial(own.serial, seconds);
    const tip =
      signing === undefined || key === null
        ? await commitNotes(store, tree, { author, seconds, message: `${SUBJECT}\n` })
        : await store.objects.write(
            'commit',
            signedNotesCommit({ tree, parent: from, author, seconds, cluster: signing.cluster, serial }, key),
          );
    try {
      await pushNotes(session, objects.repo, { ref, from: store.tip, to: tip, oids: [tip, ...written] });
    } catch (error) {
      // The server may have lost some of it.
      if (!own.isOwn && isUnreadableNote(error)) restores = false;
      throw error;
    }
    restores = true;
    keep({ own: { store: { ...store, tip, tree }, serial, isOwn: true }, pushes: pushes + 1 });
    const done = { written: true, unreadable, begunAnew: root === null };
    return key === null ? done : { ...done, signed: { serial, tip } };
  }

  async function annotate(
    notes: ReadonlyMap<CommitOid, NoteFiles>,
    signal: AbortSignal,
    beside: BesideNotes,
  ): Promise<Annotated> {
    return remote.within(signal, (session) =>
      retryRaces(() => attempt(session, notes, beside), { clock, random, signal }),
    );
  }

  return {
    ref,
    signs: signing !== undefined,
    async annotate(notes, signal, beside = {}) {
      for (const commit of notes.keys()) assertCommitOid(commit);
      const texts = new Map([...notes].map(([commit, text]) => [commit, filesOf(text)]));
      if (texts.size === 0 && signing === undefined && beside.payloads === undefined)
        return { written: false, unreadable: new Map() };
      const turn = queue.then(() => annotate(texts, signal, beside));
      queue = turn.catch(() => undefined);
      return turn;
    },
  };
}

function filesOf(content: NoteContent | string): NoteFiles {
  const { text, data, onlyFirst = false }: NoteContent = typeof content === 'string' ? { text: content } : content;
  return { text: storedNote(text), data: data === undefined ? null : storedNote(data), onlyFirst };
}

/** The store, and the names of what is written through it. */
function recordedWrites(store: ObjectStore): { readonly objects: ObjectStore; readonly written: ReadonlySet<string> } {
  const written = new Set<string>();
  const write: ObjectStore['write'] = async (type, content) => {
    const oid = await store.write(type, content);
    written.add(oid);
    return oid;
  };
  return { objects: { ...store, write }, written };
}
