import type { CommitReference } from '#shared/contract/api/kubelet-pool.ts';
import { recordedPolicy } from '../../policy/cluster-policy.ts';
import { commitReference } from '../../policy/commit-reference.ts';
import { runbookOf } from '../../policy/runbook.ts';
import { faultsIn } from '../attention.ts';
import { readHistory } from '../notes/commit-history.ts';
import type { SourceState } from '../notes/source-state.ts';
import type { Notification, Occurrence } from './notification.ts';

/** What there is to tell of the repository and of the cluster as a whole. */
export const sourceOccurrences = (source: SourceState, at: string): readonly Occurrence[] => [
  ...ofRefusal(source, at),
  ...ofFaults(source, at),
  ...ofClusterSuspension(source, at),
];

export const isSuspended = ({ policy }: SourceState): boolean => recordedPolicy(policy, false).suspend;

export const about = (pool: string, at: string): Pick<Notification, 'pools' | 'morePools' | 'at'> => ({
  pools: pool === '' ? [] : [pool],
  morePools: 0,
  at,
});

function ofRefusal(source: SourceState, now: string): readonly Occurrence[] {
  const { refusedCommit: oid, refusedReason, refusedBecause, commit } = source;
  if (oid === '') return [];
  const known = readHistory(source.history).find((past) => past.oid === oid);
  const by = referenceTo(oid, known?.subject, known?.author);
  const stays = commit === '' ? 'no commit is in force' : `${commit.slice(0, 12)} stays in force`;
  return [
    {
      marks: { '/refused': `${oid} ${refusedReason}` },
      notification: {
        ...about('', now),
        kind: 'refused',
        severity: 'warning',
        title: `Commit ${oid.slice(0, 12)} is refused`,
        lines: [refusedBecause, stays],
        commit: by,
        runbook: runbookOf('CommitRefused'),
      },
    },
  ];
}

function ofFaults(source: SourceState, now: string): readonly Occurrence[] {
  const lines = faultsIn(source);
  if (lines.length === 0 || source.commit === '') return [];
  const errors = errorsAmong(lines);
  return [
    {
      // Once for as long as it is said: the next commits are others', and have it in them as well. Nodes that two pools select come and go: once
      // in a commit.
      marks: errors === '' ? { '/in-two': source.commit } : { '/faulty': errors },
      notification: {
        ...about('', now),
        kind: 'refused',
        severity: 'warning',
        title: `Commit ${source.commit.slice(0, 12)} says what cannot be used`,
        lines: [...lines.slice(0, 5), 'what is wrong is left out; the rest of the commit is in force'],
        ...inForce(source),
      },
    },
  ];
}

/** The errors, by which it is known whether they were told: wherever they stand, and without what comes and goes with nodes. '' for none. */
export const errorsAmong = (lines: readonly string[]): string =>
  lines
    .filter((line) => /: error [a-z-]+: /.test(line))
    .map((line) => line.replace(/^([^:]*)(?::\d+){1,2}(?=: )/, '$1'))
    .sort()
    .join('\n');

/** Whether the commit in force says nothing that cannot be used, so that the same error would be news. */
export const isFaultless = (source: SourceState): boolean => errorsAmong(faultsIn(source)) === '';

function ofClusterSuspension(source: SourceState, now: string): readonly Occurrence[] {
  if (!isSuspended(source)) return [];
  return [
    {
      marks: { '/suspended': 'by its file' },
      notification: {
        ...about('', now),
        kind: 'waits',
        severity: 'info',
        title: 'All pools are suspended',
        lines: [
          `clusters/${source.cluster}.yaml says so`,
          'nothing new is started until a commit takes suspend out of it',
        ],
        ...inForce(source),
      },
    },
  ];
}

export const inForce = ({ commit, subject, author }: SourceState): { readonly commit?: CommitReference } =>
  commit === '' ? {} : { commit: referenceTo(commit, subject, author) };

const referenceTo = (oid: string, subject = '', author = ''): CommitReference =>
  commitReference({ oid, subject, author: { name: author, email: '', at: '' } });
