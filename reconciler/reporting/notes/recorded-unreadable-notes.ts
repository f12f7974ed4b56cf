import type { CommitOid } from '../../policy/commit-snapshot.ts';

/** A note that alone cannot be written, because its place on the notes ref cannot be read. */
export interface UnreadableNote {
  readonly commit: CommitOid;
  readonly because: string;
}

/** The record is for people: what is beyond this many lines is in the log. */
const MOST_LINES = 20;

/** The notes as the record has them, a line each. */
export const formatUnreadableNotes = (notes: readonly UnreadableNote[]): string =>
  notes
    .slice(0, MOST_LINES)
    .map(({ commit, because }) => `${commit}: ${because.replaceAll('\n', ' ')}`)
    .join('\n');

/** @param text `unreadableNotes` of the record */
export const parseUnreadableNotes = (text: string): readonly string[] => text.split('\n').filter((line) => line !== '');
