import type { Clock } from '#shared/runtime/clock.ts';
import type { CommitDecision } from './policy/commit-admission/accepted-commits.ts';
import type { Fleet } from './policy/fleet.ts';
import type { ForgeStatusWriter } from './reporting/forge/forge-status-writer.ts';
import { type CommitNote, noteRefused } from './reporting/notes/commit-note.ts';
import type { DueNotes } from './reporting/notes/due-notes.ts';
import type { NotesWriter } from './reporting/notes/notes-writer.ts';
import type { SourceState } from './reporting/notes/source-state.ts';
import type { Notifier } from './reporting/notifications/notifier.ts';

export interface ReportPorts {
  readonly cluster: string;
  readonly clock: Clock;
  /** null where notes are switched off. */
  readonly notes: NotesWriter | null;
  /** null where statuses on the forge are switched off. */
  readonly statuses: ForgeStatusWriter | null;
  /** null where nobody is told. */
  readonly notifier: Notifier | null;
}

/** What a pass says outside of the cluster: notes, statuses on the forge, notifications. What fails there holds nothing up. */
export interface PassReports {
  /** Has the notes written that are due, and their statuses on the forge. */
  want(refused: CommitDecision['refused'], due: DueNotes): void;
  /** For the record: `on`, or why not. */
  states(): Pick<SourceState, 'statuses' | 'notifications'>;
  /**
   * The record with what is to be told of it.
   *
   * @param isRead whether the commit in force was read
   */
  withTold(source: SourceState, fleet: Fleet, isRead: boolean): SourceState;
  /** The record is in the cluster, with what `withTold` put there. */
  saved(told: string): void;
}

/** @param telling runs what only tells, and never throws */
export function createPassReports(ports: ReportPorts, telling: (tell: () => void) => void): PassReports {
  const { cluster, clock, notes, statuses, notifier } = ports;
  return {
    want(refused, { displaced, present }) {
      const want = (note: CommitNote, onlyFirst = false): void =>
        telling(() => {
          notes?.want(note, onlyFirst);
          statuses?.want(note, onlyFirst);
        });
      if (refused !== null) {
        // A branch that was set back to a commit of before says nothing new of that commit.
        want(noteRefused(cluster, refused.commit, refused.message), refused.reason === 'history-rewritten');
      }
      for (const note of [...displaced, ...(present === null ? [] : [present])]) want(note);
    },
    states() {
      const state = statuses?.state() ?? { statuses: 'off', because: 'switched off' };
      return {
        statuses: state.statuses === 'on' ? 'on' : `off: ${state.because}`,
        notifications: notifier?.state() ?? 'off: switched off',
      };
    },
    withTold(source, { pools, unreadable = [] }, isRead) {
      // Whoever is told again one day is not told of all that happened meanwhile.
      if (notifier === null) return { ...source, told: '' };
      let { told } = source;
      const isPool = (name: string): boolean =>
        pools.has(name) || unreadable.some((each) => each.of === 'pool' && each.name === name);
      telling(() => {
        told = notifier.next(source.told, { source, pools: [...pools.values()], now: clock.now(), isRead }, isPool);
      });
      return { ...source, told };
    },
    saved: (told) => telling(() => notifier?.saved(told)),
  };
}
