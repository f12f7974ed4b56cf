import { readHistory } from '#reconciler/reporting/notes/commit-history.ts';
import { readFindings } from '#reconciler/reporting/notes/recorded-findings.ts';
import { CONFIG_HEALTH, type KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import { isWarningLine } from '#shared/contract/finding.ts';
import type { StatusView } from './render.ts';

/**
 * Whether a commit is in force, and there is nothing that anybody has to look at or wait for.
 *
 * @param commit the beginning of the name of one that has to be in force, or to have been before a later one; empty for any
 */
export function allSettled({ source, pools, nodes }: StatusView, commit = ''): boolean {
  const isQuiet = source.failure === '' && source.refusedCommit === '' && !isFaulty(source);
  return (
    source.commit !== '' &&
    wasInForce(source, commit) &&
    isQuiet &&
    pools.every((pool) => isSettled(pool) && isConfigValid(pool)) &&
    !nodes.some(needsPerson)
  );
}

/** What the status says of an earlier spec, it does not say of this one. */
function isSettled({ metadata: { generation = 0 }, status = {} }: KubeletPool): boolean {
  const { phase, observedGeneration = generation } = status;
  return (phase === 'Settled' || phase === 'Empty') && observedGeneration >= generation;
}

/** A pool settles by proof alone: a node that drifts from its config, or whose kubelet is down with it, is in it nevertheless. */
export const needsPerson = ({ status = {} }: KubeletNode): boolean =>
  status.phase === 'Drifted' ||
  status.phase === 'Broken' ||
  status.conditions?.some(({ type, status: is }) => type === CONFIG_HEALTH && is === 'False') === true;

/** Whether the commit in force says something that cannot be used. Warnings alone keep nothing from being done, as in its note. */
export const isFaulty = (source: StatusView['source']): boolean =>
  readFindings(source.findings).some((line) => !isWarningLine(line));

/** Whether what the pool's commit says about it can be used. */
export const isConfigValid = ({ status }: KubeletPool): boolean =>
  status?.conditions?.every(({ type, status: is }) => type !== 'ConfigValid' || is === 'True') !== false;

/** Whether this commit is in force, or was before a later one. */
export const wasInForce = ({ commit, history }: StatusView['source'], name: string): boolean =>
  commit.startsWith(name) ||
  readHistory(history).some(({ oid, outcome }) => oid.startsWith(name) && outcome !== 'refused');
