import type { KubeletSource, KubeletSourceStatus } from '#shared/contract/api/kubelet-source.ts';
import type { CommitOid } from '../../policy/commit-snapshot.ts';

/**
 * What the status of the KubeletSource records: the commit in force, so that a restart can tell a descendant from a rewrite,
 * and what an operator wants to know about the repository. Empty text where there is nothing to say.
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
  /** JSON of the commit that the refusal is due to, so that later ones are not blamed; empty where it is unknown. */
  readonly refusedCause: string;
  /** The commit that is being read: a process that ends meanwhile leaves it behind. */
  readonly reading: CommitOid;
  /** The release of a commit that was carried out last, see `withRelease`. */
  readonly released: string;
  /** Since when git fails, and with what. */
  readonly failingSince: string;
  readonly failure: string;
  /** `on`, or `off: <reason>`. */
  readonly notes: string;
  /** Where notes are signed: the serial and the commit of those that were signed last, see `writeSignedNotes`. */
  readonly signedNotes: string;
  /** Notes that alone cannot be written, a line each: the commit, and why. */
  readonly unreadableNotes: string;
  /** Of statuses on the forge: `on`, or `off: <reason>`. */
  readonly statuses: string;
  /** Of notifications: `on`, or `off: <reason>`. */
  readonly notifications: string;
  /** JSON of what was told and to whom it is owed, see `ToldRecord`. */
  readonly told: string;
  /** JSON of what the cluster's file says of rollouts, so that it holds also after a restart while git is away. */
  readonly policy: string;
  /** JSON of what the cluster's file of the commit in force holds the next commit to, and of what it was itself read by. */
  readonly limits: string;
  /** JSON of what a cluster that follows others has seen of them; empty for one that follows none. */
  readonly following: string;
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
  refusedCause: '',
  reading: '',
  released: '',
  failingSince: '',
  failure: '',
  notes: 'on',
  signedNotes: '',
  unreadableNotes: '',
  statuses: 'off: switched off',
  notifications: 'off: switched off',
  told: '',
  policy: '',
  limits: '',
  following: '',
  findings: '',
};

/** Reads the state back; what is missing or was damaged by hand counts as nothing to say. */
export function readSourceState(source: KubeletSource | null): SourceState {
  const { refused, failure, ...status } = source?.status ?? {};
  const said: Readonly<Record<string, unknown>> = {
    ...status,
    refusedCommit: refused?.commit,
    refusedReason: refused?.reason,
    refusedBecause: refused?.message,
    refusedCause: refused?.cause,
    failingSince: failure?.since,
    failure: failure?.message,
  };
  const texts = Object.entries(NO_STATE).map(([key, fallback]) => {
    const text = said[key];
    return [key, typeof text === 'string' ? text : fallback];
  });
  const state = Object.fromEntries(texts) as unknown as SourceState;
  return /^[0-9a-f]{40}$/.test(state.commit) ? state : { ...state, commit: '' };
}

/** The state as the KubeletSource has it. */
export function writeSourceState(state: SourceState): KubeletSourceStatus {
  const { refusedCommit, refusedReason, refusedBecause, refusedCause, failingSince, failure, ...rest } = state;
  const { displaced, history, told, policy, limits, following, ...texts } = rest;
  const fitting = Object.entries(texts).map(([key, text]) => [key, fitMessage(text)]);
  const because = { commit: refusedCommit, reason: refusedReason, message: fitMessage(refusedBecause) };
  const refused = refusedCause === '' ? because : { ...because, cause: refusedCause };
  return {
    ...withoutEmpty({ displaced, history, told, policy, limits, following, ...Object.fromEntries(fitting) }),
    ...(refusedCommit === '' ? {} : { refused }),
    ...(failure === '' ? {} : { failure: { since: failingSince, message: fitMessage(failure) } }),
  };
}

export const withoutEmpty = (texts: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== ''));

/** As long as the definition of the KubeletSource lets a message be: beyond that the API server would refuse the whole record. */
const LONGEST_MESSAGE = 32_768;

export const fitMessage = (text: string): string =>
  text.length <= LONGEST_MESSAGE ? text : `${text.slice(0, LONGEST_MESSAGE - 1).toWellFormed()}…`;
