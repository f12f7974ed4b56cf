import { MEASURE_ANNOTATION } from '#shared/contract/api/group.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { AnalysisStatus } from '#shared/contract/api/kubelet-pool.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { nextAnalysis } from '../analysis/canary-analysis.ts';
import { isMeasured, marksOf } from '../analysis/marks.ts';
import type { Signals } from '../signals.ts';
import type { Step } from '../steps.ts';
import type { Cohort } from './cohort.ts';
import { type Group, type Member, targetOf } from './membership.ts';
import { hasProved } from './standing.ts';
import type { WaveProgress } from './wave-progress.ts';

/**
 * What the measures of the canaries say once their wave is done; undefined before that, and where the pool asks for no analysis. When
 * all waves are done, it goes on only for nodes that wait for it: they could not be changed while the others were.
 *
 * @param before of the same payload
 */
export function analysisOf(
  { pool, members: all }: Group,
  { members }: Cohort,
  { waves, current }: WaveProgress,
  before: AnalysisStatus | undefined,
  now: Millis,
  queries: Signals['queries'],
): AnalysisStatus | undefined {
  if (pool === null) return undefined;
  const spec = pool.spec.rollout.analysis;
  const mark = targetOf(pool)?.sha256;
  const isTried = waves.some(({ name, state }) => name === 'canary' && state === 'done');
  if (spec === undefined || mark === undefined || !isTried) return undefined;
  if (current === null && (before === undefined || !all.some(isWaiting))) return before;
  const canaries = members.flatMap(({ kubeletNode: node, target }) =>
    node !== undefined && target !== null && hasProved(node, target) ? [{ node, sha256: target.sha256 }] : [],
  );
  const waiting = members.filter(isWaiting).flatMap(({ kubeletNode }) => kubeletNode ?? []);
  const answers = queries?.get(pool.name);
  return nextAnalysis(spec, { mark, canaries, waiting, answers }, before, now);
}

/** Has its agents measure, with the annotations that they lack; or no more, where the pool does not ask. */
export function measureSteps({ pool, members }: Group): readonly Step[] {
  const { analysis } = pool?.spec.rollout ?? {};
  const isMeasuring = analysis !== undefined && analysis.measures?.length !== 0;
  const mark = isMeasuring ? (targetOf(pool)?.sha256 ?? null) : null;
  const [waiting, others]: [KubeletNode[], KubeletNode[]] = [[], []];
  for (const member of members) {
    const { kubeletNode } = member;
    // Nearly all nodes of nearly all pools: they have no annotation, and need none.
    if (kubeletNode === undefined || (mark === null && !isMeasured(kubeletNode))) continue;
    (isWaiting(member) ? waiting : others).push(kubeletNode);
  }
  return marksOf(mark, others, waiting).map(({ node, mark: value }) => ({
    step: 'remember',
    node: node.metadata.name,
    present: node,
    annotations: { [MEASURE_ANNOTATION]: value },
  }));
}

/** It has yet to hear of the payload, and nothing else keeps it busy. */
const isWaiting = ({ standing, wasTold, changing }: Member): boolean =>
  standing === 'outdated' && !wasTold && !changing;
