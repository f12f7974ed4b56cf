import type { SeenNotes } from '../../policy/following/choose-commit.ts';
import type { CommitOid } from '../../policy/commit-snapshot.ts';
import type { OwnReads } from '../../policy/following/own-reads.ts';
import { createRemote } from '../create-remote.ts';
import { folderPath } from '../folder-path.ts';
import type { RemoteOptions } from '../remote.ts';
import { type BranchLine, createLineReader } from './read-line.ts';
import { createNotesReader } from './read-notes.ts';

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
   * @param commits the oldest first; so many notes are fetched at a time that the newest may have to wait for the next call
   */
  notes(cluster: string, commits: readonly CommitOid[], signal: AbortSignal): Promise<NonNullable<SeenNotes>>;
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
    notes: (cluster, commits, signal) => remote.within(signal, (session) => readerOf(cluster)(session, commits)),
  };
}
