import type { RolloutSpec, RolloutStatus, WaveStatus } from '#shared/contract/api/kubelet-pool.ts';
import type { PayloadClass } from '../payload-classes.ts';
import { type Millis, toTimestamp } from '#shared/runtime/clock.ts';
import { firstFew } from '#shared/runtime/first-few.ts';
import { type ClassLimit, membersByClass, replacedMembers, unprovenClasses } from './canaries.ts';
import { knownWave } from './known-wave.ts';
import { isOnTarget, type Member } from './membership.ts';
import { hasProved } from './node-progress.ts';
import { canBeChanged, isLeftBehind } from './readiness.ts';
import { type ApprovalFacts, approvedIn, pauseAfter } from './pause.ts';
import { healthySince, type Wave, wavesOf } from './waves.ts';

/** How far a payload has come through the waves of its pool. */
export interface WaveProgress {
  readonly waves: readonly WaveStatus[];
  /** The first wave that is not done, or that others wait for a person after; null when all are done. */
  readonly current: Wave | null;
  /** How many more nodes the current wave lets begin. */
  readonly room: number;
  /** Why nobody else may begin, when there is no room. */
  readonly because: string;
  /** The current wave is done, and its pause is not over: a person is asked, or will be. Null for no pause. */
  readonly pause: 'asked' | 'to-ask' | null;
  /** What was found in this pass, and nobody begins by before it is in the pool's record; null for nothing. */
  readonly unwritten: string | null;
  /** What holds single classes of machines besides; empty while the canaries are those of the pool, and without classes. */
  readonly classes: readonly ClassLimit[];
}

/**
 * Pure: what the nodes show, and which waves were done before. What was done stays done, so that a node which is not Ready later
 * does not hold up the rest of the pool (the budget counts it).
 *
 * @param members  those of the rollout that are to run the payload
 * @param before   the way of the same payload so far; undefined for a new one
 * @param spared   how many nodes of a wave may be lost (failed or not Ready) without holding it up: one less than stop the rollout
 * @param all      every node of the pool, those that joined later among them
 * @param isProven whether the class of a node has proven its config before
 * @param approval what lets it go on after a wave with a pause; absent where nobody is asked
 */
export function waveProgress(
  rollout: RolloutSpec,
  members: readonly Member[],
  before: RolloutStatus | undefined,
  spared: number,
  now: Millis,
  all: readonly Member[] = members,
  isProven: (member: Member) => boolean = () => false,
  approval?: ApprovalFacts,
): WaveProgress {
  const statuses: WaveStatus[] = [];
  let current: Wave | null = null;
  let room = 0;
  let because = '';
  let pause: WaveProgress['pause'] = null;
  let unwritten: string | null = null;
  let classes: readonly ClassLimit[] | undefined;
  const planned = wavesOf(rollout, members);
  for (const wave of planned) {
    const { name, nodes } = wave;
    const known = knownWave(wave, planned, before);
    if (current !== null) {
      statuses.push({ name, nodes, state: 'waiting', ...approvedIn(known) });
      continue;
    }
    const found = known?.doneAt === undefined ? stateOf(wave, rollout, members, spared, now) : undefined;
    const hasBegun = found === undefined || found.reached > previous(statuses) || found.isDone;
    const startedAt = known?.startedAt ?? (hasBegun ? toTimestamp(now) : undefined);
    const start = startedAt === undefined ? {} : { startedAt };
    if (found === undefined || found.isDone) {
      const {
        isOver,
        isApprovedNow,
        record,
        because: asked,
      } = pauseAfter(
        { name, nodes, pause: wave.pause === true, isLast: nodes >= members.length || members.every(isOnTarget) },
        known,
        before,
        approval,
        now,
      );
      const doneAt = known?.doneAt ?? toTimestamp(now);
      if (found !== undefined) unwritten = `wave ${name} is done, which is being written to its pool`;
      else if (isApprovedNow) unwritten = `wave ${name} is approved, which is being written to its pool`;
      statuses.push({ name, nodes, state: 'done', ...start, doneAt, ...record });
      if (isOver) continue;
      current = wave;
      because = asked;
      pause = record.pausedAt === undefined ? 'to-ask' : 'asked';
      continue;
    }
    current = wave;
    room = found.room;
    because = found.because;
    classes = found.classes ?? (name === 'canary' ? [] : undefined);
    const state = wordFor(startedAt !== undefined, room, found.isStopped);
    statuses.push({ name, nodes, state, ...start, ...approvedIn(known) });
  }
  classes ??= unprovenClasses(rollout.canary, all, spared, isProven, now);
  return { waves: statuses, current, room, because, pause, unwritten, classes };
}

function wordFor(hasBegun: boolean, room: number, isStopped: boolean): WaveStatus['state'] {
  if (!hasBegun) return 'waiting';
  if (isStopped) return 'stopped';
  return room > 0 ? 'rolling' : 'soaking';
}

const previous = (statuses: readonly WaveStatus[]): number => statuses.at(-1)?.nodes ?? 0;

/** What the nodes of a wave show. */
interface Seen {
  /** How many nodes have to prove the payload: those of the wave, but for failures that the pool puts up with where nobody is left to try instead. */
  readonly needed: number;
  /** Told the payload. */
  readonly reached: number;
  /** Told it and healthy with it for the soak of the wave. */
  readonly proved: number;
  /** Told the payload and failed, or not Ready. */
  readonly lost: readonly string[];
  /** How many of the same are dead or leaving, and have another one tried in their place. */
  readonly replaced: number;
  /** How many more nodes may begin: another for each that failed or died, while the pool puts up with that. */
  readonly room: number;
  /** Some node of it can be told, or was. */
  readonly canBegin: boolean;
  /** How many nodes have yet to prove the payload, but for those that the last wave may end without. */
  readonly awaited: number;
}

/** Where a wave stands, as the nodes are now. */
interface State extends Pick<Seen, 'reached' | 'room'> {
  readonly isDone: boolean;
  readonly isStopped: boolean;
  readonly because: string;
  /** What it lets begin of each class; absent where it asks nothing of classes. */
  readonly classes?: readonly ClassLimit[];
}

function stateOf(wave: Wave, rollout: RolloutSpec, members: readonly Member[], spared: number, now: Millis): State {
  if (wave.ofClasses !== undefined) {
    return stateOfClasses(wave, lookAtClasses(wave, wave.ofClasses, rollout, members, spared, now), spared);
  }
  const seen = look(wave, rollout, members, spared, now);
  return {
    ...seen,
    isDone: hasEnough(seen) || (wave.name === 'rest' && endsWithoutSome(seen, members.length)),
    isStopped: cannotEnd(seen, spared),
    because: reason(wave, seen),
  };
}

/** Only classes of which a node can be told are asked; what the others are to prove, they begin to when one can be. */
function stateOfClasses(wave: Wave, classes: readonly SeenClass[], spared: number): State {
  const asked = classes.filter(({ canBegin }) => canBegin);
  const waiting = asked.filter((each) => !hasEnough(each));
  const because = reasonOfClasses(wave, asked, waiting);
  return {
    reached: sum(asked.map(({ reached, needed }) => Math.min(reached, needed))),
    room: sum(asked.map(({ room }) => room)),
    isDone: asked.length > 0 && waiting.length === 0,
    isStopped: asked.some((each) => cannotEnd(each, spared)),
    because,
    classes: classes.map(({ payloadClass, room }) => ({ payloadClass, room, because })),
  };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0);

function look(wave: Wave, rollout: RolloutSpec, members: readonly Member[], spared: number, now: Millis): Seen {
  let [reached, open, proved, failed, died, leftBehind] = [0, 0, 0, 0, 0, 0];
  const lost: string[] = [];
  const concerned = wave.only === undefined ? members : members.filter(wave.only);
  for (const member of concerned) {
    const since = healthySince(member);
    if (since !== null && now - since >= wave.soakMs) proved += 1;
    else if (isLeftBehind(member, rollout, now)) {
      if (isOnTarget(member) && !hasProved(member.kubeletNode, member.target)) died += 1;
      else leftBehind += 1;
    }
    if (!isOnTarget(member)) {
      if (member.lifecycle.mayBeTold && canBeChanged(member, rollout)) open += 1;
      continue;
    }
    reached += 1;
    if (member.lifecycle.failed) failed += 1;
    if (member.lifecycle.failed || !member.node.ready) lost.push(member.node.name);
  }
  const tolerated = Math.min(failed + died, spared);
  const needed = Math.min(wave.nodes, Math.max(1, concerned.length - tolerated));
  // A pool without enough nodes for its canaries waits for more.
  const reachable = wave.name === 'canary' ? Number.POSITIVE_INFINITY : reached + open;
  const replaced = replacedMembers(concerned, spared, now).length;
  const instead = Math.max(tolerated, Math.min(failed, spared) + replaced);
  const room = Math.max(0, Math.min(wave.nodes + instead, reachable) - reached);
  // One machine may die of itself in its trial; several may have died of the payload.
  const awaited = concerned.length - proved - leftBehind - Math.max(tolerated, Math.min(died, 1));
  return { needed, reached, proved, lost, replaced, room, awaited, canBegin: reached + open > 0 };
}

/** What the canaries of one class show. */
interface SeenClass extends Seen {
  readonly payloadClass: PayloadClass;
}

/** Each class by itself. */
const lookAtClasses = (
  { soakMs }: Wave,
  ofClasses: ReadonlyMap<PayloadClass, number>,
  rollout: RolloutSpec,
  members: readonly Member[],
  spared: number,
  now: Millis,
): readonly SeenClass[] =>
  [...membersByClass(members)].map(([payloadClass, own]) => ({
    payloadClass,
    // Under a name of its own: where no node of a class can be told, the others do not wait for it.
    ...look({ name: payloadClass.name, nodes: ofClasses.get(payloadClass) ?? 0, soakMs }, rollout, own, spared, now),
  }));

/** Too many are lost, or all that were told, so that nobody is left to prove anything. */
const cannotEnd = ({ lost, replaced, reached, room }: Seen, spared: number): boolean =>
  lost.length - replaced > spared || (reached > 0 && room === 0 && lost.length >= reached);

/** A wave is done by nodes that proved the payload, never by others that could not be asked. */
const hasEnough = ({ proved, needed }: Seen): boolean => needed > 0 && proved >= needed;

/** The last wave ends without nodes that could not take part for an hour, once more than half of the pool has proven the payload. */
const endsWithoutSome = ({ proved, awaited }: Seen, nodes: number): boolean => proved > nodes / 2 && awaited <= 0;

const MOST_CLASSES = 3;

function reasonOfClasses({ name }: Wave, asked: readonly SeenClass[], waiting: readonly SeenClass[]): string {
  if (asked.length === 0) return `wave ${name} must prove itself first, and no node of any class can be changed now`;
  const named = waiting.map(({ payloadClass }) => payloadClass.name);
  const lost = asked.flatMap((each) => each.lost);
  return `wave ${name} must prove itself first in each class: ${asked.length - waiting.length} of ${asked.length} have, not yet ${firstFew(named, MOST_CLASSES, '; ')}${lossesOf(lost)}`;
}

const lossesOf = (lost: readonly string[]): string =>
  lost.length === 0 ? '' : `; failed or not Ready: ${lost.slice(0, 3).join(', ')}`;

function reason({ name, missing }: Wave, { needed, proved, lost }: Seen): string {
  if (missing !== undefined) return missing;
  return `wave ${name} must prove itself first: ${proved} of ${needed} nodes have${lossesOf(lost)}`;
}
