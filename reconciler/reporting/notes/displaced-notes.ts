import type { Fleet } from '../../policy/fleet.ts';
import type { CommitOid } from '../../policy/commit-snapshot.ts';
import { type CommitNote, isFinal, noteOfPredecessor, noteSuperseded } from './commit-note.ts';
import { fitNote, noteContent } from './note-content.ts';
import type { NotesWriter } from './notes-writer.ts';
import type { SourceState } from './source-state.ts';
import { jsonIn } from '#shared/runtime/lenient.ts';

interface Displacement {
  readonly recorded: SourceState;
  /** The last note of this process, if it wrote about any commit. */
  readonly last: CommitNote | null;
  /** The commit that is in force now. */
  readonly commit: CommitOid;
  readonly cluster: string;
  readonly fleet: Fleet;
}

/** Commits that follow each other faster than notes are pushed are few; older ones are given up. */
const MOST = 5;

/**
 * The last words on commits that another one displaced. They are in the record until they stand on their commits: a
 * process that ends between taking up a commit and saying so would leave the one before in progress forever.
 */
export function displacedNotes({ recorded, last, commit, cluster, fleet }: Displacement): readonly CommitNote[] {
  const before = readNotes(recorded.displaced).filter((note) => note.commit !== commit);
  if (recorded.commit === '' || recorded.commit === commit || recorded.outcome !== '') return before;
  if (before.some((note) => note.commit === recorded.commit)) return before;
  const known = last?.commit === recorded.commit;
  const note = known ? last : noteOfPredecessor(cluster, recorded.commit, [...fleet.pools.values()]);
  const done = isFinal(note) ? note : noteSuperseded(note, commit);
  return [...before, done].slice(-MOST);
}

/**
 * Those that are still to be written, as far as there is room. While notes cannot be written they heap up, and the record is one
 * object of at most a megabyte: if it could not be saved, no commit could come into force any more.
 */
export function formatDisplacedNotes(
  displaced: readonly CommitNote[],
  notes: Pick<NotesWriter, 'stands'> | null,
): string {
  const left = notes === null ? [] : displaced.filter((note) => !notes.stands(note));
  const kept = left.map((note) => fitNote(note, (short) => bytesOf(short) <= MOST_BYTES_EACH));
  return kept.length === 0 ? '' : JSON.stringify(kept.filter((note) => bytesOf(note) <= MOST_BYTES_EACH));
}

const MOST_BYTES_EACH = 64 * 1024;
const bytesOf = (note: CommitNote): number => Buffer.byteLength(JSON.stringify(note));

/** What was damaged by hand counts as nothing: a note is only for people. */
function readNotes(text: string): readonly CommitNote[] {
  const notes = jsonIn(text);
  return Array.isArray(notes) ? notes.flatMap(readNote) : [];
}

/** An unreadable one is left out, and the others stay. */
function readNote(note: unknown): readonly CommitNote[] {
  try {
    if (!isNote(note)) return [];
    noteContent(note);
    return [note];
  } catch {
    return [];
  }
}

function isNote(note: unknown): note is CommitNote {
  const { commit, pools, findings } = (note ?? {}) as Partial<CommitNote>;
  return typeof commit === 'string' && /^[0-9a-f]{40}$/.test(commit) && Array.isArray(pools) && Array.isArray(findings);
}
