import { APPROVE_ANNOTATION, BY_ANNOTATION } from '#shared/contract/api/group.ts';
import type { RolloutStatus } from '#shared/contract/api/kubelet-pool.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { NO_PROOF } from '../proof/record.ts';
import type { Cohort } from './cohort.ts';
import { haltThreshold } from './halt.ts';
import type { Group } from './membership.ts';
import { type ApprovalFacts, asksAnybody } from './pause.ts';
import { hasVerdict, type RolloutNow } from './rollout-status.ts';
import { type WaveProgress, waveProgress } from './wave-progress.ts';

/** The classes of all its nodes have proven what these are to run. */
export const isAllProven = ({ members, proof = NO_PROOF }: Group): boolean =>
  members.every(({ node, target }) => proof.isProven(node.name, target));

/** What people say of a pool, and what became of it. */
interface SaidOfPool extends Pick<RolloutNow, 'released'> {
  readonly annotations: Readonly<Record<string, string>> | undefined;
}

/** How far the payload of a pool has come; null for nodes of no pool. */
export function wavesOfPool(
  group: Group,
  { members }: Cohort,
  before: RolloutStatus | undefined,
  { released, annotations }: SaidOfPool,
  now: Millis,
): WaveProgress | null {
  const { pool, proof = NO_PROOF } = group;
  if (pool === null) return null;
  const { spec, name, config } = pool;
  const approval: ApprovalFacts | undefined =
    config === null || !asksAnybody(spec.rollout)
      ? undefined
      : {
          pool: name,
          configName: config.name,
          sha256: config.sha256,
          value: annotations?.[APPROVE_ANNOTATION],
          by: annotations?.[BY_ANNOTATION],
          isProven: isAllProven(group),
          isCompared: spec.rollout.analysis === undefined || released !== null || hasVerdict(before?.analysis),
        };
  return waveProgress(
    spec.rollout,
    members,
    before,
    haltThreshold(group) - 1,
    now,
    group.members,
    (member) => proof.isProven(member.node.name, member.target),
    approval,
  );
}
