import type { StatusView } from './render.ts';

/** Whether a commit is in force, and there is nothing that anybody has to look at or wait for. */
export function allSettled({ source, pools }: StatusView): boolean {
  const isQuiet = source.failure === '' && source.refusedCommit === '' && source.findings === '';
  return (
    source.commit !== '' &&
    isQuiet &&
    pools.every(({ status }) => {
      const valid = status?.conditions?.every(({ type, status: is }) => type !== 'ConfigValid' || is === 'True');
      return (status?.phase === 'Settled' || status?.phase === 'Empty') && valid !== false;
    })
  );
}
