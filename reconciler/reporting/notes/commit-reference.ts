import type { CommitReference } from '#shared/contract/api/kubelet-pool.ts';
import { plainLine } from '../../git/plain-text.ts';
import type { Commit, CommitOid } from '../../policy/commit-snapshot.ts';
import type { SourceState } from './source-state.ts';

const LONGEST = 100;

/**
 * A commit as people know it, by what was read or is on record. Statuses, Events and metrics show it to more people than may read the
 * repository, so that no address is in it.
 *
 * @param tip the commit that was read last; null for none
 */
export function commitReference(
  commit: CommitOid,
  tip: Pick<Commit, 'oid' | 'subject' | 'author'> | null,
  recorded: Pick<SourceState, 'commit' | 'subject' | 'author'>,
): CommitReference {
  if (tip?.oid === commit) return { commit, ...textsOf(tip.subject, tip.author.name) };
  return recorded.commit === commit ? { commit, ...textsOf(recorded.subject, recorded.author) } : { commit };
}

function textsOf(subject: string, author: string): Omit<CommitReference, 'commit'> {
  const [title, name] = [plainLine(subject, LONGEST), plainLine(withoutAddress(author), LONGEST)];
  return { ...(title === '' ? {} : { subject: title }), ...(name === '' ? {} : { author: name }) };
}

/** Some write their address where their name belongs: what stands before the `@` names them as well. */
const withoutAddress = (name: string): string => name.replaceAll(/@[^\s@]*/g, '').replaceAll(/[<>]/g, '');
