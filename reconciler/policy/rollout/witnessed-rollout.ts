import type { KubeletPoolSpec, RolloutStatus, WaveStatus } from '#shared/contract/api/kubelet-pool.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { membersByClass } from './canaries.ts';
import { cohortOf } from './cohort.ts';
import { knownWave } from './known-wave.ts';
import { type Group, isConfigurable, isOnTarget, type Member } from './membership.ts';
import { approvedIn } from './pause.ts';
import { canBeChanged } from './readiness.ts';
import { type Wave, wavesOf } from './waves.ts';

/**
 * What nodes show of a rollout that another leader wrote, or somebody else. A wave is done where it is said to be and enough nodes have
 * its payload behind them; all of it is over where that is so of every wave that the pool asks for, and each pause was approved or more
 * nodes have it than its wave names. Until then nothing counts after a wave or a pause that is open, and a verdict that lets others begin is found again. Who
 * approved what, the record alone says: people may take the annotation away.
 *
 * @param isWitness whether a node has the payload behind it, for so long
 */
export function witnessedRollout(
  rollout: RolloutStatus,
  { pool, members: all }: Group,
  isWitness: (member: Member, soakMs: Millis) => boolean,
): RolloutStatus {
  if (pool === null) return rollout;
  const { members } = cohortOf(all.filter(isConfigurable), rollout, pool.spec.rollout.canary);
  const planned = wavesOf(pool.spec.rollout, members).map((wave, _, waves) => {
    const known = knownWave(wave, waves, rollout);
    const proved = (of: readonly Member[]): number => of.filter((each) => isWitness(each, wave.soakMs)).length;
    const isSaid = (known === undefined ? rollout.finishedAt : known.doneAt) !== undefined;
    const isOpen = wave.pause !== true || approvedIn(known).approvedAt !== undefined;
    const isPast = isOpen || proved(members) > wave.nodes || members.every(isOnTarget);
    return { ...wave, known, isOpen, isPast, isDone: isSaid && isEnough(wave, members, proved, pool.spec) };
  });
  if (planned.every(({ isDone, isPast }) => isDone && isPast)) return rollout;

  const last = planned.findIndex(({ isDone, isOpen }) => !isDone || !isOpen);
  const done = planned.slice(0, planned[last]?.isDone === true ? last + 1 : last).map(({ known }) => known);
  const paused = planned.find(({ isOpen }) => !isOpen);
  const waves = rollout.waves.map((wave): WaveStatus => {
    const { startedAt, doneAt, ...rest } = wave;
    const isDone = done.includes(wave);
    // By what began after a pause, a rollout goes on without a person.
    const hasBegun = isDone || paused === undefined || wave.nodes <= paused.nodes;
    return {
      ...rest,
      ...(startedAt !== undefined && hasBegun ? { startedAt } : {}),
      ...(doneAt === undefined ? {} : isDone ? { doneAt } : { state: 'soaking' }),
    };
  });
  const { finishedAt: _, analysis, ...rest } = rollout;
  const isOpen = analysis?.verdict === 'waiting' || analysis?.verdict === 'suspect';
  return { ...rest, waves, ...(isOpen ? { analysis } : {}) };
}

/** Each class of machines shows its own canaries, where one of its nodes can be asked. The last wave ends without some of its nodes. */
function isEnough(
  { name, nodes, only = () => true, ofClasses }: Wave,
  members: readonly Member[],
  proved: (of: readonly Member[]) => number,
  { rollout }: KubeletPoolSpec,
): boolean {
  const concerned = members.filter(only);
  if (name === 'rest') return proved(concerned) > members.length / 2;
  if (ofClasses === undefined) return proved(concerned) >= Math.max(1, Math.min(nodes, concerned.length));
  const isAsked = (each: Member): boolean =>
    isOnTarget(each) || (each.lifecycle.mayBeTold && canBeChanged(each, rollout));
  const asked = [...membersByClass(members)].filter(([, own]) => own.some(isAsked));
  return (
    asked.length > 0 && asked.every(([each, own]) => proved(own) >= Math.min(ofClasses.get(each) ?? 0, own.length))
  );
}
