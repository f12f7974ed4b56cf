import type { RolloutSpec, RolloutStatus, WaveStatus } from '#shared/contract/api/kubelet-pool.ts';
import { type Millis, toTimestamp } from '#shared/runtime/clock.ts';
import type { Member } from './membership.ts';
import { canBeChanged } from './readiness.ts';
import { healthySince, isOnTarget, type Wave, wavesOf } from './waves.ts';

/** How far a payload has come through the waves of its pool. */
export interface WaveProgress {
  readonly waves: readonly WaveStatus[];
  /** The first wave that is not done; null when all are. */
  readonly current: Wave | null;
  /** How many more nodes the current wave lets begin. */
  readonly room: number;
  /** Why nobody else may begin, when there is no room. */
  readonly because: string;
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
    const seen = look(wave, rollout, members, now);
    const isDone = isEnough(wave, seen, spared);
    const startedAt = known?.startedAt ?? (seen.reached > previous(statuses) || isDone ? toTimestamp(now) : undefined);
    const start = startedAt === undefined ? {} : { startedAt };
    if (isDone) {
      statuses.push({ name: wave.name, nodes: wave.nodes, state: 'done', ...start, doneAt: toTimestamp(now) });
      continue;
    }
    current = wave;
    room = Math.max(0, seen.possible - seen.reached);
    because = reason(wave, seen);
    const state = stateOf(startedAt !== undefined, room, cannotEnd(seen, spared));
    statuses.push({ name: wave.name, nodes: wave.nodes, state, ...start });
  }
  return { waves: statuses, current, room, because };
}

/** As the nodes are now: too many are lost, or all of them, so that nobody is left to prove anything. */
const cannotEnd = ({ lost, possible }: Seen, spared: number): boolean =>
  lost.length > spared || (possible > 0 && lost.length >= possible);

function stateOf(hasBegun: boolean, room: number, isStopped: boolean): WaveStatus['state'] {
  if (!hasBegun) return 'waiting';
  if (isStopped) return 'stopped';
  return room > 0 ? 'rolling' : 'soaking';
}

const previous = (statuses: readonly WaveStatus[]): number => statuses.at(-1)?.nodes ?? 0;

interface Seen {
  /** Told the payload. */
  readonly reached: number;
  /** As many as the wave wants, or as can be reached at all. */
  readonly possible: number;
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
      if (member.standing === 'outdated' && canBeChanged(member, rollout)) open += 1;
      continue;
    }
    reached += 1;
    const since = healthySince(member);
    if (since !== null && now - since >= wave.soakMs) proved += 1;
    if (member.standing === 'failed' || !member.node.ready) lost.push(member.node.name);
  }
  // Canaries are never done without: only later waves make do with the nodes that can be reached.
  const possible = wave.name === 'canary' ? wave.nodes : Math.min(wave.nodes, reached + open);
  return { reached, possible, proved, lost };
}

function isEnough(wave: Wave, { possible, proved, lost }: Seen, spared: number): boolean {
  if (possible === 0) return wave.name !== 'canary' && wave.name !== 'rest';
  return proved > 0 && proved + Math.min(lost.length, spared) >= possible;
}

function reason({ name, missing }: Wave, { possible, proved, lost }: Seen): string {
  if (missing !== undefined) return missing;
  const losses = lost.length === 0 ? '' : `; ${lost.slice(0, 3).join(', ')} failed or is not Ready`;
  return `wave ${name} must prove itself first: ${proved} of ${possible} nodes have${losses}`;
}
