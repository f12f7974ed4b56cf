import { MANAGED_BY, MANAGED_BY_LABEL } from '#shared/contract/api/group.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import type { CommitOid } from '../../policy/commit-snapshot.ts';

/** Name of the ConfigMap in the programs' namespace that says which commit is in force and how git is doing. */
export const SOURCE_STATE_NAME = 'kubelet-gitops-source';

/**
 * The reconciler's only memory beside the kinds of its own: the commit in force, so that a restart can tell a descendant
 * from a rewrite, and what an operator wants to know about the repository. Empty text where there is nothing to say.
 */
export interface SourceState {
  readonly url: string;
  readonly branch: string;
  readonly cluster: string;
  /** The commit in force. */
  readonly commit: CommitOid;
  readonly subject: string;
  readonly author: string;
  readonly takenUpAt: string;
  /** Whose signature let it into force, and with which key; empty where signatures are not asked for. */
  readonly signedBy: string;
  /** How it fared, once nothing more is to be said about it and its note says so: what a restart need not say again. */
  readonly outcome: string;
  /** Notes of commits that it displaced in the middle of their rollout, as JSON, until they stand on their commits. */
  readonly displaced: string;
  /** The last commits that came into force or were refused, as JSON; the newest first. */
  readonly history: string;
  /** A newer commit that was not let into force, and why. */
  readonly refusedCommit: CommitOid;
  /** A `RefusalReason`. */
  readonly refusedReason: string;
  readonly refusedBecause: string;
  /** Since when git fails, and with what. */
  readonly failingSince: string;
  readonly failure: string;
  /** `on`, or `off: <reason>`. */
  readonly notes: string;
  /** Notes that alone cannot be written, a line each: the commit, and why. */
  readonly unreadableNotes: string;
  /** Of statuses on the forge: `on`, or `off: <reason>`. */
  readonly statuses: string;
  /** JSON of what the cluster's file says of rollouts, so that it holds also after a restart while git is away. */
  readonly policy: string;
  /** JSON of what the cluster's file of the commit in force holds the next commit to, and of what it was itself read by. */
  readonly limits: string;
  /** What is wrong in the commit in force, a finding a line. */
  readonly findings: string;
}

export const NO_STATE: SourceState = {
  url: '',
  branch: '',
  cluster: '',
  commit: '',
  subject: '',
  author: '',
  takenUpAt: '',
  signedBy: '',
  outcome: '',
  displaced: '',
  history: '',
  refusedCommit: '',
  refusedReason: '',
  refusedBecause: '',
  failingSince: '',
  failure: '',
  notes: 'on',
  unreadableNotes: '',
  statuses: 'off: switched off',
  policy: '',
  limits: '',
  findings: '',
};

export interface StateConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

/** Reads the state back; what is missing or was damaged by hand counts as nothing to say. */
export function readSourceState(object: StateConfigMap | null): SourceState {
  const data = object?.data ?? {};
  const state = Object.fromEntries(
    Object.entries(NO_STATE).map(([key, fallback]) => [key, data[key] ?? fallback]),
  ) as unknown as SourceState;
  return /^[0-9a-f]{40}$/.test(state.commit) ? state : { ...state, commit: '' };
}

export function sourceStateObject(state: SourceState, namespace: string): StateConfigMap {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: SOURCE_STATE_NAME, namespace, labels: { [MANAGED_BY_LABEL]: MANAGED_BY } },
    data: { ...state },
  };
}
