import type { Annotated, Annotator, NoteContent } from './annotator.ts';
import type { GitError } from '../errors.ts';
import { createRemote } from '../create-remote.ts';
import type { RemoteOptions } from '../remote.ts';
import type { GitSession } from '../wire/git-session.ts';
import { storedNote } from './stored-note.ts';
import { assertCommitOid, commitNotes, loadNotes, type NotesAuthor, type NotesStore } from './notes-store.ts';
import { retryRaces } from './notes-race.ts';
import { fetchNoteTrees } from './fetch-note-trees.ts';
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
}

const AUTHOR: NotesAuthor = { name: 'kubelet-gitops', email: 'kubelet-gitops@noreply.invalid' };
const MESSAGE = 'Notes added by kubelet-gitops\n';
/** Every push leaves its objects in memory; after so many all of it is fetched again. */
const PUSHES_A_STORE = 200;

/**
 * Writes notes onto a ref over HTTP. What the ref held is kept in memory between calls, so that a note costs one push.
 *
 * @throws GitError `GIT_URL_UNUSABLE`, `GIT_REF_NAME_INVALID`
 */
export function createAnnotator(options: AnnotatorOptions): Annotator {
  const { author = AUTHOR, clock, random } = options;
  const remote = createRemote(options);
  const ref = notesRef(options.ref);
  let held: { readonly store: NotesStore; readonly pushes: number } | null = null;
  let queue: Promise<unknown> = Promise.resolve();

  async function attempt(session: GitSession, notes: ReadonlyMap<CommitOid, NoteFiles>): Promise<Annotated> {
    const before = held;
    // Held again only after it went well: after any error, what the server has is unknown.
    held = null;
    const store = before?.store ?? (await loadNotes(session, ref));
    const pushes = before?.pushes ?? 0;
    const { tip: from, tree: root } = store;
    const isPart = store.sparse && from !== null && root !== null;
    const unfetched = isPart
      ? await fetchNoteTrees(session, store.objects, { tip: from, tree: root }, [...notes.keys()])
      : new Map<CommitOid, GitError>();
    const { objects, written } = recorded(store.objects);
    const fetched = new Map([...notes].filter(([commit]) => !unfetched.has(commit)));
    const { tree, unreadable: unset } = await setNotes(objects, store.tree, fetched);
    const unreadable = new Map([...unfetched, ...unset]);
    // Not kept where something is wrong with it: what was repaired since is seen by reading the ref again.
    const keep = (next: { readonly store: NotesStore; readonly pushes: number }): void => {
      held = unreadable.size > 0 || next.pushes >= PUSHES_A_STORE ? null : next;
    };
    if (tree === store.tree || unreadable.size === notes.size) {
      keep({ store, pushes });
      return { written: false, unreadable };
    }
    const seconds = Math.floor(clock.now() / 1000);
    const tip = await commitNotes(store, tree, { author, seconds, message: MESSAGE });
    await pushNotes(session, objects.repo, { ref, from: store.tip, to: tip, oids: [tip, ...written] });
    keep({ store: { ...store, tip, tree }, pushes: pushes + 1 });
    return { written: true, unreadable };
  }

  async function annotate(notes: ReadonlyMap<CommitOid, NoteFiles>, signal: AbortSignal): Promise<Annotated> {
    return remote.within(signal, (session) => retryRaces(() => attempt(session, notes), { clock, random, signal }));
  }

  return {
    ref,
    async annotate(notes, signal) {
      for (const commit of notes.keys()) assertCommitOid(commit);
      const texts = new Map([...notes].map(([commit, text]) => [commit, filesOf(text)]));
      if (texts.size === 0) return { written: false, unreadable: new Map() };
      const turn = queue.then(() => annotate(texts, signal));
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
function recorded(store: ObjectStore): { readonly objects: ObjectStore; readonly written: ReadonlySet<string> } {
  const written = new Set<string>();
  const write: ObjectStore['write'] = async (type, content) => {
    const oid = await store.write(type, content);
    written.add(oid);
    return oid;
  };
  return { objects: { ...store, write }, written };
}
