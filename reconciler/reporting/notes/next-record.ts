import { type Millis, toTimestamp } from '#shared/runtime/clock.ts';
import { policyOf } from '../../policy/cluster-policy.ts';
import type { JudgedSnapshot } from '../../policy/commit-snapshot.ts';
import type { Desired } from '../../policy/desired.ts';
import type { CommitDecision } from '../../policy/commit-admission/accepted-commits.ts';
import { limitsOf, writeLimits } from '../../policy/commit-limits.ts';
import { type PastCommit, writeHistory } from './commit-history.ts';
import { writeSignedNotes } from '../../policy/following/notes-serial.ts';
import { formatDisplacedNotes } from './displaced-notes.ts';
import type { DueNotes } from './due-notes.ts';
import { type CommitNote, isFinal } from './commit-note.ts';
import type { NotesWriter } from './notes-writer.ts';
import { writeFindings } from './recorded-findings.ts';
import type { SourceState } from './source-state.ts';
import { formatUnreadableNotes } from './recorded-unreadable-notes.ts';

/** What a pass found out, as far as the record tells of it. */
export interface RecordedPass {
  /** What this process follows. */
  readonly here: Pick<SourceState, 'url' | 'branch' | 'cluster'>;
  readonly taken: CommitDecision;
  readonly tip: JudgedSnapshot | null;
  /** null while the repository answers. */
  readonly failure: { readonly since: string; readonly code: string; readonly message: string } | null;
  readonly desired: Desired;
  readonly leftAlone: readonly string[];
  readonly due: DueNotes;
  /** null where notes are switched off. */
  readonly notes: Pick<NotesWriter, 'state' | 'stands' | 'unreadable' | 'signed'> | null;
  /** Whether statuses on the forge are written, in words of the record. */
  readonly statuses: SourceState['statuses'];
  /** The same of notifications. */
  readonly notifications: SourceState['notifications'];
  /** Of a cluster that follows others. Absent: it follows none, or nothing is known of that yet. */
  readonly following: string;
  readonly at: Millis;
}

/** The record as it is to be after a pass. */
export function nextRecord(recorded: SourceState, round: RecordedPass): SourceState {
  const { here, tip, failure, desired, leftAlone, due, notes } = round;
  const { inForce, refused } = round.taken;
  const fresh = inForce !== null && inForce.oid !== recorded.commit && tip?.commit.oid === inForce.oid;
  const state = notes?.state() ?? { notes: 'off' as const, because: 'switched off' };
  const { present, displaced } = due;
  const isNoted = present !== null && isFinal(present) && notes?.stands(present) === true;
  const at = toTimestamp(round.at);
  const described = { ...recorded, ...(fresh ? describeCommit(tip, at) : {}) };
  return {
    ...described,
    ...here,
    history: writeHistory(recorded.history, newsOf(described, present, refused, tip, at)),
    outcome: present === null ? recorded.outcome : isNoted ? present.outcome : '',
    displaced: formatDisplacedNotes(displaced, notes),
    refusedCommit: refused?.commit ?? '',
    refusedReason: refused?.reason ?? '',
    refusedBecause: refused?.message ?? '',
    refusedCause: refused?.cause === undefined ? '' : JSON.stringify(refused.cause),
    reading: round.taken.reading ?? '',
    failingSince: failure?.since ?? '',
    failure: failure === null ? '' : `${failure.code}: ${failure.message}`,
    notes: state.notes === 'on' ? 'on' : `off: ${state.because}`,
    signedNotes: writeSignedNotes(notes?.signed() ?? null) || recorded.signedNotes,
    unreadableNotes: formatUnreadableNotes(notes?.unreadable() ?? []),
    statuses: round.statuses,
    notifications: round.notifications,
    policy: JSON.stringify(policyOf(desired.policy)),
    limits: inForce === null ? recorded.limits : writeLimits(limitsOf(inForce.repo.cluster), inForce.boundsBefore),
    following: round.following,
    findings: writeFindings(desired.findings, leftAlone),
  };
}

function describeCommit(
  { commit, signature }: JudgedSnapshot,
  takenUpAt: string,
): Pick<SourceState, 'commit' | 'subject' | 'author' | 'takenUpAt' | 'signedBy'> {
  const signedBy = signature.verdict === 'trusted' ? `${signature.signer} (${signature.key})` : '';
  return { commit: commit.oid, subject: commit.subject, author: commit.author.name, takenUpAt, signedBy };
}

/** What is to be remembered of the commit in force, and of a newer one that was refused. */
function newsOf(
  { commit, subject, author, takenUpAt }: SourceState,
  present: CommitNote | null,
  refused: CommitDecision['refused'],
  tip: JudgedSnapshot | null,
  now: string,
): readonly PastCommit[] {
  const inForce =
    present === null || commit !== present.commit
      ? []
      : [{ oid: commit, subject, author, at: takenUpAt, outcome: present.outcome }];
  if (refused === null || tip?.commit.oid !== refused.commit) return inForce;
  const { oid, subject: title, author: by } = tip.commit;
  return [...inForce, { oid, subject: title, author: by.name, at: now, outcome: 'refused' }];
}
