import type { KubeletSource } from '#shared/contract/api/kubelet-source.ts';
import { BY_ANNOTATION, RELEASE_ANNOTATION } from '#shared/contract/api/group.ts';
import { readFollowing } from '../../policy/following/record.ts';
import { releasedCommit } from '../notes/recorded-commits.ts';
import type { ClusterEvent, EventSubject } from './cluster-event.ts';

/** All events of the branch by the status of its object as it is now, reported before or not. Pure. */
export function eventsOfSource({ metadata, status = {} }: KubeletSource): readonly ClusterEvent[] {
  const { name, uid, annotations = {} } = metadata;
  if (uid === undefined) return [];
  const about: EventSubject = { kind: 'KubeletSource', name, uid };
  const base = { about, pool: '', config: '' };
  const { commit, takenUpAt, lastAttemptedAt, refused, conditions = [] } = status;
  const all: ClusterEvent[] = [];
  if (commit !== undefined) {
    const note = `${say({ ...status, commit })} came into force`;
    const identity = `in force ${commit} ${takenUpAt ?? ''}`;
    all.push({ ...base, reason: 'CommitInForce', type: 'Normal', note, ...dated(takenUpAt), identity });
  }
  const value = annotations[RELEASE_ANNOTATION] ?? '';
  const recorded = readFollowing(status.following ?? '')?.released;
  // Only the record says what nobody had proven, and only the annotation is left where the commit ended the following.
  const letThrough = [recorded, releasedCommit({ value, by: annotations[BY_ANNOTATION] })].find(
    (each) => each?.oid === commit,
  );
  if (commit !== undefined && letThrough) {
    const note = `${say({ ...status, commit })} was ${letThrough.said}`;
    const reason = letThrough.isApproved === true ? 'Approved' : 'Released';
    const identity = `${reason} ${commit} ${takenUpAt ?? ''}`;
    all.push({ ...base, reason, type: 'Normal', note, ...dated(takenUpAt), identity });
  }
  if (refused !== undefined) {
    const note = `${say(refused)} is refused: ${refused.message}`;
    const identity = `refused ${refused.commit} ${refused.reason}`;
    all.push({ ...base, reason: 'CommitRefused', type: 'Warning', note, ...dated(lastAttemptedAt), identity });
  }
  const wrong = conditions.find(
    ({ type, status: is, reason }) => type === 'Stalled' && is === 'True' && reason === 'ConfigRefused',
  );
  if (wrong !== undefined && commit !== undefined) {
    const note = `${say({ ...status, commit })} has errors: ${wrong.message}`;
    const identity = `errors ${commit} ${wrong.message}`;
    all.push({
      ...base,
      reason: 'ConfigRefused',
      type: 'Warning',
      note,
      ...dated(wrong.lastTransitionTime),
      identity,
    });
  }
  return all;
}

const dated = (at: string | undefined): { readonly at?: string } => (at === undefined ? {} : { at });

interface Named {
  readonly commit: string;
  readonly subject?: string;
  readonly author?: string;
}

/** The author is whom the commit names: only a trusted signature would prove it. */
function say({ commit, subject = '', author = '' }: Named): string {
  const about = [subject, ...(author === '' ? [] : [`author: ${author}`])].filter((text) => text !== '');
  return `Commit ${commit.slice(0, 12)}${about.length === 0 ? '' : ` (${about.join('; ')})`}`;
}
