import { writtenKeep } from '#shared/contract/api/config-identity.ts';
import type {
  AnalysisStatus,
  CommitReference,
  Halt,
  KubeletPoolStatus,
  ProofRecord,
  Released,
  RolloutStatus,
  SettledConfig,
  WaveStatus,
} from '#shared/contract/api/kubelet-pool.ts';
import { type Millis, toTimestamp } from '#shared/runtime/clock.ts';
import type { Cohort } from './cohort.ts';
import { type Group, targetOf } from './membership.ts';
import type { OnTrial } from './on-trial.ts';
import { isRecordOfTarget, targetRecordOf } from './node-progress.ts';
import { nextProof } from './next-proof.ts';
import { NO_PROOF } from '../proof/record.ts';
import type { WaveProgress } from './wave-progress.ts';

/** What is remembered of a pool's rollout between two passes; everything else is seen again each time. */
export interface RolloutMemory {
  readonly halt: Halt | null;
  readonly released: Released | null;
  readonly settled: SettledConfig | null;
  readonly proof: ProofRecord | null;
  readonly rollout: RolloutStatus | null;
}

/** How a rollout stands in this pass. */
export interface RolloutNow extends Pick<RolloutMemory, 'halt' | 'released'> {
  /** null where nobody begins. */
  readonly waves: WaveProgress | null;
  readonly cohort: Cohort;
  readonly analysis?: AnalysisStatus | undefined;
  readonly onTrial?: OnTrial | undefined;
  /** See `removedWhileDown`. */
  readonly lost?: readonly string[];
  /** The commit in force. */
  readonly by?: CommitReference | undefined;
}

/**
 * What the pool's status is to remember. The pool has settled on its payload when every wave is done and the comparison that it asks
 * for is over. What the nodes show in between, whoever can be asked just then, settles nothing.
 */
export function rememberRollout(
  group: Group,
  before: KubeletPoolStatus | undefined,
  { halt, released, waves, cohort, analysis, onTrial, lost = [], by: inForce }: RolloutNow,
  now: Millis,
): RolloutMemory {
  const { pool, proof = NO_PROOF } = group;
  const config = pool?.config ?? null;
  const target = targetOf(pool);
  const past = before?.rollout ?? null;
  const rolled = (rollout: RolloutStatus | null): RolloutStatus | null =>
    halt === null || rollout === null ? rollout : { ...rollout, waves: rollout.waves.map(stopped) };
  const known = { halt, released, settled: before?.settled ?? null, proof: before?.proof ?? null };
  if (config === null || target === null || pool?.unverified === true) return { ...known, rollout: rolled(past) };
  const stand = { waves, analysis, isHalted: halt !== null, isOver: false, isOverNow: false };
  const { settled: settledOn = null } = proof;
  if (waves === null) {
    const next = nextProof(group, proof, before, stand, now);
    return { halt, released, settled: settledOn, proof: next, rollout: rolled(proof.last ?? null) };
  }

  const at = toTimestamp(now);
  const isFinished = waves.current === null && cohort.members.length > 0 && (released !== null || isCompared(analysis));
  const last = proof.rollout;
  const displaced = last === undefined && past !== null && past.finishedAt === undefined ? past : undefined;
  const superseded = last?.superseded ?? (displaced === undefined ? 0 : (displaced.superseded ?? 0) + 1);
  // Later commits that leave the payload as it is have no part in it.
  const by = last === undefined ? (inForce?.commit === pool?.commit ? inForce : undefined) : last.by;
  const finishedAt = last?.finishedAt ?? (isFinished ? at : undefined);
  const rollout: RolloutStatus = {
    configName: config.name,
    ...targetRecordOf(target),
    startedAt: last?.startedAt ?? at,
    ...(finishedAt === undefined ? {} : { finishedAt }),
    ...(by === undefined ? {} : { by }),
    ...(cohort.newest === 0 ? {} : { newest: toTimestamp(cohort.newest) }),
    ...(isFinished ? {} : sayOnTrial(onTrial)),
    ...(superseded === 0 || isFinished ? {} : { superseded }),
    ...(lost.length === 0 || isFinished ? {} : { lost }),
    waves: waves.waves,
    ...(analysis === undefined ? {} : { analysis }),
  };
  const isOverNow = finishedAt !== undefined && last?.finishedAt === undefined;
  const settled =
    isFinished && (settledOn === null || !isRecordOfTarget(settledOn, target))
      ? { configName: config.name, sha256: target.sha256, apply: target.apply, ...writtenKeep(target), at }
      : settledOn;
  const next = nextProof(group, proof, before, { ...stand, isOver: finishedAt !== undefined, isOverNow }, now);
  return { halt, released, settled, proof: next, rollout };
}

/** With a full probation the budget says it all. */
function sayOnTrial(
  onTrial: OnTrial | undefined,
): Pick<RolloutStatus, 'generation' | 'maxOnTrial' | 'onTrial' | 'reduced'> {
  if (onTrial?.by !== 'maxOnTrial' || onTrial.allowed === Number.POSITIVE_INFINITY) return {};
  const { generation, allowed, names, reduced } = onTrial;
  return { generation, maxOnTrial: allowed, onTrial: names.length, ...(reduced && { reduced }) };
}

/** A halted pool goes no further: what had begun and is not done stays so. */
const stopped = (wave: WaveStatus): WaveStatus =>
  wave.state === 'rolling' || wave.state === 'soaking' ? { ...wave, state: 'stopped' } : wave;

/** No comparison was asked for, or it found nothing worse, or not enough to compare in time. */
export const isCompared = (analysis: AnalysisStatus | undefined): boolean =>
  analysis === undefined || hasVerdict(analysis);

/** A comparison found nothing worse, or not enough to compare in time. */
export const hasVerdict = (analysis: AnalysisStatus | undefined): boolean =>
  analysis?.verdict === 'pass' || analysis?.verdict === 'unknown';
