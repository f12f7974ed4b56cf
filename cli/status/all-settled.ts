import { readHistory } from '#reconciler/report/commit-history.ts';
import type { StatusView } from './render.ts';

/**
 * Whether a commit is in force, and there is nothing that anybody has to look at or wait for.
 *
 * @param commit the beginning of the name of one that has to be in force, or to have been before a later one; empty for any
 */
export function allSettled({ source, pools }: StatusView, commit = ''): boolean {
  const isQuiet = source.failure === '' && source.refusedCommit === '' && source.findings === '';
  return (
    source.commit !== '' &&
    hasCome(source, commit) &&
    isQuiet &&
    pools.every(({ status }) => {
      const valid = status?.conditions?.every(({ type, status: is }) => type !== 'ConfigValid' || is === 'True');
      return (status?.phase === 'Settled' || status?.phase === 'Empty') && valid !== false;
    })
  );
}

const hasCome = ({ commit, history }: StatusView['source'], name: string): boolean =>
  commit.startsWith(name) ||
  readHistory(history).some(({ oid, outcome }) => oid.startsWith(name) && outcome !== 'refused');
