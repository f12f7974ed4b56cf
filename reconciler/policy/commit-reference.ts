import type { CommitReference } from '#shared/contract/api/kubelet-pool.ts';
import type { Commit } from './commit-snapshot.ts';

const LONGEST = 100;

/**
 * A commit as people know it. Statuses, Events and metrics show it to more people than may read the repository, so that no address is in
 * it.
 */
export function commitReference({ oid, subject, author }: Pick<Commit, 'oid' | 'subject' | 'author'>): CommitReference {
  const [title, name] = [cut(subject), cut(withoutAddress(author.name).trim())];
  return { commit: oid, ...(title === '' ? {} : { subject: title }), ...(name === '' ? {} : { author: name }) };
}

/** `c372e46f1b2a "Tune general" (Ada)`. */
export const commitText = ({ commit, subject = '', author = '' }: CommitReference): string =>
  `${commit.slice(0, 12)}${subject === '' ? '' : ` "${subject}"`}${author === '' ? '' : ` (${author})`}`;

/** Some write their address where their name belongs: what stands before the `@` names them as well. */
const withoutAddress = (name: string): string => name.replaceAll(/@[^\s@]*/g, '').replaceAll(/[<>]/g, '');

const cut = (text: string): string => (text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 1).toWellFormed()}…`);
