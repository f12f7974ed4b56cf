import type { AnalysisStatus, KubeletPoolStatus, ProofRecord, ProofState } from '#shared/contract/api/kubelet-pool.ts';
import { type Millis, toTimestamp } from '#shared/runtime/clock.ts';
import { classCanaries } from './canaries.ts';
import { failedMembers } from './halt.ts';
import { type Group, isOnTarget, type Member } from './membership.ts';
import { hasProved, sameTarget } from './node-progress.ts';
import type { WaveProgress } from './wave-progress.ts';
import { type ClassRecord, isSameProof, isSameState, ONLY_CLASS, type PoolProof, writeProof } from '../proof/record.ts';

/** How the rollout of a pool stands, as far as what it has proven goes. */
interface RolloutStand {
  /** null where nobody begins, as in a halted pool. */
  readonly waves: WaveProgress | null;
  readonly analysis: AnalysisStatus | undefined;
  readonly isHalted: boolean;
  /** Every wave is done and every comparison over, in this pass or before. */
  readonly isOver: boolean;
  /** In this pass. */
  readonly isOverNow: boolean;
}

/**
 * What the classes of a pool have proven by now, as its status is to remember it. A class has proven its config when the pool's rollout is
 * over and as many of its nodes as it has canaries have it behind them. The record is the one before, to the byte, where no state changed.
 */
export function nextProof(
  group: Group,
  proof: PoolProof,
  before: KubeletPoolStatus | undefined,
  stand: RolloutStand,
  now: Millis,
): ProofRecord {
  const at = toTimestamp(now);
  // Who leaves the pool shows nothing of its config.
  const staying = group.members.filter(({ target }) => target !== null);
  const byClass = Map.groupBy(staying, ({ payloadClass }) => payloadClass?.name ?? ONLY_CLASS);
  const present = [...byClass].map(([name, own]) => {
    const known = proof.classes.get(name);
    const next = { name, since: at, ...standOf(own, group, known ?? { proven: null }, proof, stand) };
    return known !== undefined && isSameState(known, { ...next, commit: known.commit })
      ? { ...next, since: known.since }
      : next;
  });
  present.sort((a, b) => (a.name < b.name ? -1 : 1));
  // An autoscaler takes the last machine of a kind away, and brings others of it back; what is newer than that they have not proven.
  const absent = stand.isOverNow ? [] : [...proof.classes.values()].filter(({ name }) => !byClass.has(name));
  const classes = [...present, ...absent];
  return before?.proof !== undefined && isSameProof(before.proof, classes) ? before.proof : writeProof(classes);
}

function standOf(
  own: readonly Member[],
  { pool }: Group,
  known: Pick<ClassRecord, 'proven'> & Partial<ClassRecord>,
  { rendered }: PoolProof,
  stand: RolloutStand,
): Omit<ClassRecord, 'name' | 'since'> {
  const able = own.filter(({ unrendered }) => unrendered === undefined);
  const current = able[0]?.target ?? null;
  const done = able.filter(({ lifecycle }) => lifecycle.updated && !lifecycle.inChange);
  const canary = pool?.spec.rollout.canary;
  const isNew = stand.isOver && done.length >= Math.min(able.length, classCanaries(canary, able.length));
  const isProven = current !== null && (sameTarget(known.proven, current) || (isNew && done.length > 0));
  const proven = isProven ? current : known.proven;
  const former = proven === null ? (known.former ?? null) : null;
  const isKnown = sameTarget(proven ?? former, known.proven ?? known.former ?? null);
  const shown = rendered?.get(known.commit ?? '');
  // No revert could go by it: the commit in force renders the same.
  const isGone = known.commit === undefined || shown === null || shown?.has(proven?.sha256 ?? '') === false;
  const proved = new Set(done);
  return {
    state: stateOf(own, isProven, stand),
    current,
    proven,
    former,
    commit: isKnown && !(isProven && isGone) ? known.commit : (pool?.commit ?? undefined),
    nodes: own.length,
    proved: done.length,
    missing: own.flatMap((member) => (proved.has(member) ? [] : [member.node.name])).slice(0, 3),
  };
}

function stateOf(own: readonly Member[], isProven: boolean, { waves, analysis, isHalted }: RolloutStand): ProofState {
  if (isHalted && failedMembers(own).length > 0) return 'refuted';
  if (isProven) return 'proven';
  if (!own.some(isOnTarget)) return 'unproven';
  if (!own.some(({ kubeletNode, target }) => hasProved(kubeletNode, target))) return 'canaries';
  const current = waves?.waves.find(({ name }) => name === waves.current?.name);
  if (waves?.pause === 'asked') return 'paused';
  if (waves?.pause !== 'to-ask' && (current?.name === 'canary' || current?.state === 'soaking')) return 'soaking';
  return analysis?.verdict === 'waiting' || analysis?.verdict === 'suspect' ? 'analysing' : 'rolling';
}
