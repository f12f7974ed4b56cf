import type { Halt, KubeletPoolStatus, Released } from '#shared/contract/api/kubelet-pool.ts';
import { firstFew } from '#shared/runtime/first-few.ts';
import type { DesiredPool } from '../desired.ts';
import type { Fleet } from '../fleet.ts';
import { limitOf, thresholdOf } from './amount.ts';
import { type Group, type Member, targetOf } from './membership.ts';
import { isRecordOfTarget, targetRecordOf } from './node-progress.ts';

/** The nodes that took the present target back, whatever became of their agents: a machine that died of it counts as well. */
export function failedMembers(members: readonly Member[]): readonly Member[] {
  return members.filter(
    ({ lifecycle, failedAt, forgive, target }) =>
      target !== null && !forgive && (lifecycle.failed || failedAt !== undefined),
  );
}

/** How many failed nodes stop the rollout of a pool. Failed nodes hold their place in the budget: when they fill it, nothing can go on. */
export function haltThreshold({ pool, members }: Group): number {
  if (pool === null) return 1;
  const { maxUnavailable, onFailure } = pool.spec.rollout;
  const budget = Math.max(1, limitOf(maxUnavailable, members.length));
  return Math.min(thresholdOf(onFailure.threshold, members.length), budget);
}

/**
 * What stops the pool: what stopped it before, while the payload is the same, or failures that reach the threshold now.
 *
 * @param lost see `removedWhileDown`: one machine may be lost by chance, and as many as may fail
 */
export function haltOf(
  group: Group,
  before: KubeletPoolStatus | undefined,
  released: Released | null,
  at: string,
  lost: readonly string[] = [],
): Halt | null {
  const config = group.pool?.config ?? null;
  const target = targetOf(group.pool);
  if (group.pool === null || config === null || target === null) return null;
  const known = before?.halt;
  if (known !== undefined && isRecordOfTarget(known, target) && known.at !== released?.haltedAt) return known;

  const { action } = group.pool.spec.rollout.onFailure;
  const then = action === 'revert' ? '; the nodes that run it go back to what the pool settled on before' : '';
  const halted = (why: string): Halt => {
    const message = `${why}${then}; push a fix or a revert, or release the pool`;
    return { config: config.name, ...targetRecordOf(target), at, message, action };
  };
  const rollout = before?.rollout;
  const isCompared = rollout !== undefined && isRecordOfTarget(rollout, target) && released === null;
  if (isCompared && rollout.analysis?.verdict === 'fail') {
    return halted(`${config.name} made its canaries worse: ${rollout.analysis.message}`);
  }

  const mayBeLost = Math.max(1, haltThreshold(group) - 1);
  if (released === null && lost.length > mayBeLost) {
    return halted(
      `${lost.length} machines went down with ${config.name} before any had proven it, and were removed: ${firstFew(lost, MOST_NODES)}`,
    );
  }
  const failures = failedMembers(group.members);
  const failed = failures.map((member) => member.node.name);
  const threshold = haltThreshold(group);
  if (failed.length < threshold) return null;
  return halted(
    `${whatFailed(group.pool, failures)} failed on ${firstFew(failed, MOST_NODES)} (${whyThatMany(group.pool, group.members.length, threshold)})`,
  );
}

const MOST_NODES = 5;

/** Why so many are enough, so that nobody reads a threshold that is not in `pool.yaml`. */
function whyThatMany({ spec }: DesiredPool, nodes: number, threshold: number): string {
  if (thresholdOf(spec.rollout.onFailure.threshold, nodes) === threshold) return `threshold ${threshold}`;
  return `${threshold === 1 ? '1 failure stops it' : `${threshold} failures stop it`}: no place of maxUnavailable is left`;
}

/** The config that failed; where values are computed, those of the classes that it failed in. */
function whatFailed(pool: DesiredPool, failures: readonly Member[]): string {
  const classes = failures.flatMap(({ node }) => pool.classes?.byNode.get(node.name) ?? []);
  const named = [
    ...new Set(classes.map(({ name, config }) => `${config?.name ?? 'a config'} of machines with ${name}`)),
  ];
  return named.length === 0 ? (pool.config?.name ?? '') : firstFew(named);
}

/**
 * What a person let go on: the payload that is halted now, when the annotation names this very halt, or what was released
 * before, while it is the pool's payload still. The failures of before are forgiven by it, and later ones are not.
 *
 * @param asked value of the pool's release annotation: `<sha256>@<time of the halt>`
 */
export function releaseOf(
  group: Group,
  before: KubeletPoolStatus | undefined,
  asked: string | undefined,
): Released | null {
  const target = targetOf(group.pool);
  const sha256 = target?.sha256;
  const halt = before?.halt;
  if (sha256 !== undefined && halt !== undefined && isRecordOfTarget(halt, target) && asked === releaseValue(halt)) {
    const failures = failedMembers(group.members).map(({ node, failedAt }) => ({
      node: node.name,
      at: failedAt ?? '',
    }));
    return { sha256, haltedAt: halt.at, failures };
  }
  const { released, rollout } = before ?? {};
  // Under the same bytes another config may be meant, of which nobody has seen anything yet.
  const isOther = rollout !== undefined && !isRecordOfTarget(rollout, target);
  return released === undefined || released.sha256 !== sha256 || isOther ? null : released;
}

/** What the release annotation has to say to release this halt and no later one. */
export const releaseValue = ({ sha256, at }: Pick<Halt, 'sha256' | 'at'>): string => `${sha256}@${at}`;

/**
 * The status of a pool as decisions take it. A payload that stopped the pool which its nodes come from stops this one: under another name
 * it is the same payload.
 */
export function withInheritedStatus(
  group: Group,
  before: KubeletPoolStatus | undefined,
  seen: Pick<Fleet, 'pools' | 'configSources'>,
): KubeletPoolStatus | undefined {
  if (before?.rollout !== undefined || (group.pool?.config ?? null) === null) return before;
  const halt = before?.halt ?? haltBroughtAlong(group, seen);
  return halt === undefined ? before : { ...before, halt };
}

/** Of the pools that the nodes were in, or whose config they still have: a node may be in its new pool before that has a status. */
function haltBroughtAlong(
  { pool, members }: Group,
  { pools, configSources }: Pick<Fleet, 'pools' | 'configSources'>,
): Halt | undefined {
  const target = targetOf(pool);
  const origins = new Set(
    members.flatMap(({ kubeletNode }) => {
      const { pool: own, configSource } = kubeletNode?.spec ?? {};
      return [own, configSources.get(configSource?.name ?? '')?.pool];
    }),
  );
  origins.delete(pool?.name);
  const halts = [...origins].flatMap((name) => pools.get(name ?? '')?.status?.halt ?? []);
  return target === null ? undefined : halts.find((halt) => isRecordOfTarget(halt, target));
}
