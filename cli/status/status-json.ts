import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import { unseenIn } from '#shared/contract/api/running-config-seen.ts';
import type { NodeReason } from '#reconciler/policy/pool-status/explain-nodes.ts';
import { readFindings } from '#reconciler/reporting/notes/recorded-findings.ts';
import { parseUnreadableNotes } from '#reconciler/reporting/notes/recorded-unreadable-notes.ts';
import { suspensionLine } from '#reconciler/reporting/attention.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import type { StatusView } from './render.ts';

/**
 * What `status -o json` and `-o yaml` print. Absent values are null, names of configs are those of ConfigMaps or `local`.
 *
 * @param why for `--why`
 */
export function statusAsJson(
  view: StatusView,
  settled: boolean,
  why: readonly NodeReason[] | undefined,
  now: Millis,
): object {
  const { source, pools, nodes } = view;
  const { url, branch, cluster, subject, author, takenUpAt, notes } = source;
  return {
    settled,
    repository: { url, branch },
    cluster,
    commit: source.commit === '' ? null : { commit: source.commit, subject, author, takenUpAt },
    refused: source.refusedCommit === '' ? null : { commit: source.refusedCommit, because: source.refusedBecause },
    git: source.failure === '' ? null : { failingSince: source.failingSince, failure: source.failure },
    notes,
    unreadableNotes: parseUnreadableNotes(source.unreadableNotes),
    findings: readFindings(source.findings),
    pools: pools.map((pool) => poolAsJson(pool, now)),
    nodes: nodes.map(nodeAsJson),
    ...(why === undefined ? {} : { why }),
  };
}

function poolAsJson(pool: KubeletPool, now: Millis): object {
  const { metadata, status = {} } = pool;
  const { message: findings = '' } = status.conditions?.find(({ type }) => type === 'ConfigValid') ?? {};
  return {
    name: metadata.name,
    phase: status.phase ?? 'Waiting',
    message: status.message ?? '',
    suspended: suspensionLine(pool, now),
    config: status.configName ?? 'local',
    classes: (status.classes ?? []).map((each) => ({
      name: each.name,
      nodes: each.nodes,
      updated: each.updated ?? null,
      config: each.configName ?? null,
      message: each.message ?? null,
    })),
    counts: status.counts ?? null,
    halt: status.halt ?? null,
    impact: status.impact ?? null,
    findings: findings.split('\n').filter((line) => line !== ''),
    waves: status.rollout?.waves ?? [],
  };
}

function nodeAsJson({ metadata, spec = {}, status = {} }: KubeletNode): object {
  const { phase, active, lastKnownGood, kubeletVersion, heartbeat, error, awaitsTurn } = status;
  const unseen = unseenIn(status);
  return {
    name: metadata.name,
    pool: spec.pool ?? null,
    phase: phase ?? null,
    assigned: status.assigned?.name ?? null,
    active: active?.name ?? null,
    lastKnownGood: lastKnownGood?.name ?? null,
    kubeletVersion: kubeletVersion ?? null,
    heartbeat: heartbeat ?? null,
    error: error === undefined || error === null ? null : { reason: error.reason, message: error.message },
    awaitsTurn:
      awaitsTurn === undefined || awaitsTurn === null
        ? null
        : { reason: awaitsTurn.reason, message: awaitsTurn.message },
    unseen: unseen === undefined ? null : { reason: unseen.reason, message: unseen.message },
  };
}
