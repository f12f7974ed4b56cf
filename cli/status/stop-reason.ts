import { awaitedApprovals } from '#shared/contract/api/approval.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPool, KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import { attentionOf, faultsIn, invalidity, suspensionLine } from '#reconciler/reporting/attention.ts';
import { wasInForce } from './all-settled.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { firstFew } from '#shared/runtime/first-few.ts';
import { recordedPolicy } from '#reconciler/policy/cluster-policy.ts';
import { readProof } from '#reconciler/policy/proof/record.ts';
import type { StatusView } from './render.ts';

/**
 * Why nothing more happens until a person commits, approves, releases or resumes something; null while something may. Where only windows, budgets or a
 * repository that cannot be read hold things up, that may end by itself. Pure.
 *
 * @param commit the beginning of the name of the commit that is waited for; empty for whichever is in force
 */
export function stopReason(view: StatusView, now: Millis, commit = ''): string | null {
  const { source, pools, nodes } = view;
  const isRefused = source.refusedCommit !== '' && source.refusedCommit.startsWith(commit);
  const refused = isRefused ? `commit ${source.refusedCommit.slice(0, 12)} was refused` : null;
  if (!wasInForce(source, commit)) return refused;
  const isAllSuspended = recordedPolicy(source.policy, false).suspend;
  const suspended = pools.filter((pool) => isSuspended(pool, isAllSuspended, now));
  const paused = pools.filter(isPaused);
  const standing = new Set([...suspended, ...paused]);
  if (pools.some((pool) => !standing.has(pool) && isMoving(pool, nodes))) return null;
  const [halted, invalid] = [pools.filter(isHalted), pools.filter((pool) => invalidity(pool) !== undefined)];
  const stops = [
    ...(refused === null ? [] : [refused]),
    ...suspended.map(({ metadata }) => `pool ${metadata.name} is suspended`),
    ...paused.map(({ metadata }) => `pool ${metadata.name} waits for an approval`),
    ...halted.map(({ metadata }) => `pool ${metadata.name} is halted`),
    ...invalid.map(({ metadata }) => `the config of pool ${metadata.name} is refused`),
    ...unwellNodes(view),
    ...(faultsIn(source).length === 0 || invalid.length > 0 ? [] : ['the commit has findings']),
  ];
  return stops.length === 0 ? null : stops.join(', ');
}

function unwellNodes(view: StatusView): readonly string[] {
  const names = attentionOf(view).flatMap(({ kind, name }) => (kind.startsWith('node-') ? [name] : []));
  return names.length === 0 ? [] : [`${firstFew(names)} drifted, or the kubelet is not healthy there`];
}

/** Nodes that are in the middle of a change finish it. */
const standsStill = ({ status }: KubeletPool): boolean =>
  status?.phase === 'Waiting' && (status.counts?.updating ?? 0) === 0;

const isSuspended = (pool: KubeletPool, isAllSuspended: boolean, now: Millis): boolean =>
  standsStill(pool) && (isAllSuspended || suspensionLine(pool, now) !== null);

const isPaused = (pool: KubeletPool): boolean => standsStill(pool) && awaitedApprovals(pool.status).length > 0;

const isHalted = ({ status }: KubeletPool): boolean => status?.phase === 'Halted';

/** A halted pool still moves while a trial that was begun goes on, and until everybody is back who goes back. */
function isMoving({ metadata, status }: KubeletPool, nodes: readonly KubeletNode[]): boolean {
  const { phase, counts, halt } = status ?? {};
  if (phase !== 'Halted') return phase !== 'Settled' && phase !== 'Empty';
  const isGoingBack = (node: KubeletNode): boolean =>
    haltedIn(status).some((sha256) => runs(node, metadata.name, sha256));
  const isBack = halt?.action !== 'revert' || !nodes.some(isGoingBack);
  return (counts?.updating ?? 0) > 0 || !isBack;
}

/** What a halted pool takes back: its payload, or of computed values those that no class has proven. */
function haltedIn(status: KubeletPoolStatus = {}): readonly string[] {
  const { halt, classes } = status;
  if (halt === undefined || classes === undefined) return halt === undefined ? [] : [halt.sha256];
  const former = new Set([...readProof(status).values()].map(({ proven }) => proven?.sha256));
  return classes.flatMap(({ sha256 }) => (sha256 === undefined || former.has(sha256) ? [] : [sha256]));
}

const runs = ({ spec, status }: KubeletNode, pool: string, sha256: string): boolean =>
  spec?.pool === pool && status?.active?.sha256 === sha256;
