import { parseDuration } from '#shared/runtime/duration.ts';
import { type Millis, toTimestamp } from '#shared/runtime/clock.ts';
import type { DrainView } from '../fleet.ts';
import type { NodeVerdict } from './decide-group.ts';
import { hold } from './holds/hold.ts';
import type { Member } from './membership.ts';
import { preflightBeforeDrain } from './preflight-order.ts';

/** After a drain that was given up, the node is left alone for this long. */
const DRAIN_AGAIN_MS: Millis = 30 * 60_000;
const DEFAULT_DRAIN_TIMEOUT = '10m';

/**
 * The next step of a node's drain: cordon it, evict its pods, or give up after the pool's `drainTimeout` and leave the node alone for
 * half an hour. null once the node is drained.
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
  if (drainFailed?.config === config && now - drainFailed.at < DRAIN_AGAIN_MS) {
    return held(
      `its drain was given up at ${toTimestamp(drainFailed.at)}; it is drained again from ${toTimestamp(drainFailed.at + DRAIN_AGAIN_MS)} on`,
    );
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

/** Hold the node because of what the change disrupts. */
export const held = (because: string): Extract<NodeVerdict, { verdict: 'hold' }> => ({
  verdict: 'hold',
  ...hold('disruption', because),
});
