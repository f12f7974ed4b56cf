import type { Millis } from '#shared/runtime/clock.ts';
import type { NodeFirstSeen, LocalStamp } from './node-first-seen.ts';
import type { FirstSeenTimes } from './first-seen-times.ts';

/** Both clocks of the reconciler's own machine, read at one moment. */
export interface ClockReading {
  readonly wall: Millis;
  readonly monotonic: Millis;
}

/** Less than this is what clocks are made to agree by, a little at a time, and what passes between two readings. */
const LEAST_JUMP: Millis = 1_000;

/** By how much the wall clock was put forward between two readings, negative for back; 0 for no jump. */
export function clockJump(before: ClockReading | null, now: ClockReading): Millis {
  if (before === null) return 0;
  const jump = now.wall - before.wall - (now.monotonic - before.monotonic);
  return Math.abs(jump) < LEAST_JUMP ? 0 : Math.round(jump);
}

/**
 * First-seen times, as if the clock had always shown its present time: what has lasted for a minute has lasted for a minute, however
 * far the clock was put forward or back.
 */
export function shiftTimes(times: FirstSeenTimes, by: Millis): FirstSeenTimes {
  const { nodes, sources } = times;
  if (by === 0) return times;
  return {
    ...times,
    nodes: new Map([...nodes].map(([name, sight]) => [name, nodeForward(sight, by)])),
    sources: new Map([...sources].map(([uid, at]) => [uid, at + by])),
  };
}

function nodeForward(sight: NodeFirstSeen, by: Millis): NodeFirstSeen {
  const {
    firstSeen,
    assigned,
    told,
    unselected,
    poolChange,
    readiness,
    heartbeat,
    promotion,
    drainFailed,
    unableSince,
    doubted,
  } = sight;
  return {
    ...sight,
    firstSeen: firstSeen === 0 ? 0 : firstSeen + by,
    readiness: { ...readiness, at: readiness.at + by },
    ...(assigned === undefined ? {} : { assigned: assigned + by }),
    ...(told === undefined ? {} : { told: { ...told, at: told.at + by } }),
    ...(unselected === undefined ? {} : { unselected: { ...unselected, since: unselected.since + by } }),
    ...(poolChange === undefined ? {} : { poolChange: { ...poolChange, since: poolChange.since + by } }),
    ...(heartbeat === undefined ? {} : { heartbeat: stampForward(heartbeat, by) }),
    ...(promotion === undefined ? {} : { promotion: stampForward(promotion, by) }),
    ...(drainFailed === undefined ? {} : { drainFailed: { ...drainFailed, at: drainFailed.at + by } }),
    ...(unableSince === undefined ? {} : { unableSince: unableSince + by }),
    ...(doubted === undefined ? {} : { doubted: { ...doubted, at: doubted.at + by } }),
  };
}

function stampForward({ stamp, at }: LocalStamp, by: Millis): LocalStamp {
  const own = Math.max(0, at + by);
  return { stamp, at: own, own: new Date(own).toISOString() };
}
