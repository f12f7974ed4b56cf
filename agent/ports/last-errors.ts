/** Which lines of the kubelet's log belong to a failure. */
export interface LastErrorsQuery {
  /** RFC 3339. Earlier lines belong to another run; undefined asks for the newest lines only. */
  readonly since: string | undefined;
  /** Runs of the kubelet (`ServiceStatus.run`) that had nothing to do with it. */
  readonly notOf: readonly string[];
}

/**
 * The last errors that the kubelet wrote, the newest first, without secrets: a few short lines, none where its log cannot be
 * seen. Never rejects, and takes a few seconds at most.
 */
export type ReadLastErrors = (wanted: LastErrorsQuery, signal: AbortSignal) => Promise<readonly string[]>;
