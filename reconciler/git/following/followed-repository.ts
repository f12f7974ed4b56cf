import type { CommitOid } from '../../policy/commit-snapshot.ts';
import type { OwnReads } from '../../policy/following/own-reads.ts';
import { createRemote } from '../create-remote.ts';
import { folderPath } from '../folder-path.ts';
import type { RemoteOptions } from '../remote.ts';
import { type BranchLine, createLineReader } from './read-line.ts';
import { createNotesReader, type FollowedNotes, type NotesQuestion } from './read-notes.ts';

/** What a cluster that follows others reads of the repository besides its branch. Calls reject with `GitError`s. */
export interface FollowedRepository {
  /**
   * Only what is new since the last call is fetched, unless it is about other reads.
   *
   * @param reads names `here` of the commits. Absent: unknown
   */
  line(inForce: CommitOid, tip: CommitOid, signal: AbortSignal, reads?: OwnReads): Promise<BranchLine>;
  /**
   * What a cluster's notes say of these commits, for at most 1 KiB on the wire while its ref stays where it is.
   *
   * So many notes are fetched at a time that those of the newest commits may have to wait for the next call.
   */
  notes(cluster: string, question: NotesQuestion, signal: AbortSignal): Promise<FollowedNotes>;
}

/** @param path the folder that is followed; '' for the whole repository */
export function createFollowedRepository(options: RemoteOptions, path = ''): FollowedRepository {
  const remote = createRemote(options);
  const readLine = createLineReader(folderPath(path));
  const readers = new Map<string, ReturnType<typeof createNotesReader>>();
  const readerOf = (cluster: string): ReturnType<typeof createNotesReader> => {
    const reader = readers.get(cluster) ?? createNotesReader(cluster);
    readers.set(cluster, reader);
    return reader;
  };
  return {
    line: (inForce, tip, signal, reads) => remote.within(signal, (session) => readLine(session, inForce, tip, reads)),
    notes: (cluster, question, signal) => remote.within(signal, (session) => readerOf(cluster)(session, question)),
  };
}
