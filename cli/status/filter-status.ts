import { recordedPolicy } from '#reconciler/policy/cluster-policy.ts';
import { isAgentAlive } from '#shared/contract/api/silent-agent.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import { NO_STATE } from '#reconciler/reporting/notes/source-state.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { findByName } from '../find-by-name.ts';
import { attentionOf } from '#reconciler/reporting/attention.ts';
import type { StatusView } from './render.ts';
import { nodeTroubles } from './render-nodes.ts';

/** Which part of a status is asked for; undefined for all. */
interface StatusQuestion {
  readonly pool: string | undefined;
  readonly node: string | undefined;
  readonly hasProblems: boolean;
}

interface FilteredStatus {
  /** What the command judges: the pools and nodes that were named. */
  readonly view: StatusView;
  /** What it shows of that: with `--problems`, only what is not as it should be. */
  readonly shown: StatusView;
  /** Whether the reason for a node is shown. */
  isShown(reason: { readonly node: string; readonly pool: string }): boolean;
}

/**
 * The part of a status that was asked for. Pure.
 *
 * @throws Mistake where the cluster has no such pool or node
 */
export function filterStatus(
  all: StatusView,
  { pool, node, hasProblems }: StatusQuestion,
  now: Millis,
): FilteredStatus {
  const ofNode = node === undefined ? undefined : findByName('node', all.nodes, node);
  const named = pool === undefined ? undefined : findByName('pool', all.pools, pool).metadata.name;
  const wanted = named ?? (ofNode === undefined ? undefined : (ofNode.spec?.pool ?? ''));
  const view: StatusView = {
    ...all,
    pools: all.pools.filter(({ metadata }) => wanted === undefined || metadata.name === wanted),
    nodes: all.nodes
      .filter((each) => ofNode === undefined || each === ofNode)
      .filter(({ spec }) => named === undefined || spec?.pool === named),
  };
  if (!hasProblems) {
    const isShown: FilteredStatus['isShown'] = (reason) =>
      (node === undefined || reason.node === node) && (named === undefined || reason.pool === named);
    return { view, shown: view, isShown };
  }
  const isAllSuspended = recordedPolicy(all.source.policy, false).suspend;
  const pools = view.pools.filter((each) => !isWell(each) || isAllSuspended);
  const nodes = view.nodes.filter((each) => !isAtRest(each, now));
  const leftOut = { pools: view.pools.length - pools.length, nodes: view.nodes.length - nodes.length };
  const shown: StatusView = { ...view, pools, nodes, leftOut };
  const names = new Set(shown.nodes.map(({ metadata }) => metadata.name));
  return { view, shown, isShown: (reason) => names.has(reason.node) };
}

const isWell = (pool: KubeletPool): boolean =>
  (pool.status?.phase === 'Settled' || pool.status?.phase === 'Empty') &&
  attentionOf({ source: NO_STATE, pools: [pool], nodes: [] }).length === 0;

/** It runs what is assigned, its agent reports, and there is nothing that a person has to know. */
const isAtRest = (node: KubeletNode, now: Millis): boolean =>
  isAgentAlive(node, now) &&
  node.status?.phase === 'Idle' &&
  (node.spec?.configSource?.sha256 ?? '') === (node.status.active?.sha256 ?? '') &&
  nodeTroubles(node).length === 0;
