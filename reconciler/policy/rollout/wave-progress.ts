import type { RolloutSpec, RolloutStatus, WaveStatus } from '#shared/contract/api/kubelet-pool.ts';
import type { PayloadClass } from '../payload-classes.ts';
import { type Millis, toTimestamp } from '#shared/runtime/clock.ts';
import { type ClassLimit, membersByClass, unprovenClasses } from './canaries.ts';
import { isOnTarget, type Member } from './membership.ts';
import { canBeChanged } from './readiness.ts';
import { healthySince, type Wave, wavesOf } from './waves.ts';

/** How far a payload has come through the waves of its pool. */
export interface WaveProgress {
  readonly waves: readonly WaveStatus[];
  /** The first wave that is not done; null when all are. */
  readonly current: Wave | null;
  /** How many more nodes the current wave lets begin. */
  readonly room: number;
  /** Why nobody else may begin, when there is no room. */
  readonly because: string;
  /** What holds single classes of machines besides; empty where canaries are not asked of each. */
  readonly classes: readonly ClassLimit[];
}

/**
 * Pure: what the nodes show, and which waves were done before. What was done stays done, so that a node which is not Ready later
 * does not hold up the rest of the pool (the budget counts it).
 *
 * @param members  those that are to run the payload
 * @param before   the way of the same payload so far; undefined for a new one
 * @param spared   how many nodes of a wave may be lost (failed or not Ready) without holding it up: one less than stop the rollout
 */
export function waveProgress(
  rollout: RolloutSpec,
  members: readonly Member[],
  before: RolloutStatus | undefined,
  spared: number,
  now: Millis,
): WaveProgress {
  const statuses: WaveStatus[] = [];
  let current: Wave | null = null;
  let room = 0;
  let because = '';
  let classes = unprovenIn(rollout, members);
  for (const wave of wavesOf(rollout, members)) {
    const known = before?.waves.find(({ name }) => name === wave.name);
    if (current !== null) {
      statuses.push({ name: wave.name, nodes: wave.nodes, state: 'waiting' });
      continue;
    }
    if (known?.doneAt !== undefined) {
      const { startedAt = toTimestamp(now), doneAt } = known;
      statuses.push({ name: wave.name, nodes: wave.nodes, state: 'done', startedAt, doneAt });
      continue;
    }
    const found = stateOf(wave, rollout, members, spared, now);
    const hasBegun = found.reached > previous(statuses) || found.isDone;
    const startedAt = known?.startedAt ?? (hasBegun ? toTimestamp(now) : undefined);
    const start = startedAt === undefined ? {} : { startedAt };
    if (found.isDone) {
      statuses.push({ name: wave.name, nodes: wave.nodes, state: 'done', ...start, doneAt: toTimestamp(now) });
      continue;
    }
    current = wave;
    room = roomIn(found);
    because = found.because;
    classes = found.classes ?? classes;
    const state = wordFor(startedAt !== undefined, room, found.isStopped);
    statuses.push({ name: wave.name, nodes: wave.nodes, state, ...start });
  }
  return { waves: statuses, current, room, because, classes };
}

const unprovenIn = ({ canary }: RolloutSpec, members: readonly Member[]): readonly ClassLimit[] =>
  canary?.perClass === true && canary.nodes !== undefined ? unprovenClasses(canary.nodes, members) : [];

function wordFor(hasBegun: boolean, room: number, isStopped: boolean): WaveStatus['state'] {
  if (!hasBegun) return 'waiting';
  if (isStopped) return 'stopped';
  return room > 0 ? 'rolling' : 'soaking';
}

const previous = (statuses: readonly WaveStatus[]): number => statuses.at(-1)?.nodes ?? 0;

interface Reach {
  /** Told the payload. */
  readonly reached: number;
  /** As many as the wave wants, or as can be reached at all. */
  readonly possible: number;
}

const roomIn = ({ possible, reached }: Reach): number => Math.max(0, possible - reached);

/** Where a wave stands, as the nodes are now. */
interface State extends Reach {
  readonly isDone: boolean;
  readonly isStopped: boolean;
  readonly because: string;
  /** What it lets begin of each class; absent where it asks nothing of classes. */
  readonly classes?: readonly ClassLimit[];
}

function stateOf(wave: Wave, rollout: RolloutSpec, members: readonly Member[], spared: number, now: Millis): State {
  if (wave.ofClasses !== undefined) {
    return stateOfClasses(wave, lookAtClasses(wave, wave.ofClasses, rollout, members, now), spared);
  }
  const seen = look(wave, rollout, members, now);
  const [isDone, isStopped] = [isEnough(wave, seen, spared), cannotEnd(seen, spared)];
  return { ...seen, isDone, isStopped, because: reason(wave, seen) };
}

/** Canaries are never done without: at least one class has proven the payload. */
function stateOfClasses(wave: Wave, classes: readonly SeenClass[], spared: number): State {
  const asked = classes.filter(({ possible }) => possible > 0);
  const waiting = asked.filter((each) => !hasEnough(each, spared));
  const because = reasonOfClasses(wave, asked, waiting);
  return {
    reached: sum(asked.map(({ reached, possible }) => Math.min(reached, possible))),
    possible: sum(asked.map(({ possible }) => possible)),
    isDone: asked.length > 0 && waiting.length === 0,
    isStopped: asked.some((each) => cannotEnd(each, spared)),
    because,
    classes: classes.map((each) => ({ payloadClass: each.payloadClass, room: roomIn(each), because })),
  };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0);

interface Seen extends Reach {
  readonly proved: number;
  /** Told the payload and failed, or not Ready. */
  readonly lost: readonly string[];
}

function look(wave: Wave, rollout: RolloutSpec, members: readonly Member[], now: Millis): Seen {
  let [reached, open, proved] = [0, 0, 0];
  const lost: string[] = [];
  for (const member of members) {
    if (wave.only?.(member) === false) continue;
    if (!isOnTarget(member)) {
      if (member.progress === 'outdated' && canBeChanged(member, rollout)) open += 1;
      continue;
    }
    reached += 1;
    const since = healthySince(member);
    if (since !== null && now - since >= wave.soakMs) proved += 1;
    if (member.progress === 'failed' || !member.node.ready) lost.push(member.node.name);
  }
  // Canaries are never done without: only later waves make do with the nodes that can be reached.
  const possible = wave.name === 'canary' ? wave.nodes : Math.min(wave.nodes, reached + open);
  return { reached, possible, proved, lost };
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
  now: Millis,
): readonly SeenClass[] =>
  [...membersByClass(members)].map(([payloadClass, own]) => ({
    payloadClass,
    // Under a name of its own: where nobody of a class can be reached, the others do not wait for it.
    ...look({ name: payloadClass.name, nodes: ofClasses.get(payloadClass) ?? 0, soakMs }, rollout, own, now),
  }));

/** Too many are lost, or all of them, so that nobody is left to prove anything. */
const cannotEnd = ({ lost, possible }: Seen, spared: number): boolean =>
  lost.length > spared || (possible > 0 && lost.length >= possible);

const hasEnough = ({ possible, proved, lost }: Seen, spared: number): boolean =>
  proved > 0 && proved + Math.min(lost.length, spared) >= possible;

const MOST_CLASSES = 3;

function reasonOfClasses({ name }: Wave, asked: readonly SeenClass[], waiting: readonly SeenClass[]): string {
  if (asked.length === 0) return `wave ${name} must prove itself first, and no node of any class can be changed now`;
  const named = waiting.slice(0, MOST_CLASSES).map(({ payloadClass }) => payloadClass.name);
  const more = waiting.length > named.length ? ` and ${waiting.length - named.length} more` : '';
  const lost = asked.flatMap((each) => each.lost);
  return `wave ${name} must prove itself first in each class: ${asked.length - waiting.length} of ${asked.length} have, not yet ${named.join('; ')}${more}${lossesOf(lost)}`;
}

const lossesOf = (lost: readonly string[]): string =>
  lost.length === 0 ? '' : `; ${lost.slice(0, 3).join(', ')} failed or is not Ready`;

function isEnough({ name }: Wave, seen: Seen, spared: number): boolean {
  if (seen.possible === 0) return name !== 'canary' && name !== 'rest';
  return hasEnough(seen, spared);
}

function reason({ name, missing }: Wave, { possible, proved, lost }: Seen): string {
  if (missing !== undefined) return missing;
  return `wave ${name} must prove itself first: ${proved} of ${possible} nodes have${lossesOf(lost)}`;
}
