import { readHistory } from '#reconciler/reporting/notes/commit-history.ts';
import { attentionOf } from '#reconciler/reporting/attention.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import type { StatusView } from './render.ts';

/**
 * Whether a commit is in force, and there is nothing that anybody has to look at or wait for.
 *
 * @param commit the beginning of the name of one that has to be in force, or to have been before a later one; empty for any
 */
export function allSettled(view: StatusView, commit = ''): boolean {
  const { source, pools } = view;
  return (
    source.commit !== '' &&
    wasInForce(source, commit) &&
    pools.every(isSettled) &&
    !attentionOf(view).some(({ isUnsettling }) => isUnsettling)
  );
}

/** What the status says of an earlier spec, it does not say of this one. */
function isSettled({ metadata: { generation = 0 }, status = {} }: KubeletPool): boolean {
  const { phase, observedGeneration = generation } = status;
  return (phase === 'Settled' || phase === 'Empty') && observedGeneration >= generation;
}

/** Whether this commit is in force, or was before a later one. */
export const wasInForce = ({ commit, history }: StatusView['source'], name: string): boolean =>
  commit.startsWith(name) ||
  readHistory(history).some(({ oid, outcome }) => oid.startsWith(name) && outcome !== 'refused');
