import { isDeepStrictEqual } from 'node:util';
import type { Clock, Millis } from '#shared/runtime/clock.ts';
import { backoffDelay } from '#shared/runtime/backoff.ts';
import { codeOf, reasonOf } from '#shared/runtime/errors.ts';
import { type Term, withLifetime } from '#shared/runtime/lifetime.ts';
import type { Log } from '#shared/runtime/log.ts';
import { createWakeUps } from '#shared/runtime/wake-ups.ts';
import { setNewest } from '#shared/runtime/set-newest.ts';
import { GitError } from '../../git/errors.ts';
import type { Annotated, Annotator, NoteContent } from '../../git/notes/annotator.ts';
import type { CommitOid } from '../../policy/commit-snapshot.ts';
import { addProofs, type PayloadProof, proofKey } from '../../policy/following/payload-proofs.ts';
import { SIGN_AGAIN_MS, type SignedNotes } from '../../policy/following/notes-serial.ts';
import type { CommitNote } from './commit-note.ts';
import { noteContent } from './note-content.ts';
import type { UnreadableNote } from './recorded-unreadable-notes.ts';

/** `off` says why, for status: a read-only credential, say. */
type NotesState = { readonly notes: 'on' } | { readonly notes: 'off'; readonly because: string };

/** Keeps the notes of commits as they are wanted. Never in the way of the rest: a failing push only means later notes. */
export interface NotesWriter {
  /**
   * What the note of its commit is to say from now on. Cheap; equal notes are not written again.
   *
   * @param onlyFirst a note that stands on the commit already stays
   */
  want(note: CommitNote, onlyFirst?: boolean): void;
  /** Whether this note stands on its commit, as far as this process knows. */
  stands(note: CommitNote): boolean;
  /** What the cluster has proven, as the process that acts knows it: from now on notes are signed anew, if they are signed. */
  prove(proofs: readonly PayloadProof[]): void;
  /** What this process signed last; null for nothing. */
  signed(): SignedNotes | null;
  state(): NotesState;
  /** Notes that alone cannot be written, because their place on the ref cannot be read; they are tried again. */
  unreadable(): readonly UnreadableNote[];
  run(signal: AbortSignal): Promise<void>;
  /** One last try to write what is still wanted, for a shutdown. */
  flush(signal: AbortSignal): Promise<void>;
}

interface NotesWriterOptions {
  readonly annotator: Annotator;
  readonly cluster: string;
  /** What was signed last by the record. Asked only where notes are signed, and before this process signed any. */
  readonly signedBefore?: (signal: AbortSignal) => Promise<SignedNotes | null>;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
  /** Shortest time between two pushes. */
  readonly everyMs: Millis;
  /** Hears when `state()` or `unreadable()` changed. */
  readonly onChange: () => void;
}

const BACKOFF = { firstMs: 5_000, maxMs: 10 * 60_000, jitter: 0.2 };
const CALL_TIMEOUT_MS = 60_000;
/** What is said of older commits is of no interest any more; where nothing can be written, by a read-only credential say, it would heap up. */
const MOST_NOTES = 50;

export function createNotesWriter({
  annotator,
  cluster,
  signedBefore = () => Promise.resolve(null),
  clock,
  log,
  random,
  everyMs,
  onChange,
}: NotesWriterOptions): NotesWriter {
  const wanted = new Map<CommitOid, NoteContent>();
  const written = new Map<CommitOid, NoteContent>();
  const wakeUps = createWakeUps(clock);
  let state: NotesState = { notes: 'on' };
  let faults = 0;
  let unreadable: readonly UnreadableNote[] = [];
  /** Tries at which some were unreadable, one after the other, and when the next one is due, by the monotonic clock. */
  let misses = 0;
  let retryAt: Millis = 0;
  let signed: SignedNotes | null = null;
  let proven: readonly PayloadProof[] = [];
  /** Those of them that are in the file. */
  let provenThere: ReadonlySet<string> = new Set();
  /** By the monotonic clock; never before this process acts. */
  let signAgainAt: Millis = Number.POSITIVE_INFINITY;

  const enter = (next: NotesState): void => {
    const changed = next.notes !== state.notes;
    state = next;
    if (changed) onChange();
  };

  /** What is to be written now: one that cannot be read holds up no other, and waits for its next try. */
  function due(): Map<CommitOid, NoteContent> {
    const isDue = clock.monotonic() >= retryAt;
    return new Map([...wanted].filter(([commit]) => isDue || unreadable.every((held) => held.commit !== commit)));
  }

  function keepUnreadable(failed: Annotated['unreadable'], tried: ReadonlyMap<CommitOid, NoteContent>): void {
    const before = unreadable;
    const reasons = new Map([...failed].map(([commit, error]) => [commit, reasonOf(error)]));
    const untried = before.filter(({ commit }) => !tried.has(commit) && wanted.has(commit));
    unreadable = [...untried, ...[...reasons].map(([commit, because]) => ({ commit, because }))];
    if (failed.size > 0) {
      misses += 1;
      retryAt = clock.monotonic() + backoffDelay(misses, BACKOFF, random());
    } else if (unreadable.length === 0) misses = 0;
    for (const [commit, error] of failed) {
      if (before.some((held) => held.commit === commit && held.because === reasons.get(commit))) continue;
      log.error({ commit, ref: annotator.ref, code: error.code, err: error }, 'note cannot be written');
    }
    if (!isDeepStrictEqual(before, unreadable)) onChange();
  }

  async function push(signal: AbortSignal, batch: ReadonlyMap<CommitOid, NoteContent>): Promise<void> {
    const proofs = hasNewProofs() ? proven : null;
    if (batch.size === 0 && !isToSign() && proofs === null) return;
    try {
      const outcome = await withLifetime(callTerm(signal), async (life) => {
        const before = annotator.signs === true ? (signed ?? (await signedBefore(life.signal))) : null;
        const payloads = proofs === null ? undefined : (there: string | null) => addProofs(cluster, there, proofs);
        return annotator.annotate(batch, life.signal, { signed: before, payloads, anew: isToSign() });
      });
      if (outcome.signed !== undefined) {
        if (outcome.signed.tip !== signed?.tip) signAgainAt = clock.monotonic() + SIGN_AGAIN_MS;
        ({ signed } = outcome);
      }
      if (outcome.begunAnew === true) provenThere = new Set();
      if (proofs !== null) provenThere = new Set(proofs.map(proofKey));
      if (outcome.begunAnew === true)
        for (const [commit, content] of written) setNewest(wanted, commit, content, MOST_NOTES);
      const done = [...batch].filter(([commit]) => !outcome.unreadable.has(commit));
      for (const [commit, content] of done) {
        setNewest(written, commit, content, MOST_NOTES);
        if (isSame(wanted.get(commit), content)) wanted.delete(commit);
      }
      faults = 0;
      keepUnreadable(outcome.unreadable, batch);
      enter({ notes: 'on' });
      if (outcome.written) log.info({ commits: done.map(([commit]) => commit), ref: annotator.ref }, 'notes written');
    } catch (error) {
      if (signal.aborted) return;
      faults += 1;
      enter({ notes: 'off', because: reasonOf(error) });
      log.warn({ ref: annotator.ref, code: codeOf(error), err: error }, 'notes could not be written');
    }
  }

  const hasNewProofs = (): boolean => proven.some((proof) => !provenThere.has(proofKey(proof)));
  const isToSign = (): boolean => clock.monotonic() >= signAgainAt;

  return {
    prove(proofs) {
      proven = proofs;
      const isFirst = annotator.signs === true && signAgainAt === Number.POSITIVE_INFINITY;
      if (isFirst) signAgainAt = clock.monotonic();
      if (isFirst || hasNewProofs()) wakeUps.poke();
    },
    signed: () => signed,
    want(note, onlyFirst = false) {
      const content = { ...noteContent(note), onlyFirst };
      const last = wanted.get(note.commit) ?? written.get(note.commit);
      if (isSame(last, content)) return;
      setNewest(wanted, note.commit, content, MOST_NOTES);
      wakeUps.poke();
    },
    stands: (note) => !wanted.has(note.commit) && isSame(written.get(note.commit), noteContent(note)),
    state: () => state,
    unreadable: () => unreadable,
    async run(signal) {
      while (!signal.aborted) {
        if (due().size === 0 && !isToSign() && !hasNewProofs()) await wakeUps.next(restMs(), signal);
        if (signal.aborted) return;
        await push(signal, due());
        await clock.sleep(faults === 0 ? everyMs : backoffDelay(faults, BACKOFF, random()), signal);
      }
    },
    flush: (signal) => push(signal, new Map(wanted)),
  };

  function callTerm(parent: AbortSignal): Term {
    const reason = (): GitError =>
      new GitError('GIT_TIMEOUT', `gave up on ${annotator.ref}: not written within ${CALL_TIMEOUT_MS / 1000} s`);
    return { clock, parent, onParent: () => parent.reason as unknown, ms: CALL_TIMEOUT_MS, reason };
  }

  function restMs(): Millis {
    const now = clock.monotonic();
    const next = Math.min(signAgainAt, now + BACKOFF.maxMs, wanted.size === 0 ? Number.POSITIVE_INFINITY : retryAt);
    return Math.max(1, next - now);
  }
}

/** The text may stay while nodes come: what programs read has their number. */
const isSame = (one: NoteContent | undefined, other: NoteContent): boolean =>
  one?.text === other.text && one.data === other.data;
