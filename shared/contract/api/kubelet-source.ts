import type { Condition, KubeObject } from './object.ts';

/** The only KubeletSource that there is: a cluster follows one branch. */
export const SOURCE_NAME = 'kubelet-gitops';

/** What the reconciler says of the branch that it follows, and goes on from after a restart. */
export interface KubeletSource extends KubeObject {
  readonly status?: KubeletSourceStatus;
}

/** Absent is what there is nothing to say about. Timestamps are RFC 3339. */
export interface KubeletSourceStatus {
  readonly observedGeneration?: number;
  readonly cluster?: string;
  readonly url?: string;
  readonly branch?: string;
  /** The folder that is followed; absent for the whole repository. */
  readonly path?: string;
  /** The commit in force. */
  readonly commit?: string;
  readonly subject?: string;
  readonly author?: string;
  readonly takenUpAt?: string;
  /** Whose signature let it into force, and with which key. */
  readonly signedBy?: string;
  /** What is wrong in it, a finding a line. */
  readonly findings?: string;
  /** How it fared, once its note says so for good. */
  readonly outcome?: string;
  /** The newest commit that was judged: the one in force, or the one that is refused. */
  readonly lastAttemptedCommit?: string;
  /** The branch's tip of that reading: a later commit, where a folder is followed that it left as it was. */
  readonly lastAttemptedTip?: string;
  readonly lastAttemptedAt?: string;
  /** The first 12 digits of `commit` and of `lastAttemptedCommit`: as many fit into a column. */
  readonly shortCommit?: string;
  readonly shortAttempted?: string;
  readonly refused?: RefusedCommitStatus;
  /** The commit that is being read, and from the second on, which process in a row reads it: `4151ff9… 2`. */
  readonly reading?: string;
  /** The release of a refused commit that was carried out last, as the annotation has it. */
  readonly released?: string;
  readonly failure?: GitFailureStatus;
  /** `on`, or `off: <reason>`; so are `statuses` and `notifications`. */
  readonly notes?: string;
  /** Where notes are signed: the serial and the commit of those that were signed last. */
  readonly signedNotes?: string;
  /** Notes that alone cannot be written, a line each. */
  readonly unreadableNotes?: string;
  readonly statuses?: string;
  readonly notifications?: string;
  /** JSON: the last commits that came into force or were refused. */
  readonly history?: string;
  /** JSON: which notifications were told, and which are owed to whom. */
  readonly told?: string;
  /** JSON: notes of commits that were displaced, until they are written. */
  readonly displaced?: string;
  /** JSON: what the commit in force says of all pools. */
  readonly policy?: string;
  /** JSON: what the commit in force holds the next one to. */
  readonly limits?: string;
  /** JSON: what a cluster that follows others has seen of them. */
  readonly following?: string;
  readonly conditions?: readonly Condition[];
}

/** A newer commit that was not let into force. */
export interface RefusedCommitStatus {
  readonly commit: string;
  readonly subject?: string;
  /** As the commit names its author. */
  readonly author?: string;
  /** Such as `changes-too-many`. */
  readonly reason: string;
  readonly message: string;
  /** JSON: the commit that it is due to. */
  readonly cause?: string;
}

/** Since when the repository cannot be read, and why. */
export interface GitFailureStatus {
  readonly since: string;
  /** `CODE: why`. */
  readonly message: string;
}
