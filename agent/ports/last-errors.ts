/** How far the kubelet's own log file had been written at a moment. */
export interface LogMark {
  /** Bytes. */
  readonly offset: number;
  /** The last bytes before it, at most 1024: another file has others there, and this one has them under any name and inode. */
  readonly tail: Buffer;
}

/** Which lines of the kubelet's log belong to a failure. */
export interface LastErrorsQuery {
  /** RFC 3339. Earlier lines belong to another run; undefined asks for the newest lines only. */
  readonly since: string | undefined;
  /** Runs of the kubelet (`ServiceStatus.run`) that had nothing to do with it. */
  readonly notOf: readonly string[];
  /** The same moment as `since` in the kubelet's own log file, without which that is not read. */
  readonly mark?: LogMark;
}

/**
 * The last errors that the kubelet wrote, the newest first, without secrets: a few short lines, none where its log cannot be
 * seen. Never rejects, and takes a few seconds at most.
 */
export type ReadLastErrors = (wanted: LastErrorsQuery, signal: AbortSignal) => Promise<readonly string[]>;

/** How far the kubelet's own log file is written now. Undefined where nobody can tell; never rejects, in a few seconds at most. */
export type MarkLog = (signal: AbortSignal) => Promise<LogMark | undefined>;
