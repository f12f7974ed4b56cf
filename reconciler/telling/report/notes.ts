import type { Clock, Millis } from '#shared/runtime/clock.ts';
import { backoffDelay } from '#shared/runtime/backoff.ts';
import { codeOf, reasonOf } from '#shared/runtime/errors.ts';
import type { Log } from '#shared/runtime/log.ts';
import { createWakeUps } from '#shared/runtime/wake-ups.ts';
import type { Annotator } from '../../git/notes/annotator.ts';
import type { CommitOid } from '../../policy/commit.ts';
import type { CommitNote } from './note.ts';
import { renderNote } from './note-text.ts';

/** `off` says why, for status: a read-only credential, say. */
export type NotesState = { readonly notes: 'on' } | { readonly notes: 'off'; readonly because: string };

/** Keeps the notes of commits as they are wanted. Never in the way of the rest: a failing push only means later notes. */
export interface Notes {
  /** What the note of its commit is to say from now on. Cheap; equal notes are not written again. */
  want(note: CommitNote): void;
  /** Whether this note stands on its commit, as far as this process knows. */
  stands(note: CommitNote): boolean;
  state(): NotesState;
  run(signal: AbortSignal): Promise<void>;
  /** One last try to write what is still wanted, for a shutdown. */
  flush(signal: AbortSignal): Promise<void>;
}

export interface NotesOptions {
  readonly annotator: Annotator;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
  /** Shortest time between two pushes. */
  readonly everyMs: Millis;
  /** Hears when `state()` changed. */
  readonly onChange: () => void;
}

const BACKOFF = { firstMs: 5_000, maxMs: 10 * 60_000, jitter: 0.2 };
const CALL_TIMEOUT_MS = 60_000;
/** What is said of older commits is of no interest any more. */
const MOST_NOTES = 50;

export function createNotes({ annotator, clock, log, random, everyMs, onChange }: NotesOptions): Notes {
  const wanted = new Map<CommitOid, string>();
  const written = new Map<CommitOid, string>();
  const wakeUps = createWakeUps(clock);
  let state: NotesState = { notes: 'on' };
  let faults = 0;

  const enter = (next: NotesState): void => {
    const changed = next.notes !== state.notes;
    state = next;
    if (changed) onChange();
  };

  async function push(signal: AbortSignal): Promise<void> {
    const batch = new Map(wanted);
    if (batch.size === 0) return;
    try {
      const outcome = await annotator.annotate(batch, AbortSignal.any([signal, AbortSignal.timeout(CALL_TIMEOUT_MS)]));
      for (const [commit, text] of batch) {
        remember(written, commit, text);
        if (wanted.get(commit) === text) wanted.delete(commit);
      }
      faults = 0;
      enter({ notes: 'on' });
      if (outcome.written) log.info({ commits: [...batch.keys()], ref: annotator.ref }, 'notes written');
    } catch (error) {
      if (signal.aborted) return;
      faults += 1;
      enter({ notes: 'off', because: reasonOf(error) });
      log.warn({ ref: annotator.ref, code: codeOf(error), err: error }, 'notes could not be written');
    }
  }

  return {
    want(note) {
      const text = renderNote(note);
      const last = wanted.get(note.commit) ?? written.get(note.commit);
      if (last === text) return;
      remember(wanted, note.commit, text);
      wakeUps.poke();
    },
    stands: (note) => !wanted.has(note.commit) && written.get(note.commit) === renderNote(note),
    state: () => state,
    async run(signal) {
      while (!signal.aborted) {
        if (wanted.size === 0) await wakeUps.next(10 * 60_000, signal);
        if (signal.aborted) return;
        await push(signal);
        await clock.sleep(faults === 0 ? everyMs : backoffDelay(faults, BACKOFF, random()), signal);
      }
    },
    flush: push,
  };
}

/** The newest notes only: where nothing can be written, by a read-only credential say, they would heap up for ever. */
function remember(notes: Map<CommitOid, string>, commit: CommitOid, text: string): void {
  notes.delete(commit);
  notes.set(commit, text);
  const oldest = notes.keys().next().value;
  if (notes.size > MOST_NOTES && oldest !== undefined) notes.delete(oldest);
}
