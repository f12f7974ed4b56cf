import type { StatusView } from './render.ts';

/**
 * Whether a commit is in force, and there is nothing that anybody has to look at or wait for.
 *
 * @param commit the beginning of the name of the one that has to be in force; empty for any
 */
export function allSettled({ source, pools }: StatusView, commit = ''): boolean {
  const isQuiet = source.failure === '' && source.refusedCommit === '' && source.findings === '';
  return (
    source.commit !== '' &&
    source.commit.startsWith(commit) &&
    isQuiet &&
    pools.every(({ status }) => {
      const valid = status?.conditions?.every(({ type, status: is }) => type !== 'ConfigValid' || is === 'True');
      return (status?.phase === 'Settled' || status?.phase === 'Empty') && valid !== false;
    })
  );
}
