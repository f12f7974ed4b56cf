import type { CommitOid } from '../../policy/commit-snapshot.ts';
import type { CommitOutcome } from './commit-note.ts';
import { jsonIn } from '#shared/runtime/lenient.ts';

/** A commit that came into force, or was refused. */
export interface PastCommit {
  readonly oid: CommitOid;
  readonly subject: string;
  readonly author: string;
  /** RFC 3339: when it was taken up, or first refused. */
  readonly at: string;
  readonly outcome: CommitOutcome;
}

const MOST_COMMITS = 10;
const LONGEST_TEXT = 200;
const OUTCOMES: readonly CommitOutcome[] = [
  'settled',
  'progressing',
  'halted',
  'partly-refused',
  'refused',
  'superseded',
];

/** The last commits as the record has them, the newest first. What was damaged by hand is left out. */
export function readHistory(text: string): readonly PastCommit[] {
  const read = jsonIn(text);
  return Array.isArray(read) ? read.filter(isPastCommit).slice(0, MOST_COMMITS) : [];
}

function isPastCommit(value: unknown): value is PastCommit {
  if (typeof value !== 'object' || value === null) return false;
  const { oid, subject, author, at, outcome } = value as Readonly<Record<string, unknown>>;
  const areTexts = [oid, subject, author, at].every((text) => typeof text === 'string');
  return areTexts && OUTCOMES.some((known) => known === outcome);
}

/**
 * The record of the last commits with what is known of these now: one in force, and perhaps a newer one that was refused. What
 * another commit displaced before it was settled is superseded. Pure; the same news twice change nothing.
 *
 * @param news the oldest first
 */
export function writeHistory(text: string, news: readonly PastCommit[]): string {
  const known = news.reduce<readonly PastCommit[]>(withCommit, readHistory(text));
  return known.length === 0 ? '' : JSON.stringify(known.slice(0, MOST_COMMITS));
}

function withCommit(known: readonly PastCommit[], commit: PastCommit): readonly PastCommit[] {
  const seen = known.find(({ oid }) => oid === commit.oid);
  const isRefused = commit.outcome === 'refused';
  // One that was refused and then let in after all begins again, and so does one that came back after another.
  const again = seen !== undefined && (seen.outcome === 'refused') === isRefused && seen.outcome !== 'superseded';
  const entry: PastCommit = {
    oid: commit.oid,
    subject: (again ? seen.subject : commit.subject).slice(0, LONGEST_TEXT),
    author: (again ? seen.author : commit.author).slice(0, LONGEST_TEXT),
    at: again ? seen.at : commit.at,
    outcome: commit.outcome,
  };
  if (again) return known.map((other) => (other.oid === entry.oid ? entry : other));
  const before = known.filter(({ oid }) => oid !== entry.oid);
  return [entry, ...(isRefused ? before : before.map(displaced))];
}

const displaced = (commit: PastCommit): PastCommit =>
  commit.outcome === 'progressing' || commit.outcome === 'halted' ? { ...commit, outcome: 'superseded' } : commit;
