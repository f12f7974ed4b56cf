import type { Condition, KubeObject } from './object.ts';

/** The only KubeletSource that there is: a cluster follows one branch. */
export const SOURCE_NAME = 'kubelet-gitops';

/** What the reconciler says of the branch that it follows. Nothing is ever decided from it. */
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
  /** The newest commit that was judged: the one in force, or the one that is refused. */
  readonly lastAttemptedCommit?: string;
  /** The branch's tip of that reading: a later commit, where a folder is followed that it left as it was. */
  readonly lastAttemptedTip?: string;
  readonly lastAttemptedAt?: string;
  readonly refused?: RefusedCommitStatus;
  readonly failure?: GitFailureStatus;
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
}

/** Since when the repository cannot be read, and why. */
export interface GitFailureStatus {
  readonly since: string;
  /** `CODE: why`. */
  readonly message: string;
}
