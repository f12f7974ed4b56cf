import { parseDuration } from '#shared/runtime/duration.ts';
import { type Millis, toTimestamp } from '#shared/runtime/clock.ts';
import type { DrainView, FailedDrain } from '../fleet.ts';
import type { NodeVerdict } from './decide-group.ts';
import { hold } from './holds/hold.ts';
import type { Member } from './membership.ts';
import { preflightBeforeDrain } from './preflight-order.ts';

/** After a drain that was given up, the node is left alone for this long, and for twice as long after each further one. */
const DRAIN_AGAIN_MS: Millis = 30 * 60_000;
const LONGEST_PAUSE_MS: Millis = 24 * 60 * 60_000;
const DEFAULT_DRAIN_TIMEOUT = '10m';

/**
 * The next step of a node's drain: cordon it, evict its pods, or give up after the pool's `drainTimeout` and leave the node alone for
 * a while, whatever it is to be drained for then. null once the node is drained.
 *
 * @param config the config that the node is drained for
 * @param why what the change asks of the node, as part of a sentence; may be empty
 * @param drainTimeout as in `pool.yaml`: `10m`
 */
export function drainFirst(
  member: Member,
  config: string,
  why: string,
  view: DrainView | undefined,
  drainTimeout: string | undefined,
  now: Millis,
): NodeVerdict | null {
  const { drain, drainFailed, cordoned } = member.node;
  const timeoutMs = parseDuration(drainTimeout ?? DEFAULT_DRAIN_TIMEOUT) ?? 0;
  const again = drainFailed === undefined || drain !== undefined ? 0 : drainsAgainAt(drainFailed);
  if (drainFailed !== undefined && now < again) {
    const times = drainFailed.times > 1 ? `, ${drainFailed.times} in a row` : '';
    const because = `its drain was given up at ${toTimestamp(drainFailed.at)}${times}; it is drained again from ${toTimestamp(again)} on`;
    return { verdict: 'hold', ...hold('drained-in-vain', because) };
  }
  if (drain?.config !== config) {
    const cordon = { verdict: 'drain', stage: 'cordon', because: `its turn has come to be drained${why}` } as const;
    return preflightBeforeDrain(member) ?? cordon;
  }
  if (!cordoned)
    return { ...held('somebody uncordoned it while it was being drained, so it is left alone'), gaveUp: true };
  const known = view?.since === drain.at ? view : undefined;
  if (known?.drained === true) return null;
  const because = known?.because ?? 'its pods are told to leave';
  if (now - drain.at > timeoutMs) return { ...held(`its pods did not leave in time: ${because}`), gaveUp: true };
  return { verdict: 'drain', stage: 'evict', because };
}

const drainsAgainAt = ({ at, times }: FailedDrain): Millis =>
  at + Math.min(LONGEST_PAUSE_MS, DRAIN_AGAIN_MS * 2 ** (times - 1));

/** Hold the node because of what the change disrupts. */
export const held = (because: string): Extract<NodeVerdict, { verdict: 'hold' }> => ({
  verdict: 'hold',
  ...hold('disruption', because),
});
