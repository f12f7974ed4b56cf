import { MEASURE_ANNOTATION } from '#shared/contract/api/group.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { AnalysisStatus, RolloutStatus } from '#shared/contract/api/kubelet-pool.ts';
import { type Millis, toTimestamp } from '#shared/runtime/clock.ts';
import { nextAnalysis } from '../analysis/canary-analysis.ts';
import { isMeasured, measureMarks } from '../analysis/measure-marks.ts';
import type { Signals } from '../signals.ts';
import type { Step } from '../steps.ts';
import type { Cohort } from './cohort.ts';
import { type Group, type Member, targetOf } from './membership.ts';
import { hasProved, isRecordOfTarget } from './node-progress.ts';
import type { WaveProgress } from './wave-progress.ts';

/**
 * What the measures of the canaries say once their wave is done; undefined before that, and where the pool asks for no analysis. When
 * all waves are done, it goes on only for nodes that wait for it: they could not be changed while the others were.
 *
 * @param rollout the way of the same payload so far; undefined for a new one
 */
export function analysisOf(
  { pool, members: all }: Group,
  { members }: Cohort,
  { waves, current }: WaveProgress,
  rollout: RolloutStatus | undefined,
  now: Millis,
  queries: Signals['queries'],
): AnalysisStatus | undefined {
  if (pool === null) return undefined;
  const spec = pool.spec.rollout.analysis;
  const sha256 = targetOf(pool)?.sha256;
  const before = rollout?.analysis;
  const isTried = waves.some(({ name, state }) => name === 'canary' && state === 'done');
  if (spec === undefined || sha256 === undefined || !isTried) return undefined;
  if (current === null && (before === undefined || !all.some(isWaiting))) return before;
  const canaries = members.flatMap(({ kubeletNode: node, target }) =>
    node !== undefined && target !== null && hasProved(node, target) ? [{ node, sha256: target.sha256 }] : [],
  );
  const waiting = members.filter(isWaiting).flatMap(({ kubeletNode }) => kubeletNode ?? []);
  const answers = queries?.get(pool.name);
  const mark = markOf({ sha256, startedAt: rollout?.startedAt ?? toTimestamp(now) });
  return nextAnalysis(spec, { mark, canaries, waiting, answers }, before, now);
}

/** What agents measure for; another one where the same payload is tried once more. The CRD takes 64 characters. */
const markOf = ({ sha256, startedAt }: Pick<RolloutStatus, 'sha256' | 'startedAt'>): string =>
  `${sha256.slice(0, 40)}@${startedAt}`;

/**
 * Has its agents measure, with the annotations that they lack; or no more, where the pool does not ask. Nodes that wait begin a new
 * window when the first canary does: it may have waited for days for its own window.
 */
export function measureSteps({ pool, members }: Group, rollout: RolloutStatus | null): readonly Step[] {
  const { analysis } = pool?.spec.rollout ?? {};
  const target = analysis === undefined || analysis.measures?.length === 0 ? null : targetOf(pool);
  if (target !== null && (rollout === null || !isRecordOfTarget(rollout, target))) return [];
  const mark = target === null || rollout === null ? null : markOf(rollout);
  const hasBegun = members.some(({ isAssigned }) => isAssigned);
  const [waiting, others]: [KubeletNode[], KubeletNode[]] = [[], []];
  for (const member of members) {
    const { kubeletNode } = member;
    // Nearly all nodes of nearly all pools: they have no annotation, and need none.
    if (kubeletNode === undefined || (mark === null && !isMeasured(kubeletNode))) continue;
    (hasBegun && isWaiting(member) ? waiting : others).push(kubeletNode);
  }
  return measureMarks(mark, others, waiting).map(({ node, mark: value }) => ({
    step: 'remember',
    node: node.metadata.name,
    present: node,
    annotations: { [MEASURE_ANNOTATION]: value },
  }));
}

/** It has yet to hear of the payload, and nothing else keeps it busy. */
const isWaiting = ({ lifecycle, isAssigned }: Member): boolean =>
  lifecycle.mayBeTold && !lifecycle.inChange && !isAssigned;
