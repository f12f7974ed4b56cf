import { awaitedApprovals } from '#shared/contract/api/approval.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import { AGENT_SILENT_MS } from '#shared/contract/api/silent-agent.ts';
import { UNSEEN_REASONS, unseenIn } from '#shared/contract/api/running-config-seen.ts';
import type { KubeletPool, KubeletPoolStatus, PoolPhase } from '#shared/contract/api/kubelet-pool.ts';
import { fromTimestamp, type Millis } from '#shared/runtime/clock.ts';
import type { Fleet } from '../../policy/fleet.ts';
import { suspensionAt } from '../../policy/suspension.ts';
import { changedFields } from '../../policy/pool-status/halt-lines.ts';
import type { BlockingNodes } from '../../policy/pool-status/blocking-nodes.ts';
import { createLabelLimit, type Words } from './label-limit.ts';
import type { Instruments } from './instruments.ts';

const PHASES: readonly PoolPhase[] = ['Settled', 'Progressing', 'Halted', 'Waiting', 'Empty'];

/** An outage takes many nodes of a pool at once, and each is a series. */
const MOST_BLOCKING = 10;

type Pools = Pick<
  Instruments,
  | 'poolNodes'
  | 'poolDrifted'
  | 'poolPhase'
  | 'poolConfigValid'
  | 'poolSuspended'
  | 'poolWaitsForApproval'
  | 'poolInfo'
  | 'poolBlockingNode'
  | 'poolHaltInfo'
  | 'poolAtRisk'
  | 'poolFailedNode'
  | 'nodesUnseen'
  | 'agentsSilent'
>;

/**
 * Sets what is known of pools again, so that those that are gone are gone from the scrape as well.
 *
 * @param allSuspended whether the cluster's file suspends every pool
 * @param blocking     by pool, the names of the nodes that it waits for
 * @param words        bounds what agents may write into labels
 */
export function samplePools(
  fleet: Fleet,
  into: Pools,
  now: Millis,
  allSuspended: boolean,
  blocking: BlockingNodes = new Map(),
  words: Words = createLabelLimit(),
): void {
  clearPools(into);
  const broken = brokenByPool(fleet);
  for (const [pool, names] of blocking) {
    for (const node of names.slice(0, MOST_BLOCKING)) into.poolBlockingNode.set({ pool, node }, 1);
  }
  for (const pool of fleet.pools.values()) {
    readable(() => {
      samplePool(pool, words, into);
      sampleBroken(pool, broken.get(pool.metadata.name) ?? [], into);
      into.poolSuspended.set({ pool: pool.metadata.name }, allSuspended || isSuspended(pool, now) ? 1 : 0);
    });
  }
  const silent = [...fleet.kubeletNodes.values()].filter((node) => readable(() => isSilent(node, now)));
  into.agentsSilent.set(silent.length);
  const nodes = [...fleet.kubeletNodes.values()];
  const reasons = nodes.map((node) => readable(() => unseenIn(node.status ?? {})?.reason));
  for (const reason of UNSEEN_REASONS) {
    into.nodesUnseen.set({ reason }, reasons.filter((each) => each === reason).length);
  }
}

/** One object that cannot be read is missing from a scrape, and no other: `objects_unreadable` counts it. */
function readable<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}

/** A process that does not act says nothing of the fleet: what it said would be counted twice. */
export function clearPools(into: Pools): void {
  const { poolNodes, poolDrifted, poolPhase, poolConfigValid, poolSuspended, poolInfo, poolBlockingNode } = into;
  const { nodesUnseen, agentsSilent, poolHaltInfo, poolAtRisk, poolFailedNode, poolWaitsForApproval } = into;
  const ofPools = [poolNodes, poolDrifted, poolPhase, poolConfigValid, poolSuspended, poolInfo, poolBlockingNode];
  const all = [...ofPools, poolWaitsForApproval, poolHaltInfo, poolAtRisk, poolFailedNode, nodesUnseen];
  for (const metric of all) metric.reset();
  agentsSilent.remove();
}

/** By a person, with the command or in the pool's file: what waits for a person raises no alert. */
const isSuspended = (pool: KubeletPool, now: Millis): boolean =>
  suspensionAt(pool, now) !== null || pool.spec?.suspend === true;

function samplePool({ metadata: { name: pool }, status = {} }: KubeletPool, words: Words, into: Pools): void {
  const { counts, phase, conditions = [], configName: config = 'local', commit = '' } = status;
  const states = { updated: 0, updating: 0, pending: 0, failed: 0, noAgent: 0, ...counts };
  into.poolNodes.set({ pool, state: 'updated' }, states.updated);
  into.poolNodes.set({ pool, state: 'updating' }, states.updating);
  into.poolNodes.set({ pool, state: 'pending' }, states.pending);
  into.poolNodes.set({ pool, state: 'failed' }, states.failed);
  into.poolNodes.set({ pool, state: 'no-agent' }, states.noAgent);
  into.poolDrifted.set({ pool }, counts?.drifted ?? 0);
  for (const each of PHASES) into.poolPhase.set({ pool, phase: each }, each === phase ? 1 : 0);
  const valid = conditions.find(({ type }) => type === 'ConfigValid');
  into.poolConfigValid.set({ pool }, valid?.status === 'False' ? 0 : 1);
  into.poolInfo.set({ pool, config, commit }, 1);
  for (const { configName, since } of awaitedApprovals(status)) {
    into.poolWaitsForApproval.set({ pool, config: configName }, (fromTimestamp(since) ?? 0) / 1000);
  }
  sampleFailures(pool, status, words, into);
}

/** Series that are there only while something fails, a few for each pool. */
function sampleFailures(
  pool: string,
  { halt, impact, failures = [], rollout, ...status }: KubeletPoolStatus,
  words: Words,
  into: Pools,
): void {
  const by = halt?.cause?.by ?? rollout?.by ?? { commit: status.commit ?? '' };
  const commit = by.commit.slice(0, 12);
  for (const { node, reason } of failures.slice(0, MOST_FAILED)) {
    into.poolFailedNode.set({ pool, node, reason: words(reason), commit }, 1);
  }
  if (halt === undefined) return;
  const changed = halt.cause === undefined ? '' : changedFields(halt.cause).slice(0, LONGEST_LABEL).toWellFormed();
  into.poolHaltInfo.set({ pool, config: halt.config, commit, author: by.author ?? '', changed }, 1);
  into.poolAtRisk.set({ pool }, impact?.risk === 'users' ? 1 : 0);
}

/** No failure of the pool's config where the agent does not blame it, and what an alert has to name all the same. */
function sampleBroken(
  { metadata: { name: pool }, status }: KubeletPool,
  broken: readonly KubeletNode[],
  into: Pools,
): void {
  const failed = new Set((status?.failures ?? []).map(({ node }) => node));
  for (const { metadata, spec } of broken.filter((node) => !failed.has(node.metadata.name)).slice(0, MOST_FAILED)) {
    const commit = spec?.commit?.slice(0, 12) ?? '';
    into.poolFailedNode.set({ pool, node: metadata.name, reason: 'KubeletBroken', commit }, 1);
  }
}

const brokenByPool = ({ kubeletNodes }: Fleet): ReadonlyMap<string, readonly KubeletNode[]> =>
  Map.groupBy(
    [...kubeletNodes.values()].filter((node) => readable(() => node.status?.phase) === 'Broken'),
    (node) => node.spec?.pool ?? '',
  );

/** A failure on many nodes says no more than one on ten. */
const MOST_FAILED = 10;
const LONGEST_LABEL = 400;

function isSilent({ status }: KubeletNode, now: Millis): boolean {
  const at = fromTimestamp(status?.heartbeat);
  return at !== undefined && now - at > AGENT_SILENT_MS;
}
