import type { SignedNotes } from '../../policy/following/notes-serial.ts';
import type { SigningKey } from '../trust/signing-key.ts';
import { createObjectStore } from '../objects/git-object-store.ts';
import type { GitSession } from '../wire/git-session.ts';
import { type NotesStore, openNotes } from './notes-store.ts';
import { verifyNotes } from './signed-notes.ts';
import { isUnreadableNote } from './unreadable-note.ts';

/** What a writer that signs goes on from. */
export interface OwnNotes {
  /** Its `tip` is that of the ref, its `tree` what the cluster itself wrote last; null where that is lost. */
  readonly store: NotesStore;
  /** The highest that is known to have been given. */
  readonly serial: number;
  /** The ref is as the cluster left it. */
  readonly isOwn: boolean;
}

/**
 * The notes that a cluster vouches for: it signs a whole tree, and must not sign what somebody else put into it.
 *
 * @param by.recorded what it signed last, by its own record; null where that is lost
 * @param by.restores whether what it signed last is looked for where the ref does not have it
 */
export async function ownNotes(
  session: GitSession,
  store: NotesStore,
  by: {
    readonly cluster: string;
    readonly key: SigningKey;
    readonly recorded: SignedNotes | null;
    readonly restores: boolean;
  },
): Promise<OwnNotes> {
  const { cluster, key, recorded, restores } = by;
  const last = recorded?.serial ?? 0;
  if (store.tip !== null) {
    if (store.tip === recorded?.tip) return { store, serial: last, isOwn: true };
    const verdict = verifyNotes(await store.objects.read(store.tip, 'commit'), cluster, [key.publicLine]);
    // A process may have ended before it wrote down what it pushed. One with a lower serial was pushed again by somebody.
    if (verdict.verdict === 'trusted' && verdict.serial > last) return { store, serial: verdict.serial, isOwn: true };
  }
  const nothing = { ...store, objects: createObjectStore(), tree: null, sparse: false };
  if (recorded === null || !restores) return { store: nothing, serial: last, isOwn: false };
  try {
    // Servers keep for some time what no ref leads to any more.
    const { objects, tree, sparse } = await openNotes(session, createObjectStore(), recorded.tip);
    return { store: { objects, tip: store.tip, tree, sparse }, serial: last, isOwn: false };
  } catch (error) {
    if (!isUnreadableNote(error)) throw error;
    return { store: nothing, serial: last, isOwn: false };
  }
}
